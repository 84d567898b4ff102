"""One comparison of one value, in both of MongoDB's languages: as a query and as an expression.

Both mean what a query means: a range holds only for values of its bound's own type, and never for NaN.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bson import Decimal128

from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.semantic.literals import Span, to_stored
from groundql.semantic.query import Filter, Op
from groundql.semantic.scope import Expr, literal


@dataclass(frozen=True, slots=True)
class Equal:
    """The value is this one, not null."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value is one of these; null stands for a missing value too."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The value lies within bounds; None leaves a side open."""

    low: Any = None
    high: Any = None
    above: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """The text matches a regular expression."""

    text: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Present:
    """There is a value, and it is not null."""


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no value, or null."""


@dataclass(frozen=True, slots=True)
class IsNull:
    """Null is stored."""


@dataclass(frozen=True, slots=True)
class Either:
    """One of these tests holds."""

    of: tuple[Test, ...]


Test: TypeAlias = Equal | OneOf | Range | Pattern | Present | Absent | IsNull | Either

_FLIPPED: Final = {Op.NE: Op.EQ, Op.NOT_IN: Op.IN, Op.MISSING: Op.EXISTS}
_MAGIC: Final = frozenset(".^$*+?{}[]\\|()")


def flip(found: Filter) -> Filter:
    """Turn a negative filter into the positive one that it denies."""
    return Filter(found.ref, _FLIPPED[found.op], found.value)


def test_of(found: Filter, kinds: frozenset[Kind]) -> Test:
    """Lower a positive filter to a test, its value brought to the stored kind."""
    value = found.value
    if found.op in (Op.CONTAINS, Op.STARTS_WITH):
        quoted = "".join("\\" + c if c in _MAGIC else c for c in value)
        return Pattern(("^" if found.op is Op.STARTS_WITH else "") + quoted, ignore_case=True)
    if found.op is Op.MATCHES:
        return Pattern(value)
    if found.op is Op.EXISTS:
        return Present()
    if found.op is Op.IS_NULL:
        return IsNull()
    if found.op is Op.IN:
        return _one_of([to_stored(v, kinds) for v in value])
    if found.op is Op.EQ:
        return _one_of([to_stored(value, kinds)])
    return _range(found.op, value, kinds)


def _one_of(values: list[Any]) -> Test:
    plain = tuple(v for v in values if not isinstance(v, Span))
    spans = tuple(Range(v.start, v.end, below=True) for v in values if isinstance(v, Span))
    if not spans:
        alone = plain[0] if len(plain) == 1 else None
        return (Absent() if alone is None else Equal(alone)) if len(plain) == 1 else OneOf(plain)
    of: tuple[Test, ...] = (*spans, OneOf(plain)) if plain else spans
    return of[0] if len(of) == 1 else Either(of)


def _range(op: Op, value: Any, kinds: frozenset[Kind]) -> Range:
    low, high = value if op is Op.BETWEEN else (value, value)
    low, high = to_stored(low, kinds), to_stored(high, kinds)
    if op is Op.GT:
        return Range(low.end) if isinstance(low, Span) else Range(low, above=True)
    if op is Op.GTE:
        return Range(low.start if isinstance(low, Span) else low)
    until = Range(high=high.end, below=True) if isinstance(high, Span) else Range(high=high)
    if op is Op.LT:
        return Range(high=high.start if isinstance(high, Span) else high, below=True)
    if op is Op.LTE:
        return until
    return Range(low.start if isinstance(low, Span) else low, until.high, below=until.below)


def as_query(name: str, test: Test) -> dict[str, Any]:
    """Write a test of a field as a query document."""
    match test:
        case Either(of):
            return {"$or": [as_query(name, t) for t in of]}
        case Equal(value):
            return {name: value}
        case Absent():
            return {name: None}
        case _:
            return {name: operators(test)}


