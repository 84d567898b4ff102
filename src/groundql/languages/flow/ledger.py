"""What is noted while a program is followed."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from typing import Any

from bson import Regex

from groundql.core.kind import EVERY
from groundql.core.program import Comparison, JoinClaim, Place, Read, ReadStatus
from groundql.languages.flow.literals import as_list, as_number, as_object
from groundql.languages.flow.types import Type


@dataclass(slots=True)
class Ledger:
    """Collect reads, comparisons, joins and literals in the order in which they stand."""

    reads: list[Read] = field(default_factory=list[Read])
    comparisons: list[Comparison] = field(default_factory=list[Comparison])
    joins: list[JoinClaim] = field(default_factory=list[JoinClaim])
    limits: list[tuple[Place, int]] = field(default_factory=list[tuple[Place, int]])
    numbers: list[float] = field(default_factory=list[float])
    texts: list[str] = field(default_factory=list[str])
    operators: set[str] = field(default_factory=set[str])
    unknown_operators: set[str] = field(default_factory=set[str])
    containers: set[str] = field(default_factory=set[str])
    multiplies: list[Read] = field(default_factory=list[Read])
    is_scratch: bool = False
    tests: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def add_literal(self, value: Any, depth: int = 64) -> None:
        """Note every number and text in a constant."""
        number = as_number(value)
        if number is not None:
            self.numbers.append(number)
        elif isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, (dt.datetime, dt.date)):
            self.texts.append(value.isoformat())
        elif isinstance(value, (Regex, re.Pattern)):
            self.texts.append(str(value.pattern))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        elif depth:
            spec = as_object(value)
            for part in spec.values() if spec is not None else as_list(value) or ():
                self.add_literal(part, depth - 1)

    def note_tests(self, type_: Type, start: int) -> None:
        """Remember which comparisons, from `start` on, a computed value rests on."""
        if start < len(self.comparisons):
            self.tests.update((s, (start, len(self.comparisons))) for s in type_.sources if isinstance(s, int))

    def apply_tests(self, type_: Type) -> None:
        """Mark the comparisons that a value rests on as filters: it has come to decide which rows go on."""
        for source in type_.sources:
            for index in range(*self.tests.pop(source, (0, 0))) if isinstance(source, int) else ():
                self.comparisons[index] = replace(self.comparisons[index], is_filter=True)


def read_of(place: Place, text: str, type_: Type, status: ReadStatus, role: str, keys: tuple[str, ...] = ()) -> Read:
    """Write down a read whose type is known."""
    stored = type_.stored
    if status is not ReadStatus.STORED or stored is None:
        kinds = EVERY if status not in (ReadStatus.COMPUTED, ReadStatus.STORED) else type_.kinds
        return Read(place, text, status, kinds=kinds, role=role, note=_sources_note(type_))
    note = "keys of the map" if stored.is_key else ""
    key = keys[-1] if keys else ""
    return Read(place, text, status, stored.container, stored.path, type_.kinds, role, key, keys, note=note)


def _sources_note(type_: Type) -> str:
    stored = [str(s.path) for s in type_.sources if not isinstance(s, int)]
    return f"from {', '.join(stored)}" if stored else ""
