"""Expressions that choose, bind and convert."""

from __future__ import annotations

from typing import Any

from groundql.core.kind import NOTHING, Kind
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import arguments, evaluate, handles, named_arguments, note_literal, positional
from groundql.languages.flow.literals import LITERALS, as_list, as_object, operator_of
from groundql.languages.flow.results import CONVERSIONS
from groundql.languages.flow.types import ANY, Type, computed, of_kinds, record, unite_all


@handles(*LITERALS)
def literal(ctx: Context, name: str, spec: Any) -> Type:
    """Take the argument as it stands."""
    return note_literal(ctx, spec)


@handles("$let")
def let(ctx: Context, name: str, spec: Any) -> Type:
    """Bind variables, each evaluated outside of the others' scope."""
    parts = as_object(spec) or {}
    given = as_object(parts.get("vars")) or {}
    bound = {variable: evaluate(ctx.at(f"vars.{variable}"), value) for variable, value in given.items()}
    return evaluate(ctx.at("in").binding(bound), parts.get("in"))


@handles("$ifNull")
def if_null(ctx: Context, name: str, spec: Any) -> Type:
    """Take the first argument that is something."""
    args = positional(spec)
    if len(args) < 2:
        return unite_all(arguments(ctx, spec) or [ANY])
    types = [evaluate(ctx.at(f"[{index}]").of_role("exists"), arg) for index, arg in enumerate(args[:-1])]
    last = evaluate(ctx.at(f"[{len(args) - 1}]"), args[-1])
    return unite_all([*(t if t.is_unknown else of_kinds(t, t.kinds - NOTHING) for t in types), last])


@handles("$cond")
def cond(ctx: Context, name: str, spec: Any) -> Type:
    """Take one of two branches."""
    parts = as_object(spec)
    if parts is not None and not operator_of(parts):
        tests, branches = [("if", parts.get("if"))], [(step, parts[step]) for step in ("then", "else") if step in parts]
    else:
        args = [(f"[{index}]", arg) for index, arg in enumerate(positional(spec))]
        tests, branches = args[:1], args[1:]
    for step, test in tests:
        evaluate(ctx.at(step), test)
    return unite_all(evaluate(ctx.at(step), branch) for step, branch in branches)


@handles("$switch")
def switch(ctx: Context, name: str, spec: Any) -> Type:
    """Take one of many branches."""
    parts = as_object(spec) or {}
    results: list[Type] = []
    for index, branch in enumerate(as_list(parts.get("branches")) or []):
        case = as_object(branch) or {}
        evaluate(ctx.at(f"branches[{index}].case"), case.get("case"))
        results.append(evaluate(ctx.at(f"branches[{index}].then"), case.get("then")))
    if "default" in parts:
        results.append(evaluate(ctx.at("default"), parts["default"]))
    return unite_all(results)


@handles("$and", "$or", "$not")
def logic(ctx: Context, name: str, spec: Any) -> Type:
    """Join truth values."""
    arguments(ctx, spec)
    return computed({Kind.BOOL})


@handles("$type")
def type_of(ctx: Context, name: str, spec: Any) -> Type:
    """Name the type of a value, `missing` included."""
    arguments(ctx.of_role("exists"), spec)
    return computed({Kind.STRING})


@handles("$convert")
def convert(ctx: Context, name: str, spec: Any) -> Type:
    """Convert to the kind named by `to`."""
    parts = dict(as_object(spec) or {})
    to = parts.pop("to", None)
    target = (as_object(to) or {}).get("type", to)
    args = named_arguments(ctx, parts)
    kinds = CONVERSIONS.get(str(target))
    if kinds is None:
        return ANY
    return unite_all([_or_null(kinds, args, "input"), *_fallbacks(args)])


@handles("$dateFromString", "$dateToString")
def date_text(ctx: Context, name: str, spec: Any) -> Type:
    """Read a date from text, or write one."""
    args = named_arguments(ctx, spec)
    reads = name == "$dateFromString"
    result = _or_null(frozenset({Kind.DATE if reads else Kind.STRING}), args, "dateString" if reads else "date")
    return unite_all([result, *_fallbacks(args)])


def _or_null(kinds: frozenset[Kind], args: dict[str, Type], source: str) -> Type:
    is_null = "onNull" not in args and bool(args.get(source, ANY).kinds & NOTHING)
    return computed(kinds | {Kind.NULL} if is_null else kinds)


def _fallbacks(args: dict[str, Type]) -> list[Type]:
    return [args[key] for key in ("onError", "onNull") if key in args]


@handles("$dateToParts")
def date_parts(ctx: Context, name: str, spec: Any) -> Type:
    """Take a date apart."""
    named_arguments(ctx, spec)
    names = [
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "millisecond",
        "isoWeekYear",
        "isoWeek",
        "isoDayOfWeek",
    ]
    return record({part: computed({Kind.INT, Kind.MISSING}) for part in names})


@handles("$dateFromParts")
def date_from_parts(ctx: Context, name: str, spec: Any) -> Type:
    """Put a date together from named parts."""
    args = named_arguments(ctx, spec)
    is_null = any(t.kinds & NOTHING for t in args.values())
    return computed({Kind.DATE, Kind.NULL} if is_null else {Kind.DATE})
