"""Every internal link leads to a page and to a heading that exist, and every page is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pages import ROOT, anchors, links, name_of, pages


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_internal_links_resolve(page: Path) -> None:
    for target in links(page.read_text(encoding="utf-8")):
        if target.startswith(("https://", "http://")):
            continue
        place, _, anchor = target.partition("#")
        there = (page.parent / place).resolve() if place else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there.read_text(encoding="utf-8")), target


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        if page.suffix == ".md" and page.is_relative_to(ROOT):
            targets = [t.partition("#")[0] for t in links(page.read_text(encoding="utf-8")) if "://" not in t]
            found = [(page.parent / t).resolve() for t in targets if t]
            waiting += [p for p in found if p.is_file() and p not in reached]
    assert set(pages()) <= reached
