from __future__ import annotations

import pytest

from groundql.core.counted import counted


@pytest.mark.parametrize(("number", "said"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12_000, "12,000 rows")])
def test_a_number_is_written_with_its_noun(number: int, said: str) -> None:
    assert counted(number, "row") == said


def test_a_noun_may_bring_its_own_plural() -> None:
    assert [counted(n, "index", "indices") for n in (1, 2)] == ["1 index", "2 indices"]
