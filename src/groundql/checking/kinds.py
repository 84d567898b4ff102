"""The kind gate: a literal must be of a kind that the field can equal or be ordered against."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from bson import Decimal128, ObjectId

from groundql.core.answer import Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.program import Claims, Comparison, ReadStatus

COMPARING: Final = frozenset({"$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$all"})
NEGATED: Final = frozenset({"$ne", "$nin"})


def literal_kinds(value: Any) -> frozenset[Kind] | None:
    """Name the kinds a literal can equal; None where it says nothing (null, a list, an object, a regex)."""
    if isinstance(value, bool):
        return frozenset({Kind.BOOL})
    if isinstance(value, int | float | Decimal | Decimal128):
        return NUMBERS
    if isinstance(value, str):
        return frozenset({Kind.STRING})
    if isinstance(value, dt.datetime):
        return frozenset({Kind.DATE, Kind.TIMESTAMP})
    if isinstance(value, ObjectId):
        return frozenset({Kind.OBJECT_ID})
    return None


def kind_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the comparisons that can never hold, or hold for every value, because of kinds."""
    return [f for c in claims.comparisons if (f := _finding(c)) is not None]


def _finding(comparison: Comparison) -> Finding | None:
    kinds = comparison.read.kinds
    wanted = _wanted(comparison)
    if wanted is None or kinds == EVERY or comparison.read.status is ReadStatus.UNKNOWN:
        return None
    held = kinds - NOTHING
    if not held or held & wanted or Kind.OTHER in held:
        return None
    if Kind.ARRAY in held:
        return _array_finding(comparison, held)
    return _mismatch(comparison, held)


def _wanted(comparison: Comparison) -> frozenset[Kind] | None:
    if comparison.operator == "$regex":
        return frozenset({Kind.STRING})
    if comparison.operator not in COMPARING | NEGATED:
        return None
    value = comparison.value
    if isinstance(value, list | tuple):
        each = [literal_kinds(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return None if None in each else frozenset[Kind]().union(*(k for k in each if k))
    return literal_kinds(value)


def _array_finding(comparison: Comparison, held: frozenset[Kind]) -> Finding | None:
    if comparison.read.role == "match":
        return None  # a match looks into arrays by itself
    return Finding(
        Code.ARRAY_AS_SCALAR,
        f"{comparison.read.text!r} is an array here; comparing it with {comparison.value!r} compares the array itself",
        comparison.place,
        path=comparison.read.text,
        evidence=f"stored as {_names(held)}",
        nearest=("$unwind it first", "$filter or $anyElementTrue over its items", "$arrayElemAt for one item"),
        blocking=False,
    )


def _mismatch(comparison: Comparison, held: frozenset[Kind]) -> Finding:
    stored = comparison.read.status is ReadStatus.STORED
    # an inequality across kinds keeps every row, and a computed field's kinds are only inferred: neither is proof
    proven = stored and comparison.is_filter and comparison.operator not in NEGATED and comparison.read.role == "match"
    return Finding(
        Code.KIND_MISMATCH,
        f"{comparison.read.text!r} {comparison.operator} {comparison.value!r} compares different kinds",
        comparison.place,
        path=comparison.read.text,
        evidence=f"stored as {_names(held)}",
        nearest=_right_forms(comparison.value, held),
        blocking=proven,
    )


def _names(kinds: frozenset[Kind]) -> str:
    return ", ".join(sorted(k.value for k in kinds))


def _right_forms(value: Any, held: frozenset[Kind]) -> tuple[str, ...]:
    makers: Mapping[Kind, str] = {
        Kind.DATE: 'a date: {"$date": "2020-01-31T00:00:00Z"}',
        Kind.OBJECT_ID: 'an ObjectId: {"$oid": "..."}',
        Kind.DECIMAL: f'a decimal: {{"$numberDecimal": "{value}"}}',
        Kind.STRING: f'a string: "{value}"',
        Kind.BOOL: "true or false",
    }
    forms = [text for kind, text in makers.items() if kind in held]
    if held & NUMBERS:
        forms.append("a number without quotes")
    return tuple(forms)
