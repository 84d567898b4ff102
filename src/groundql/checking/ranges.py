"""The range rule: bounds beyond every stored number, date or array length, where every document was read."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from bson import Decimal128

from groundql.checking.values import is_either
from groundql.checking.wording import shown
from groundql.core.answer import Grounding
from groundql.core.catalog import Field, Lengths
from groundql.core.counted import counted
from groundql.core.finding import Code, Finding
from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.core.program import Claims, Comparison, ReadStatus
from groundql.grounding.fence import date_text, number_text

Bound: TypeAlias = int | float | decimal.Decimal | dt.datetime
OPERATORS: Final = frozenset({"$eq", "$in", "$gt", "$gte", "$lt", "$lte"})
WORDS: Final = {
    "$eq": "is",
    "$in": "is any of",
    "$gt": "is above",
    "$gte": "is at or above",
    "$lt": "is below",
    "$lte": "is at or below",
}
DATES: Final = frozenset({Kind.DATE})


@dataclass(frozen=True, slots=True)
class Range:
    """Every stored value of one sort lies between `low` and `high`, both of them stored."""

    low: Bound
    high: Bound

    def __str__(self) -> str:
        return f"{_text(self.low)} to {_text(self.high)}"


def range_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the conditions that lie outside all that is stored."""
    found: list[Finding] = []
    for comparison in claims.comparisons:
        container = grounding.catalog.get(comparison.read.container)
        if container is None or not container.is_exhaustive or not _is_checked(comparison):
            continue
        field = container.get(comparison.read.path) if comparison.read.path else None
        if field is not None:
            found.extend(_sized(comparison, field) if comparison.operator == "$size" else _ranged(comparison, field))
    return found


def _is_checked(comparison: Comparison) -> bool:
    """Whether a filter asks it of stored values: not of a map's keys, and not as a label's branch."""
    read = comparison.read
    return (
        comparison.is_filter
        and comparison.operator in OPERATORS | {"$size"}
        and read.status is ReadStatus.STORED
        and not is_either(comparison.place)
        and not read.note
    )


def _ranged(comparison: Comparison, field: Field) -> Iterable[Finding]:
    # what a complete list lacks is the value gate's to name
    if field.complete and comparison.operator in ("$eq", "$in"):
        return
    bounds = [_bound(value) for value in _values(comparison)]
    known = [b for b in bounds if b is not None]
    span = _span(field, known[0]) if known and len(known) == len(bounds) else None
    if span is None or not _is_comparable(comparison, known[0]):
        return
    if all(_is_outside(comparison.operator, bound, span) for bound in known):
        yield _finding(comparison, span, known[0])


def _values(comparison: Comparison) -> Sequence[Any]:
    value = comparison.value
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def _bound(value: object) -> Bound | None:
    """A literal as something that has an order; None for NaN and for every other kind."""
    if isinstance(value, Decimal128):
        value = value.to_decimal()
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | decimal.Decimal):
        return None if math.isnan(value) else value
    if isinstance(value, dt.datetime):
        return value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return None


def _span(field: Field, bound: Bound) -> Range | None:
    if isinstance(bound, dt.datetime):
        return Range(_bound(field.dates.low) or bound, _bound(field.dates.high) or bound) if field.dates else None
    if field.numbers is None:
        return None
    odd = {name for name, _ in field.non_finite}
    low = -math.inf if "-Infinity" in odd else field.numbers.low
    high = math.inf if "Infinity" in odd else field.numbers.high
    return Range(low, high)


def _is_comparable(comparison: Comparison, bound: Bound) -> bool:
    """Whether only values of the bound's own sort can meet the condition.

    A match compares like with like. An expression orders all kinds: nothing stands below every number, text above.
    """
    if comparison.read.role == "match":
        return True
    own = DATES if isinstance(bound, dt.datetime) else NUMBERS
    return comparison.read.kinds <= (own if comparison.operator in ("$lt", "$lte") else own | NOTHING)


def _is_outside(operator: str, bound: Bound, span: Range) -> bool:
    if isinstance(bound, dt.datetime) is not isinstance(span.low, dt.datetime):
        return False
    value, low, high = cast("Any", bound), cast("Any", span.low), cast("Any", span.high)
    match operator:
        case "$gt":
            return value >= high
        case "$gte":
            return value > high
        case "$lt":
            return value <= low
        case "$lte":
            return value < low
        case _:
            return value < low or value > high


def _finding(comparison: Comparison, span: Range, bound: Bound) -> Finding:
    text = comparison.read.text
    nearest = span.low if cast("Any", bound) <= cast("Any", span.low) else span.high
    return Finding(
        Code.OUT_OF_RANGE,
        f"nothing stored at {text!r} {WORDS[comparison.operator]} {shown(comparison.value)}",
        comparison.place,
        path=text,
        evidence=f"stored from {span}, every document read",
        nearest=(_text(nearest),),
        blocking=False,
    )


def _text(bound: Bound) -> str:
    return date_text(bound) if isinstance(bound, dt.datetime) else number_text(bound)


def _sized(comparison: Comparison, field: Field) -> Iterable[Finding]:
    size, lengths = comparison.value, field.lengths
    if (
        isinstance(size, bool)
        or not isinstance(size, int)
        or lengths is None
        or Kind.ARRAY not in comparison.read.kinds
    ):
        return
    if not lengths.low <= size <= lengths.high:
        yield Finding(
            Code.OUT_OF_RANGE,
            f"no array at {comparison.read.text!r} has {counted(size, 'item')}",
            comparison.place,
            path=comparison.read.text,
            evidence=f"every array stored there has {_spread(lengths)}, every document read",
            nearest=(str(lengths.low if size < lengths.low else lengths.high),),
            blocking=False,
        )


def _spread(lengths: Lengths) -> str:
    if lengths.low == lengths.high:
        return counted(lengths.low, "item")
    return f"{lengths.low} to {lengths.high} items"
