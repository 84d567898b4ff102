"""Stored values as the published protocol compares them.

Source: TEND, canonical values: floats to 12 decimal places, whole floats as integers, other BSON types as text
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from bson import json_util

PLACES: Final = 12

Record: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[int, ...]
"""A record without its names: the numbers given to its values, in ascending order."""


def canonical(value: Any) -> Hashable:
    """Give a value the form in which it is compared; equal forms, equal values.

    Recursion is bounded by what a server nests (100 levels).
    """
    # The order of the tests is part of the rule: a bool is an int to Python, and a 64-bit integer too.
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else ("float", repr(round(value, PLACES)))
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return ("object", tuple(sorted((key, canonical(item)) for key, item in mapping.items())))
    if isinstance(value, list | tuple):
        return ("array", tuple(canonical(item) for item in cast("Sequence[Any]", value)))
    return ("text", json_util.dumps(value))


@dataclass(slots=True)
class Numbering:
    """Give equal values equal numbers, so that rows are compared as short tuples of integers."""

    _known: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    def number(self, form: Hashable) -> int:
        """Return the number of a form, a new one for a form not seen before."""
        return self._known.setdefault(form, len(self._known))

    def row(self, record: Record) -> Row:
        """Return a record as the multiset of its top-level values; its names are dropped."""
        return tuple(sorted(self.number(canonical(value)) for value in record.values()))

    def rows(self, records: Iterable[Record]) -> list[Row]:
        """Return the records as rows, in their order."""
        return [self.row(record) for record in records]
