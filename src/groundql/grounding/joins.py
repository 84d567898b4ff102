"""Witnessed references as card lines: one line for each path that others point to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundql.core.catalog import Edge
from groundql.core.path import Path
from groundql.grounding.fence import fence_name
from groundql.grounding.lines import Detail, path_text, share_text


def join_lines(edges: Iterable[Edge], detail: Detail) -> Iterator[str]:
    """Yield one line for each target, with the paths that point to it, those of whole documents first."""
    targets: dict[tuple[str, Path], list[Edge]] = {}
    for edge in edges:
        targets.setdefault((edge.to_container, edge.to_path), []).append(edge)
    for (container, path), found in sorted(targets.items(), key=lambda item: (item[0][0], item[0][1])):
        yield f"{fence_name(container)} {path_text(path)} is referred to by: {_sources(found, detail)}"


def _sources(edges: list[Edge], detail: Detail) -> str:
    texts = [_source(edge) for edge in sorted(edges, key=lambda e: (len(e.path.hops), e.container, e.path))]
    kept: list[str] = []
    for text in texts:
        if kept and sum(map(len, kept)) + len(text) > detail.join_width:
            break
        kept.append(text)
    left = len(texts) - len(kept)
    return ", ".join(kept) + (f" and {left} more" if left else "")


def _source(edge: Edge) -> str:
    notes = [f"{share_text(edge.hit_share)} found"] if edge.hit_share < 1 else []
    notes += [f"{edge.fan_out:.3g} each"] if edge.fan_out != 1 else []
    keys = "keys of " if edge.is_key else ""
    return f"{keys}{fence_name(edge.container)} {path_text(edge.path)}" + (f" ({', '.join(notes)})" if notes else "")
