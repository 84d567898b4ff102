"""The query language of `$match`: which fields it reads and which literals it compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groundql.core.kind import NOTHING, Kind
from groundql.core.program import Comparison, Read, ReadStatus
from groundql.languages.flow.comparing import read_of_type
from groundql.languages.flow.context import MAX_DEPTH, Context
from groundql.languages.flow.evaluation import evaluate
from groundql.languages.flow.literals import as_list, as_object, is_pattern, operator_of, with_options
from groundql.languages.flow.paths import Manner
from groundql.languages.flow.reading import read_field
from groundql.languages.flow.types import ANY, Type, of_kinds, unite

_COMPARING: Final = frozenset(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$regex", "$all"])
_WHOLE: Final = frozenset(["$exists", "$type", "$size"])
_SILENT: Final = frozenset(
    [
        "$mod",
        "$options",
        "$geoWithin",
        "$within",
        "$geoIntersects",
        "$near",
        "$nearSphere",
        "$minDistance",
        "$maxDistance",
        "$bitsAllSet",
        "$bitsAnySet",
        "$bitsAllClear",
        "$bitsAnyClear",
        "$comment",
    ]
)
_TOP: Final = frozenset(["$where", "$text", "$jsonSchema", "$comment", "$sampleRate", "$alwaysTrue", "$alwaysFalse"])


def follow_match(ctx: Context, query: Any) -> None:
    """Note what a query reads and compares in the current documents."""
    spec = as_object(query)
    if spec is None or ctx.depth > MAX_DEPTH:
        return
    for name, value in spec.items():
        if name.startswith("$"):
            _follow_top(ctx.at(name), name, value)
        else:
            _follow_field(ctx.at(name), name, value)


def _follow_top(ctx: Context, name: str, value: Any) -> None:
    ctx.ledger.operators.add(name)
    if name in ("$and", "$or", "$nor"):
        for index, part in enumerate(as_list(value) or []):
            follow_match(ctx.at(f"[{index}]"), part)
    elif name == "$expr":
        evaluate(ctx.of_role("expr"), value)
    elif name == "$text":
        ctx.ledger.add_literal((as_object(value) or {}).get("$search"))
    elif name not in _TOP:
        ctx.ledger.unknown_operators.add(name)


def _follow_field(ctx: Context, name: str, value: Any) -> None:
    conditions = _conditions(value)
    is_soft = bool(conditions) and all(_asks_presence(op, given) for op, given in conditions.items())
    reading = ctx.of_role("exists") if is_soft else ctx
    type_, read = read_field(reading, name, Manner.MATCH)
    _follow_conditions(ctx, type_, read, conditions)


def _conditions(value: Any) -> Mapping[str, Any]:
    """Return a field's conditions by operator; a bare value is an equality, a bare pattern a `$regex`."""
    if operator_of(value):
        return as_object(value) or {}
    return {"$regex" if is_pattern(value) else "$eq": value}


def _asks_presence(operator: str, value: Any) -> bool:
    if operator == "$not":
        return all(_asks_presence(op, given) for op, given in _conditions(value).items())
    if operator in ("$in", "$nin"):
        return None in (as_list(value) or [])
    return operator in ("$exists", "$type") or (operator in ("$eq", "$ne", "$gt", "$gte", "$lte") and value is None)


def _follow_conditions(ctx: Context, type_: Type, read: Read, conditions: Mapping[str, Any], depth: int = 0) -> None:
    for operator, value in conditions.items():
        ctx.ledger.operators.add(operator)
        if operator == "$not" and depth < MAX_DEPTH:
            _follow_conditions(ctx.at("$not"), type_, read, _conditions(value), depth + 1)
        elif operator == "$elemMatch":
            _follow_items(ctx.at(operator), type_, read, value)
        elif operator in _COMPARING or operator in _WHOLE:
            _note(ctx, operator, type_, read, with_options(value, conditions) if operator == "$regex" else value)
        elif operator == "$mod":
            ctx.ledger.add_literal(value)
        elif operator not in _SILENT:
            ctx.ledger.unknown_operators.add(operator)


def _note(ctx: Context, operator: str, type_: Type, read: Read, value: Any) -> None:
    items = as_list(value)
    parts = [part for part in items or [] if operator_of(part) == "$elemMatch"]
    for part in parts:
        _follow_items(ctx.at(operator), type_, read, (as_object(part) or {})["$elemMatch"])
    if parts:
        return
    if operator not in _WHOLE:
        # A type's name or a truth value is no literal of the question's.
        ctx.ledger.add_literal(value)
        read = _seen_by_match(ctx, type_, read, items if operator in ("$in", "$nin", "$all") else [value])
    elif operator == "$size":
        ctx.ledger.add_literal(value)
    ctx.ledger.comparisons.append(Comparison(ctx.place, operator, read, value, ctx.is_filter))


def _seen_by_match(ctx: Context, type_: Type, read: Read, values: list[Any] | None) -> Read:
    """Return the read of what a literal is really compared with: the items too, where a field holds arrays."""
    if read.status not in (ReadStatus.STORED, ReadStatus.COMPUTED) or Kind.ARRAY not in type_.kinds:
        return read
    if any(as_list(value) is not None for value in values or [None]):
        return read
    rest = type_.kinds - NOTHING - {Kind.ARRAY}
    seen = unite(of_kinds(type_, type_.kinds - {Kind.ARRAY}), type_.item) if rest else type_.item
    seen_read = read_of_type(ctx, read.text, seen)
    return seen_read if seen_read.status is not ReadStatus.UNKNOWN else read


def _follow_items(ctx: Context, type_: Type, read: Read, query: Any) -> None:
    item = ANY if type_.is_unknown else type_.item
    ctx.ledger.operators.add("$elemMatch")
    ctx.ledger.comparisons.append(Comparison(ctx.place, "$elemMatch", read, query, ctx.is_filter))
    if operator_of(query) and operator_of(query) not in ("$and", "$or", "$nor", "$expr"):
        conditions = as_object(query) or {}
        inner = read_of_type(ctx, read.text, item) if read.status is not ReadStatus.ABSENT else read
        _follow_conditions(ctx.at("$elemMatch"), item, inner, conditions, ctx.depth)
    else:
        follow_match(ctx.over(item, read.text), query)
