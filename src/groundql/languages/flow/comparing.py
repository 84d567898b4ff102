"""Expressions that compare: what is compared with which literal, and the joins that comparisons make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from groundql.core.kind import Kind
from groundql.core.program import Comparison, Read, ReadStatus
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import (
    arguments,
    evaluate_read,
    handles,
    named_arguments,
    positional,
)
from groundql.languages.flow.ledger import read_of
from groundql.languages.flow.literals import (
    as_object,
    constant,
    is_constant,
    is_pattern,
    literal_type,
    operator_of,
    with_options,
)
from groundql.languages.flow.types import NULL, Type, array_of, computed, record, unite, unite_all

_MIRRORED: Final = {"$gt": "$lt", "$gte": "$lte", "$lt": "$gt", "$lte": "$gte"}


def _note(ctx: Context, operator: str, read: Read, value: Any) -> None:
    ctx.ledger.add_literal(value)
    ctx.ledger.comparisons.append(Comparison(ctx.place, operator, read, value, ctx.is_filter))


def operand(ctx: Context, value: Any) -> tuple[Type, Read]:
    """Evaluate one side of a comparison; its read says where it comes from, also through an expression."""
    start = len(ctx.ledger.reads)
    type_, read = evaluate_read(ctx, value)
    if read is not None:
        return type_, read
    read = read_of_type(ctx, _text_of(value), type_)
    if read.status is not ReadStatus.STORED and not read.note:
        paths = dict.fromkeys(str(r.path) for r in ctx.ledger.reads[start:] if r.status is ReadStatus.STORED)
        read = replace(read, note=f"from {', '.join(paths)}" if paths else "")
    return type_, read


def read_of_type(ctx: Context, text: str, type_: Type) -> Read:
    """Write a read for a value that was not named directly."""
    if type_.is_unknown:
        return Read(ctx.place, text, ReadStatus.UNKNOWN, role=ctx.role)
    status = ReadStatus.STORED if type_.stored is not None else ReadStatus.COMPUTED
    return read_of(ctx.place, text, type_, status, ctx.role, type_.named)


def _text_of(value: Any) -> str:
    name = operator_of(value)
    return name or (value if isinstance(value, str) else "expression")


@handles("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp")
def compare(ctx: Context, name: str, spec: Any) -> Type:
    """Compare two values."""
    args = positional(spec)
    constants = [is_constant(arg) for arg in args]
    if len(args) == 2 and constants[0] != constants[1]:
        side = constants.index(False)
        value = constant(args[1 - side])
        _compare_literal(ctx, _MIRRORED.get(name, name) if side else name, ctx.at(f"[{side}]"), args[side], value)
    else:
        note_join(ctx, name, [evaluate_read(ctx.at(f"[{index}]"), arg)[1] for index, arg in enumerate(args)])
    return computed({Kind.INT} if name == "$cmp" else {Kind.BOOL})


def _compare_literal(ctx: Context, name: str, inner: Context, value: Any, literal: Any) -> None:
    if operator_of(value) == "$type":
        ctx.ledger.operators.add("$type")
        _, read = operand(
            inner.at("$type").of_role("exists"), (positional((as_object(value) or {})["$type"]) or [None])[0]
        )
        _note(ctx, "$type", read, literal)
        return
    _, read = operand(inner.of_role("exists") if literal is None else inner, value)
    _note(ctx, "$eq" if name == "$cmp" else name, read, literal)


@handles("$in")
def contains(ctx: Context, name: str, spec: Any) -> Type:
    """Look for a value in an array."""
    args = positional(spec)
    if len(args) == 2 and is_constant(args[1]) and not is_constant(args[0]):
        _, read = operand(ctx.at("[0]"), args[0])
        _note(ctx, "$in", read, constant(args[1]))
    elif len(args) == 2 and is_constant(args[0]) and not is_constant(args[1]):
        _compare_items(ctx, "$eq", ctx.at("[1]"), args[1], constant(args[0]))
    else:
        note_join(ctx, name, [evaluate_read(ctx.at(f"[{index}]"), arg)[1] for index, arg in enumerate(args)])
    return computed({Kind.BOOL})


def _compare_items(ctx: Context, operator: str, inner: Context, value: Any, literal: Any) -> Type:
    """Note that a literal is compared with the items of an array."""
    type_, read = operand(inner, value)
    if read.status in (ReadStatus.STORED, ReadStatus.COMPUTED) and Kind.ARRAY in type_.kinds:
        read = read_of_type(inner, read.text, type_.item)
    _note(ctx, operator, read, literal)
    return type_


@handles("$indexOfArray")
def index_of(ctx: Context, name: str, spec: Any) -> Type:
    """Look for the position of a value in an array."""
    args = positional(spec)
    if len(args) >= 2 and is_constant(args[1]) and not is_constant(args[0]):
        _compare_items(ctx, "$eq", ctx.at("[0]"), args[0], constant(args[1]))
    else:
        arguments(ctx, spec)
    return computed({Kind.INT, Kind.NULL})


@handles("$setIntersection", "$setDifference", "$setIsSubset", "$setUnion", "$setEquals")
def set_operation(ctx: Context, name: str, spec: Any) -> Type:
    """Join sets, where a constant one is compared with the items of the other."""
    args = positional(spec)
    constants = [is_constant(arg) for arg in args]
    given = constant(args[constants.index(True)]) if True in constants else None
    if name != "$setUnion" and given and len(args) == 2 and constants[0] != constants[1]:
        side = constants.index(False)
        type_ = _compare_items(ctx, "$in", ctx.at(f"[{side}]"), args[side], given)
        types = [type_, literal_type(given)] if side == 0 else [literal_type(given), type_]
    else:
        types = arguments(ctx, spec)
    return _set_result(name, types)


def _set_result(name: str, types: list[Type]) -> Type:
    if name in ("$setIsSubset", "$setEquals"):
        return computed({Kind.BOOL})
    kept = types[:1] if name in ("$setDifference", "$setIntersection") else types
    return unite(array_of(unite_all(t.item for t in kept)), NULL)


@handles("$regexMatch", "$regexFind", "$regexFindAll")
def pattern(ctx: Context, name: str, spec: Any) -> Type:
    """Look for a pattern in a text."""
    parts = as_object(spec) or {}
    regex = parts.get("regex")
    if regex is not None and (is_pattern(regex) or is_constant(regex)):
        _, read = operand(ctx.at("input"), parts.get("input"))
        _note(ctx, "$regex", read, with_options(constant(regex), {"$options": parts.get("options")}))
    else:
        named_arguments(ctx, spec)
    if name == "$regexMatch":
        return computed({Kind.BOOL})
    text = computed({Kind.STRING})
    match = record({"match": text, "idx": computed({Kind.INT}), "captures": array_of(unite(text, NULL))})
    return array_of(match) if name == "$regexFindAll" else unite(match, NULL)


def note_join(ctx: Context, name: str, reads: list[Read | None]) -> None:
    """Note that a field of a joined container is compared with a variable of the outer one."""
    lets = ctx.pipeline.lets
    if not lets or name not in ("$eq", "$in") or len(reads) != 2:
        return
    for inner, outer in (reads, reversed(reads)):
        if inner is None or outer is None or inner.text.startswith("$$"):
            continue
        variable = outer.text[2:].split(".", 1)[0] if outer.text.startswith("$$") else ""
        if variable in lets:
            ctx.pipeline.pairs.append((lets[variable], inner))
