"""Bounded counting of stored values: exact while few are distinct, the frequent ones kept beyond that.

A table is a plain dict from value to count, so that the walk over documents can raise a count inline. When a table
outgrows its bound, its rare values leave it (lossy counting) and go into a `Spill`, which keeps their total, their
range and a sketch of how many were different. Which values leave depends only on the order of the documents.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

from groundql.core.catalog import Number
from groundql.core.kind import Kind

Table: TypeAlias = dict[Any, int]

LONGEST_TEXT: Final = 256
"""Longer strings are counted, not kept: they are prose, and nobody filters on them literally. Units: characters."""

ROOM: Final[Mapping[type, int]] = {
    str: 8192,
    int: 1024,
    Int64: 1024,
    float: 512,
    dt.datetime: 512,
    ObjectId: 64,
    bytes: 8,
}
"""Distinct values kept per path and type before rare ones are let go: strings and keys are what questions quote."""

OTHER_ROOM: Final = 128
LEAST_ROOM: Final = 4
SKETCH: Final = 256
_HASHES: Final = 2**32
_INT32: Final = 2**31


class DecimalText:
    """The slot of Decimal128 values: they have no hash, and their texts keep 1.0 and 1.00 apart as the server does."""


KINDS: Final[Mapping[type, Kind]] = {
    type(None): Kind.NULL,
    bool: Kind.BOOL,
    Int64: Kind.LONG,
    float: Kind.DOUBLE,
    Decimal128: Kind.DECIMAL,
    DecimalText: Kind.DECIMAL,
    decimal.Decimal: Kind.DECIMAL,
    str: Kind.STRING,
    dt.datetime: Kind.DATE,
    dt.date: Kind.DATE,
    bytes: Kind.BINARY,
    Binary: Kind.BINARY,
    uuid.UUID: Kind.BINARY,
    ObjectId: Kind.OBJECT_ID,
    Timestamp: Kind.TIMESTAMP,
    Regex: Kind.REGEX,
    Code: Kind.JAVASCRIPT,
    MinKey: Kind.MIN_KEY,
    MaxKey: Kind.MAX_KEY,
    dict: Kind.OBJECT,
    DBRef: Kind.OBJECT,
    list: Kind.ARRAY,
}


def kind_of(of: type, value: Any) -> Kind:
    """Name the kind of a value whose Python type is `of`; plain integers are told apart by their size."""
    if of is int:
        return Kind.INT if -_INT32 <= value < _INT32 else Kind.LONG
    return KINDS.get(of, Kind.OTHER)


def as_number(value: Any) -> Number | None:
    """Give a stored number or a number's text exactly, or None when it is not a number, or not a finite one."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    try:
        exact = decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        return None
    if not exact.is_finite():
        return None
    near = float(exact)
    return near if math.isfinite(near) and decimal.Decimal(repr(near)) == exact else exact


def name_of_odd(of: type, value: Any) -> str:
    """Name a number that no range can hold: NaN, Infinity or -Infinity; nothing for every other value."""
    if of is not float and of is not DecimalText and of is not decimal.Decimal:
        return ""
    number = float(value)
    if of is not float and math.isinf(number) and decimal.Decimal(value).is_finite():
        return ""  # only too large for a float
    if math.isnan(number):
        return "NaN"
    return ("Infinity" if number > 0 else "-Infinity") if math.isinf(number) else ""


def as_instant(value: dt.date) -> dt.datetime:
    """Give a stored date as a UTC instant; the driver's naive dates are in UTC."""
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


def comparable(of: type, value: Any) -> Any:
    """Give the form of a value by which a range orders it, or None when its kind has no range here."""
    if of is float or of is int or of is Int64 or of is decimal.Decimal or of is DecimalText:
        return as_number(value)
    if of is dt.datetime or of is dt.date:
        return as_instant(value)
    return None


def _hash(value: Any) -> int:
    text = value if isinstance(value, str) else repr(value)
    return zlib.crc32(text[:LONGEST_TEXT].encode("utf-8", "surrogatepass"), len(text))


@dataclass(slots=True)
class Spill:
    """What is still known of the values that left a table: how many, of which kinds, their range, how many differed.

    `odd` counts the numbers that are in no range, by their names.
    """

    kinds: dict[Kind, int] = field(default_factory=dict[Kind, int])
    odd: dict[str, int] = field(default_factory=dict[str, int])
    low: Any = None
    high: Any = None
    sketch: set[int] = field(default_factory=set[int])
    ceiling: int = _HASHES

    @property
    def count(self) -> int:
        """How many values left."""
        return sum(self.kinds.values())

    @property
    def is_estimate(self) -> bool:
        """Whether how many differed is only estimated: NaN alone is one value, however often."""
        return bool(self.sketch) and self.count > self.odd.get("NaN", 0)

    def add(self, of: type, value: Any, count: int = 1) -> None:
        """Take in one value that is not kept."""
        kind = kind_of(of, value)
        self.kinds[kind] = self.kinds.get(kind, 0) + count
        self._note(_hash(value))
        edge = comparable(of, value)
        if edge is not None:
            self.stretch(edge)
        elif odd := name_of_odd(of, value):
            self.odd[odd] = self.odd.get(odd, 0) + count

    def stretch(self, edge: Any) -> None:
        """Make the range hold a number or an instant."""
        self.low = edge if self.low is None else min(self.low, edge)
        self.high = edge if self.high is None else max(self.high, edge)

    def merge(self, other: Spill) -> None:
        """Take in another spill."""
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        for odd, count in other.odd.items():
            self.odd[odd] = self.odd.get(odd, 0) + count
        self.low = other.low if self.low is None else self.low if other.low is None else min(self.low, other.low)
        self.high = other.high if self.high is None else self.high if other.high is None else max(self.high, other.high)
        for mark in other.sketch:
            self._note(mark)

    def distinct(self, table: Table) -> int:
        """Estimate how many different values there are, those in the table included."""
        marks = sorted(self.sketch.union(map(_hash, table)))
        if len(marks) < SKETCH:
            return max(len(marks), len(table))
        return max(len(table), int((SKETCH - 1) * _HASHES / (marks[SKETCH - 1] + 1)))

    def _note(self, mark: int) -> None:
        if mark >= self.ceiling:
            return
        self.sketch.add(mark)
        if len(self.sketch) > 2 * SKETCH:
            self.sketch = set(sorted(self.sketch)[:SKETCH])
            self.ceiling = max(self.sketch) + 1


def prune(table: Table, spill: Spill, of: type, room: int) -> int:
    """Move the rarest values of a table into its spill until at most half its room is taken; return how many left."""
    before, bar = len(table), 1
    while len(table) > room // 2:
        for value in [value for value, count in table.items() if count <= bar]:
            spill.add(of, value, table.pop(value))
        bar *= 2
    return before - len(table)
