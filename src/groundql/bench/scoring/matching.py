"""Match rows one to one: a gold row to a predicted row that holds its values and at most a few more.

Equal rows are matched as one group with a count, and no step recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groundql.bench.scoring.canonical import Row
from groundql.bench.scoring.flow import Steps, is_saturable

BETA: Final = 2
"""How many values a predicted row may hold beyond those of the gold row. Source: TEND, row match"""


def fits(gold: Row, predicted: Row, beta: float = BETA) -> bool:
    """Tell whether a predicted row holds all values of a gold row, with multiplicity, and at most `beta` more."""
    surplus = len(predicted) - len(gold)
    if not 0 <= surplus <= beta:
        return False
    if surplus == 0:
        return gold == predicted
    return _holds(predicted, gold)


def _holds(larger: Row, smaller: Row) -> bool:
    # both ascend, so one walk over the larger finds each of the smaller in turn
    rest = iter(larger)
    return all(any(value == other for other in rest) for value in smaller)


def match_in_order(gold: Sequence[Row], predicted: Sequence[Row], beta: float = BETA) -> bool:
    """Tell whether the rows match position by position."""
    return len(gold) == len(predicted) and all(fits(g, p, beta) for g, p in zip(gold, predicted, strict=True))


def match_in_any_order(
    gold: Sequence[Row], predicted: Sequence[Row], beta: float = BETA, steps: Steps | None = None
) -> bool:
    """Tell whether every gold row can have a predicted row of its own: a perfect matching."""
    if len(gold) != len(predicted) or not gold:
        return len(gold) == len(predicted)
    surplus = sum(map(len, predicted)) - sum(map(len, gold))
    if not 0 <= surplus <= beta * len(gold):
        return False
    left, right = Counter(gold), Counter(predicted)
    if surplus == 0 or left == right:
        return left == right  # with no value to spare, each row's partner must be its equal
    groups = tuple(left), tuple(right)
    edges = partners(*groups, beta, steps)
    return is_saturable(edges, list(left.values()), list(right.values()), steps)


@dataclass(slots=True)
class _Postings:
    """Which predicted rows hold a value, so that a gold row is compared with few of them."""

    by_value: dict[int, list[int]]
    narrow: list[int]

    @staticmethod
    def of(rows: Sequence[Row], beta: float) -> _Postings:
        by_value: dict[int, list[int]] = {}
        for index, row in enumerate(rows):
            for value in set(row):
                by_value.setdefault(value, []).append(index)
        return _Postings(by_value, [index for index, row in enumerate(rows) if len(row) <= beta])

    def candidates(self, row: Row) -> list[int]:
        """The rows that hold the rarest of a row's values; those narrow enough for a row without values."""
        if not row:
            return self.narrow
        return min((self.by_value.get(value, []) for value in set(row)), key=len)


def partners(
    gold: Sequence[Row], predicted: Sequence[Row], beta: float = BETA, steps: Steps | None = None
) -> list[list[int]]:
    """List, for each gold row, the positions of the predicted rows that fit it, in ascending order."""
    postings, counted = _Postings.of(predicted, beta), steps or Steps()
    found: list[list[int]] = []
    for row in gold:
        candidates = postings.candidates(row)
        counted.count += 1 + len(candidates)
        found.append([index for index in candidates if fits(row, predicted[index], beta)])
    return found
