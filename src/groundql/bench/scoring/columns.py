"""Find the one way in which predicted columns answer to gold columns, the same for all rows.

Names need not agree. Only where both results use a name is it binding among such names: two columns that both
results call home and away are not exchanged. `_id` is the engine's word, not the author's, and binds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from groundql.bench.scoring.canonical import Numbering, Record
from groundql.bench.scoring.forms import Forms, Way, below

NOTHING: Final = 0
"""The cell of a value that is null or missing: in a result both say that there is none."""
BOUND: Final = 5_000_000
"""Cells that one search may look at; far beyond what any result of distinct columns needs."""

Column = tuple[int, ...]


class Relation(StrEnum):
    """How the rows of a part must relate."""

    EQUAL = "equal"
    ALIGNED = "aligned"
    """Equal position by position."""
    WITHIN = "within"
    """The predicted rows are among the gold ones."""
    AROUND = "around"
    """The gold rows are among the predicted ones."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that are compared as one multiset: positions in the gold result and in the predicted one."""

    gold: range
    predicted: range
    relation: Relation = Relation.EQUAL

    def holds(self, gold: Sequence[int], predicted: Sequence[int]) -> bool:
        """Tell whether the cells, or rows, at these positions relate as they must."""
        wanted, given = gold[self.gold.start : self.gold.stop], predicted[self.predicted.start : self.predicted.stop]
        if self.relation is Relation.ALIGNED:
            return wanted == given
        left, right = Counter(wanted), Counter(given)
        if self.relation is Relation.EQUAL:
            return left == right
        return right <= left if self.relation is Relation.WITHIN else left <= right


@dataclass(frozen=True, slots=True)
class Table:
    """A result by columns, without those that hold nothing in any row. Shape: every column is as long as the result."""

    length: int
    columns: Mapping[str, Column]


@dataclass(slots=True)
class Cells:
    """Number the cells of two results alike."""

    forms: Forms
    numbering: Numbering = field(default_factory=Numbering)

    def __post_init__(self) -> None:
        self.numbering.number(None)  # so that nothing is number 0

    def table(self, records: Sequence[Record], sets: frozenset[Way] = frozenset()) -> Table:
        """Lay records out by column. `sets` are the ways to arrays without order, the column's name first."""
        names = dict.fromkeys(name for record in records for name in record)
        columns = {name: self.column([record.get(name) for record in records], below(sets, name)) for name in names}
        return Table(len(records), {name: cells for name, cells in columns.items() if any(cells)})

    def column(self, values: Iterable[Any], sets: frozenset[Way] = frozenset()) -> Column:
        """Number the cells of one column."""
        return tuple(self.numbering.number(self.forms.form(value, sets)) for value in values)


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two results side by side. `readings` gives each predicted column as it reads when put beside a gold column.

    Shape: `readings[gold name][predicted name]` is a column of the predicted result.
    """

    gold: Table
    readings: Mapping[str, Mapping[str, Column]]
    given: Table

    def allowed(self, name: str) -> list[str]:
        """The predicted columns that may answer to a gold column, its namesake first."""
        shared = (self.gold.columns.keys() & self.readings[name].keys()) - {"_id"}
        free = [other for other in self.readings[name] if other == name or not (name in shared and other in shared)]
        return sorted(free, key=lambda other: other != name)


@dataclass(slots=True)
class Search:
    """Look for an injective column map under which all parts hold; iterative, and bounded by cells looked at."""

    pairing: Pairing
    parts: Sequence[Part]
    bound: int = BOUND
    seen: int = 0

    def find(self) -> dict[str, str] | None:
        """Return the map from gold to predicted names, or None when there is none within the bound."""
        choices = {name: self._candidates(name) for name in self.pairing.gold.columns}
        order = sorted(choices, key=lambda name: len(choices[name]))
        root = _Node([0] * self.pairing.gold.length, [0] * self.pairing.given.length, {})
        if not self._holds(root.gold, root.predicted):
            return None
        waiting = [root]
        while waiting and self.seen <= self.bound:
            node = waiting.pop()
            if len(node.map) == len(order):
                return node.map
            name = order[len(node.map)]
            waiting.extend(reversed(list(self._children(node, name, choices[name]))))
        return None

    def _candidates(self, name: str) -> list[str]:
        column, readings = self.pairing.gold.columns[name], self.pairing.readings[name]
        return [other for other in self.pairing.allowed(name) if self._holds(column, readings[other])]

    def _holds(self, gold: Sequence[int], predicted: Sequence[int]) -> bool:
        self.seen += len(gold) + len(predicted)
        return all(part.holds(gold, predicted) for part in self.parts)

    def _children(self, node: _Node, name: str, candidates: Sequence[str]) -> Iterable[_Node]:
        used, tried = set(node.map.values()), set[Column]()
        shared = self.pairing.gold.columns.keys()
        for other in candidates:
            reading = self.pairing.readings[name][other]
            # of columns with the same cells one is as good as another, unless a name binds
            if other in used or (reading in tried and other not in shared):
                continue
            tried.add(reading)
            child = node.extended(name, other, self.pairing.gold.columns[name], reading)
            if self._holds(child.gold, child.predicted):
                yield child


@dataclass(frozen=True, slots=True)
class _Node:
    """A partial map, and for each row a number that stands for its cells so far."""

    gold: Sequence[int]
    predicted: Sequence[int]
    map: dict[str, str]

    def extended(self, name: str, other: str, gold: Column, predicted: Column) -> _Node:
        known = dict[tuple[int, int], int]()
        left = [known.setdefault(pair, len(known)) for pair in zip(self.gold, gold, strict=True)]
        right = [known.setdefault(pair, len(known)) for pair in zip(self.predicted, predicted, strict=True)]
        return _Node(left, right, {**self.map, name: other})


def overlap(pairing: Pairing) -> int:
    """Count the rows that two results share under a column map chosen column by column.

    Namesakes are paired first, then the columns that have most cells in common.
    """
    pairs = [
        (other == name != "_id", (Counter(column) & Counter(pairing.readings[name][other])).total(), name, other)
        for name, column in pairing.gold.columns.items()
        for other in pairing.allowed(name)
    ]
    pairs.sort(key=lambda pair: (not pair[0], -pair[1]))
    chosen = dict[str, str]()
    for _, _, name, other in pairs:
        if name not in chosen and other not in chosen.values():
            chosen[name] = other
    if len(chosen) < len(pairing.gold.columns):
        return 0
    node = _Node([0] * pairing.gold.length, [0] * pairing.given.length, {})
    for name, other in chosen.items():
        node = node.extended(name, other, pairing.gold.columns[name], pairing.readings[name][other])
    return (Counter(node.gold) & Counter(node.predicted)).total()