def as_denied_query(name: str, test: Test) -> dict[str, Any]:
    """Write the denial of a test of a field as a query document; a missing field satisfies it, except `Absent`."""
    match test:
        case Either(of):
            return {"$nor": [as_query(name, t) for t in of]}
        case Equal(value):
            return {name: {"$ne": value}}
        case OneOf(values):
            return {name: {"$nin": list(values)}}
        case Present():
            return {name: None}
        case Absent():
            return {name: {"$ne": None}}
        case _:
            return {name: {"$not": operators(test)}}


def operators(test: Test) -> dict[str, Any]:
    """Write a test as the operators of a query document's field."""
    match test:
        case OneOf(values):
            return {"$in": list(values)}
        case Range(low, high, above, below):
            lower = {} if low is None else {"$gt" if above else "$gte": low}
            return lower | ({} if high is None else {"$lt" if below else "$lte": high})
        case Pattern(text, ignore_case):
            return {"$regex": text} | ({"$options": "i"} if ignore_case else {})
        case Present():
            return {"$ne": None}
        case IsNull():
            return {"$type": "null"}
        case Absent():
            return {"$eq": None}
        case Equal(value):
            return {"$eq": value}
        case Either():
            raise AssertionError("an alternative is written by as_query")


def as_expression(value: Expr, test: Test, kinds: frozenset[Kind]) -> Expr:
    """Write a test of a value as an expression. `kinds` are all that the value can be."""
    match test:
        case Either(of):
            return {"$or": [as_expression(value, t, kinds) for t in of]}
        case Equal(wanted):
            return {"$eq": [value, literal(wanted)]}
        case OneOf(wanted):
            read = {"$ifNull": [value, None]} if None in wanted else value
            return {"$in": [read, [literal(v) for v in wanted]]}
        case Present():
            return {"$gt": [value, None]}
        case Absent():
            return {"$lte": [value, None]}
        case IsNull():
            return {"$eq": [{"$type": value}, "null"]}
        case Pattern(text, ignore_case):
            search = {"input": value, "regex": literal(text)} | ({"options": "i"} if ignore_case else {})
            found = {"$regexMatch": search}
            return found if kinds <= {Kind.STRING} | NOTHING else {"$cond": [_is_type(value, "string"), found, False]}
        case Range():
            return all_of(_within(value, test, kinds))


def _within(value: Expr, test: Range, kinds: frozenset[Kind]) -> Iterable[Expr]:
    low, high = test.low, test.high
    if low is not None:
        yield {"$gt" if test.above else "$gte": [value, literal(low)]}
    if high is not None:
        yield {"$lt" if test.below else "$lte": [value, literal(high)]}
    if low is None or high is None:
        yield from _of_its_type(value, low if high is None else high, is_low=high is None, kinds=kinds)


def _of_its_type(value: Expr, bound: Any, *, is_low: bool, kinds: frozenset[Kind]) -> Iterable[Expr]:
    """Keep a one-sided range to values of its bound's type: in expressions all types have one order."""
    if isinstance(bound, int | float | Decimal128):
        if not is_low:
            yield {"$gte": [value, float("-inf")]}
        elif not kinds <= NUMBERS | NOTHING:
            yield {"$isNumber": value}
    elif isinstance(bound, dt.datetime):
        if not (is_low and kinds <= {Kind.DATE} | NOTHING):
            yield _is_type(value, "date")
    elif isinstance(bound, str):
        if not (is_low and kinds <= {Kind.STRING} | NUMBERS | NOTHING):
            yield _is_type(value, "string")
    else:
        yield {"$eq": [{"$type": value}, {"$type": bound}]}


def _is_type(value: Expr, name: str) -> Expr:
    return {"$eq": [{"$type": value}, name]}


def all_of(parts: Iterable[Expr]) -> Expr:
    """Join expressions that must all hold."""
    listed = list(parts)
    return listed[0] if len(listed) == 1 else {"$and": listed}
