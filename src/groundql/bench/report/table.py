"""Tables as data: typed columns and rows of plain values, before anybody writes them down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from groundql.bench.stats.intervals import Interval


class Kind(StrEnum):
    """What the values of a column are, so that they can be written for people."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    POINTS = "points"
    """A difference of two shares, written in percentage points."""
    P = "p"
    USD = "usd"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the bounds it lies within, and how many tasks it is over."""

    value: float
    low: float
    high: float
    of: int

    @staticmethod
    def within(value: float, interval: Interval, of: int) -> Figure:
        """Put a value and its interval together."""
        return Figure(value, interval.low, interval.high, of)

    def negated(self) -> Figure:
        """Return the same difference seen from the other side."""
        return Figure(-self.value, -self.high, -self.low, self.of)

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON-ready data, to 6 places."""
        return {"value": round(self.value, 6), "low": round(self.low, 6), "high": round(self.high, 6), "of": self.of}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    title: str
    kind: Kind = Kind.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Shape: each row maps column keys to a text, a number, a `Figure`, or None where there is nothing to say; `notes`
    say what a reader must know to read it right.
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default_factory=tuple[str, ...])

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON-ready data."""
        return {
            "key": self.key,
            "title": self.title,
            "columns": [{"key": c.key, "title": c.title, "kind": c.kind.value} for c in self.columns],
            "rows": [{c.key: plain(row.get(c.key)) for c in self.columns} for row in self.rows],
            "notes": list(self.notes),
        }


def plain(value: Any) -> Any:
    """Write a cell as JSON-ready data; floats keep 6 significant places, which leaves small p-values as they are."""
    if isinstance(value, Figure):
        return value.to_record()
    return float(f"{value:.6g}") if isinstance(value, float) else value
