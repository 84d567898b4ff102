"""Sort what is not correct into buckets, and grade it by the rows it shares with the gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

from groundql.bench.verdict import Bucket

RowT = TypeVar("RowT", bound=Hashable)
PLACES = 6


def row_f1(gold: Sequence[RowT], predicted: Sequence[RowT]) -> float:
    """Grade rows without regard to order: the F1 of the two multisets, 1 when both are empty.

    Units: share, rounded to 6 places. Source: TEND, EXF1
    """
    if not gold and not predicted:
        return 1.0
    return f1(shared_rows(gold, predicted), len(gold), len(predicted))


def f1(shared: int, gold: int, predicted: int) -> float:
    """Return the F1 of so many shared rows."""
    return round(2 * shared / (gold + predicted), PLACES) if shared else 0.0


def shared_rows(gold: Sequence[RowT], predicted: Sequence[RowT]) -> int:
    """Count the rows that both multisets hold."""
    return (Counter(gold) & Counter(predicted)).total()


def bucket_of_rows(gold: Sequence[RowT], predicted: Sequence[RowT]) -> Bucket:
    """Say in which way rows that are not correct differ from the gold's.

    Source: TEND, outcome buckets 4 to 8, in their order
    """
    if gold and not predicted:
        return Bucket.EMPTY
    wanted, given = Counter(gold), Counter(predicted)
    if wanted == given:
        return Bucket.ORDER_ONLY
    if given <= wanted:
        return Bucket.ROW_SUBSET
    if wanted <= given:
        return Bucket.ROW_SUPERSET
    return Bucket.VALUE_MISMATCH
