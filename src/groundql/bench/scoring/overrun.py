"""A fault of the published evaluator that its figures contain: its matching recurses, and long results overrun it.

The rule, restated: for results without order, gold rows are taken in turn, each tries the predicted rows from the
first on, and a predicted row that is taken asks its owner to move on, one call deeper. A chain of 1,000 calls meets
Python's default recursion limit; the row then scores as if nothing had been handed in. A thousand equal rows suffice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groundql.bench.scoring.canonical import Row
from groundql.bench.scoring.flow import Steps
from groundql.bench.scoring.matching import BETA, partners

CALLS: Final = 1000
"""Python's default recursion limit."""


def overruns(
    gold: Sequence[Row], predicted: Sequence[Row], beta: float = BETA, calls: int = CALLS, steps: Steps | None = None
) -> bool:
    """Tell whether the published matching would recurse `calls` deep on rows without order; nothing here recurses.

    The search ends after n^2.5 steps for n rows and then says no.
    """
    if len(gold) != len(predicted) or len(gold) < calls:
        return False
    counted = steps or Steps()
    chain = _Chain(gold, predicted, beta, counted)
    bound = counted.count + len(gold) ** 2.5
    for index in range(len(gold)):
        depth = chain.seat(index, calls, bound)
        if depth >= calls or not depth:
            return depth >= calls
    return False


@dataclass(slots=True)
class _Chain:
    """The published matching, row by row: who owns which predicted row, and how far each group was tried."""

    gold: Sequence[Row]
    predicted: Sequence[Row]
    beta: float
    steps: Steps
    groups: dict[Row, list[int]] = field(default_factory=dict[Row, list[int]])
    members: list[list[int]] = field(default_factory=list[list[int]])
    owner: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        places: dict[Row, list[int]] = {}
        for position, row in enumerate(self.predicted):
            places.setdefault(row, []).append(position)
        self.members = list(places.values())
        kinds = tuple(Counter(self.gold))
        self.groups = dict(zip(kinds, partners(kinds, tuple(places), self.beta, self.steps), strict=True))

    def seat(self, index: int, calls: int, bound: float) -> int:
        """Find a predicted row for a gold row. Return the deepest chain of calls; 0 when there is none or no time."""
        tried = [0] * len(self.members)  # within one search the tried rows of a group are always its first ones
        waiting: list[tuple[int, int]] = [(index, -1)]
        deepest = 1
        while waiting:
            if len(waiting) >= calls:
                return len(waiting)
            if self.steps.count > bound:
                return 0
            position = self._next(waiting[-1][0], tried)
            if position is None:
                waiting.pop()
                continue
            waiting[-1] = (waiting[-1][0], position)
            if position not in self.owner:
                self.owner.update({taken: row for row, taken in waiting})
                return deepest
            waiting.append((self.owner[position], -1))
            deepest = max(deepest, len(waiting))
        return 0

    def _next(self, index: int, tried: list[int]) -> int | None:
        groups = self.groups[self.gold[index]]
        self.steps.count += 1 + len(groups)
        ahead = [(self.members[g][tried[g]], g) for g in groups if tried[g] < len(self.members[g])]
        if not ahead:
            return None
        position, group = min(ahead)
        tried[group] += 1
        return position
