from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundql.core.path import ENTRIES, ITEMS, ROOT, Path, Step
from groundql.errors import PathError

names = st.text(max_size=12) | st.sampled_from(
    ["a.b", "$x", "<*>", "[]", '"', "\\", " lead", "trail ", "", "é", "\u2028"]
)
steps: st.SearchStrategy[Step] = names | st.sampled_from([ITEMS, ENTRIES])
paths = st.lists(steps, max_size=8).map(lambda s: Path(tuple(s)))


@given(paths)
def test_every_path_reads_back_from_its_text(path: Path) -> None:
    assert Path.parse(str(path)) == path


@given(paths, paths)
def test_different_paths_have_different_texts(left: Path, right: Path) -> None:
    assert (str(left) == str(right)) is (left == right)


@given(st.text(max_size=20))
def test_any_text_is_a_path_with_that_text_or_a_clear_error(text: str) -> None:
    try:
        path = Path.parse(text)
    except PathError:
        return
    assert Path.parse(str(path)) == path


@given(paths, paths)
def test_prefixes_and_joins_agree(left: Path, right: Path) -> None:
    joined = left + right
    assert joined.starts_with(left)
    assert len(joined) == len(left) + len(right)
    assert all(joined.starts_with(a) for a in joined.ancestors())
    assert ROOT in (*joined.ancestors(), joined)


@given(paths)
def test_a_map_path_covers_every_choice_of_keys(path: Path) -> None:
    concrete = Path(tuple(f"k{n}" if s is ENTRIES else s for n, s in enumerate(path.steps)))
    assert path.covers(concrete)
    assert path.covers(path)
    assert concrete.covers(path) is (concrete == path)


@given(st.lists(paths, max_size=6))
def test_sorting_puts_parents_before_children(found: list[Path]) -> None:
    ordered = sorted(found)
    for at, path in enumerate(ordered):
        assert not any(path.starts_with(later) and path != later for later in ordered[at + 1 :])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ROOT),
        ("a.b", Path.of("a", "b")),
        ("orders[].sku", Path.of("orders", ITEMS, "sku")),
        ("scores.<*>.mean", Path.of("scores", ENTRIES, "mean")),
        ('["a.b"][].c', Path.of("a.b", ITEMS, "c")),
        ("<*>[]", Path.of(ENTRIES, ITEMS)),
        ("a[][]", Path.of("a", ITEMS, ITEMS)),
    ],
)
def test_the_text_form_is_as_documented(text: str, path: Path) -> None:
    assert Path.parse(text) == path
    assert str(path) == text


@pytest.mark.parametrize("text", [".", "a.", ".a", "a..b", "a[", "a[0]", "a[]b", 'a["x"', "a]", "a.[]"])
def test_broken_texts_are_refused(text: str) -> None:
    with pytest.raises(PathError):
        Path.parse(text)
