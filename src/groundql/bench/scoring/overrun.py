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
    """The published matching, row by row: which predicted rows fit which, and who owns them."""

    gold: Sequence[Row]
    predicted: Sequence[Row]
    beta: float
    steps: Steps
    groups: dict[Row, list[int]] = field(default_factory=dict[Row, list[int]])
    members: list[list[int]] = field(default_factory=list[list[int]])
    choices: dict[Row, list[int]] = field(default_factory=dict[Row, list[int]])
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
        tried, ahead = set[int](), dict[Row, int]()
        waiting: list[tuple[int, int]] = [(index, -1)]
        deepest = 1
        while waiting:
            if len(waiting) >= calls:
                return len(waiting)
            if self.steps.count > bound:
                return 0
            position = self._next(self.gold[waiting[-1][0]], tried, ahead)
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

    def _next(self, row: Row, tried: set[int], ahead: dict[Row, int]) -> int | None:
        """Return the first predicted row that fits and was not tried; `ahead` is how far each kind of row looked."""
        choices, place = self._choices(row), ahead.get(row, 0)
        start = place
        while place < len(choices) and choices[place] in tried:
            place += 1
        self.steps.count += 1 + place - start
        ahead[row] = place
        if place == len(choices):
            return None
        tried.add(choices[place])
        return choices[place]

    def _choices(self, row: Row) -> list[int]:
        if row not in self.choices:
            self.choices[row] = sorted(position for group in self.groups[row] for position in self.members[group])
            self.steps.count += len(self.choices[row])
        return self.choices[row]
