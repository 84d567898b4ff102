"""The kind gate: a literal must be of a kind that the field can equal or be ordered against."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from bson import Decimal128, ObjectId

from groundql.checking.grouped import grouped_findings
from groundql.checking.values import comparison_decides
from groundql.checking.wording import kind_names, shown
from groundql.core.answer import Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.program import Claims, Comparison, ReadStatus

ONLY_ARRAY: Final = frozenset({Kind.ARRAY})
COMPARING: Final = frozenset({"$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$all"})
NEGATED: Final = frozenset({"$ne", "$nin"})
LISTING: Final = frozenset({"$in", "$nin", "$all"})


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
    """Name the comparisons that can never hold because of kinds, and the groups that take in the wrong ones."""
    compared = [f for c in claims.comparisons if (f := _finding(c)) is not None]
    return compared + grouped_findings(claims, grounding)


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
    if not isinstance(value, list | tuple):
        return literal_kinds(value)
    each = [literal_kinds(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    # only these take a list for its members; any other operator compares with the list itself
    if comparison.operator not in LISTING or None in each or not each:
        return None
    return frozenset[Kind]().union(*(k for k in each if k))


def _array_finding(comparison: Comparison, held: frozenset[Kind]) -> Finding | None:
    if comparison.read.role == "match":
        return None  # a match looks into arrays by itself
    return Finding(
        Code.ARRAY_AS_SCALAR,
        f"{comparison.read.text!r} is an array here; {shown(comparison.value)} is compared with the array itself",
        comparison.place,
        path=comparison.read.text,
        evidence=f"stored as {kind_names(held)}",
        nearest=("$unwind it first", "$filter or $anyElementTrue over its items", "$arrayElemAt for one item"),
        blocking=False,
    )


def _mismatch(comparison: Comparison, held: frozenset[Kind]) -> Finding:
    stored = comparison.read.status is ReadStatus.STORED
    # an inequality across kinds keeps every row, and a computed field's kinds are only inferred: neither is proof
    proven = stored and comparison_decides(comparison) and comparison.operator not in NEGATED
    return Finding(
        Code.KIND_MISMATCH,
        f"{comparison.read.text!r} {comparison.operator} {shown(comparison.value)} compares different kinds",
        comparison.place,
        path=comparison.read.text,
        evidence=f"stored as {kind_names(held)}",
        nearest=_right_forms(comparison, held),
        blocking=proven,
    )


def _right_forms(comparison: Comparison, held: frozenset[Kind]) -> tuple[str, ...]:
    value = comparison.value
    scalar = value if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    makers: Mapping[Kind, str] = {
        Kind.DATE: _year_form(comparison) or f'a date: {{"$date": "{_as_date(value)}"}}',
        Kind.OBJECT_ID: 'an ObjectId: {"$oid": "..."}',
        Kind.STRING: _as_text(value),
        Kind.BOOL: "true or false",
    }
    forms = [text for kind, text in makers.items() if kind in held]
    if held & NUMBERS:
        exact = scalar is not None and Kind.DECIMAL in held and not held & (NUMBERS - {Kind.DECIMAL})
        forms.append(f'a decimal: {{"$numberDecimal": "{scalar}"}}' if exact else "a number without quotes")
    return tuple(forms)


YEAR: Final = re.compile(r"[12]\d{3}")


def _year_form(comparison: Comparison) -> str:
    """What asks a date field for a bare year, by the year's edges; nothing where no year was compared."""
    value = comparison.value
    if isinstance(value, bool) or not YEAR.fullmatch(str(value)):
        return ""
    if comparison.read.role != "match":
        return f'the year alone: {{"$year": "{comparison.read.text}"}} with {int(value)}'
    starts, ends = (f'ISODate("{year}-01-01")' for year in (int(value), int(value) + 1))
    edges = {"$gt": f'"$gte": {ends}', "$gte": f'"$gte": {starts}', "$lt": f'"$lt": {starts}', "$lte": f'"$lt": {ends}'}
    whole = f'"$gte": {starts}, "$lt": {ends}'
    return f"a year by its edges: {{{edges.get(comparison.operator, whole)}}}"


def _as_date(value: Any) -> str:
    """The date that a text means, else an example."""
    try:
        moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    return f"{(moment or dt.datetime(2020, 1, 31)).replace(tzinfo=None).isoformat()}Z"


def _as_text(value: Any) -> str:
    if isinstance(value, dt.datetime):
        value = value.date().isoformat() if value.time() == dt.time() else value.isoformat()
    return f'a string: "{value}"' if isinstance(value, str | int | float) else "a string"
