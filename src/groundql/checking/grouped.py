"""What groups and sums take in: numbers to add up, single values as keys."""

from __future__ import annotations

import re
from typing import Final

from groundql.checking.wording import kind_names
from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.path import ITEMS
from groundql.core.program import Claims, Read, ReadStatus

ONLY_ARRAY: Final = frozenset({Kind.ARRAY})
ONLY_OBJECT: Final = frozenset({Kind.OBJECT})
GROUPING: Final = frozenset({"$group", "$bucket", "$bucketAuto", "$setWindowFields"})
ADDING: Final = re.compile(r"\.(\$sum|\$avg|\$stdDevPop|\$stdDevSamp)(?:\[0?\d*\])?$")
ORDERING: Final = re.compile(r"\.(\$max|\$min)$")
KEY: Final = re.compile(r"^(?:\$sortByCount|\$group\._id|\$bucket(?:Auto)?\.groupBy)(?:\.[^$.\[]+)*$")
"""The key itself or a part of it, not what an operator in it is given."""


def grouped_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the sums over what holds no numbers, and the groups by whole arrays and objects."""
    return [f for r in claims.reads if (f := _grouped(r, grounding.catalog.get(r.container))) is not None]


def _grouped(read: Read, container: Container | None) -> Finding | None:
    held = read.kinds - NOTHING
    if read.status is not ReadStatus.STORED or not held or read.kinds == EVERY or Kind.OTHER in held:
        return None
    adds = ADDING.search(read.place.pointer)
    if adds:
        return _added(read, held, adds[1], container)
    is_accumulated = read.place.operator in GROUPING and ORDERING.search(read.place.pointer)
    if is_accumulated and held == ONLY_ARRAY:
        message = f"{read.text!r} is an array here: {is_accumulated[1]} compares whole arrays, not their items"
        return _said(Code.ARRAY_AS_SCALAR, read, message, ("$unwind it first", f"{is_accumulated[1]} over its items"))
    return _keyed(read, held) if read.role == "group" and KEY.search(read.place.pointer) else None


def _added(read: Read, held: frozenset[Kind], operator: str, container: Container | None) -> Finding | None:
    """A sum of what holds no number; outside groups, a single array is added up by its items."""
    nothing = f"{operator} of {read.text!r} adds up nothing: it holds no numbers"
    if held & NUMBERS:
        return None
    # an accumulator does not look into arrays
    is_accumulated = read.place.operator in GROUPING and read.place.pointer.count("$") == 2
    if held != ONLY_ARRAY:
        is_sure = is_accumulated or Kind.ARRAY not in held
        return _said(Code.KIND_MISMATCH, read, nothing, _as_number(read, held)) if is_sure else None
    if is_accumulated:
        return _said(Code.ARRAY_AS_SCALAR, read, nothing, (f"$unwind it first, or {operator} over its items",))
    field = container.get(read.path / ITEMS) if container is not None and read.path is not None else None
    items = field.kind_set - NOTHING if field is not None else frozenset[Kind]()
    if not items or items & NUMBERS or Kind.OTHER in items:
        return None
    code = Code.ARRAY_AS_SCALAR if items == ONLY_ARRAY else Code.KIND_MISMATCH
    nearest = ("$unwind it first, or $reduce over its items",) if items == ONLY_ARRAY else ()
    message = f"{operator} of {read.text!r} adds up nothing: its items are no numbers"
    return _said(code, read, message, nearest, f"items stored as {kind_names(items)}")


def _as_number(read: Read, held: frozenset[Kind]) -> tuple[str, ...]:
    field = read.text if read.text.startswith("$") else f"${read.text}"
    return (f'{{"$toDouble": "{field}"}}', '{"$sum": 1} for a count') if held == frozenset({Kind.STRING}) else ()


def _keyed(read: Read, held: frozenset[Kind]) -> Finding | None:
    if held == ONLY_ARRAY:
        message = f"{read.text!r} is an array here: the groups are whole arrays, not their items"
        return _said(Code.ARRAY_AS_SCALAR, read, message, ("$unwind it first",))
    if held == ONLY_OBJECT:
        message = f"{read.text!r} is an object here: the groups are whole objects, equal only in every field"
        return _said(Code.OBJECT_AS_SCALAR, read, message, ())
    return None


def _said(code: Code, read: Read, message: str, nearest: tuple[str, ...], evidence: str = "") -> Finding:
    told = evidence or f"stored as {kind_names(read.kinds - NOTHING)}"
    return Finding(code, message, read.place, read.text, told, nearest, blocking=False)
