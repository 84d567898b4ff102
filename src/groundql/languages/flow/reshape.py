"""Stages that change the shape of each document: project, add, unset, replace, unwind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from groundql.core.kind import NOTHING, Kind
from groundql.core.program import Read, ReadStatus
from groundql.languages.flow.context import MAX_DEPTH, Context
from groundql.languages.flow.evaluation import evaluate
from groundql.languages.flow.literals import as_list, as_object, is_switch, operator_of
from groundql.languages.flow.paths import Found, Manner, follow
from groundql.languages.flow.reading import read_field
from groundql.languages.flow.shapes import Tree, drop_fields, keep_fields, unwound, with_field, with_part, without_field
from groundql.languages.flow.types import OPEN, Type, computed, present, record, unite_all


def leaves(spec: Mapping[str, Any], prefix: str = "", depth: int = MAX_DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield the dotted names of a projection with what is said of each."""
    for name, value in spec.items():
        dotted = f"{prefix}{name}".removesuffix(".$")
        inner = as_object(value)
        if inner and not operator_of(inner) and depth:
            yield from leaves(inner, f"{dotted}.", depth - 1)
        else:
            yield dotted, value


def is_exclusion(spec: Mapping[str, Any]) -> bool:
    """Tell whether a projection names what to leave out."""
    switches = [(name, value) for name, value in leaves(spec) if name != "_id" or len(spec) == 1]
    return bool(switches) and all(is_switch(value) and not value for _, value in switches)


def follow_project(ctx: Context, spec: Any) -> Type:
    """Follow `$project`."""
    fields = as_object(spec)
    if not fields:
        return ctx.current
    if is_exclusion(fields):
        return _exclude(ctx, [name for name, _ in leaves(fields)])
    tree: dict[str, Any] = {} if "_id" in fields or not _has_id(ctx.current) else {"_id": None}
    for name, value in leaves(fields):
        if is_switch(value):
            if value:
                read_field(ctx.at(name).of_role("project"), name, Manner.PROJECTION)
                _plant(tree, name.split("."), None)
        else:
            _plant(tree, name.split("."), compute(ctx.at(name), name, value, "project"))
    return keep_fields(ctx.current, cast("Tree", tree))


def _has_id(type_: Type) -> bool:
    return "_id" in type_.fields or type_.is_open


def _plant(tree: dict[str, Any], steps: list[str], leaf: Type | None) -> None:
    for step in steps[:-1]:
        below = tree.get(step)
        if not isinstance(below, dict):
            below = tree[step] = {}
        tree = cast("dict[str, Any]", below)
    tree[steps[-1]] = leaf


def compute(ctx: Context, target: str, value: Any, role: str = "expr") -> Type:
    """Evaluate what a field is set to, and remember the tests that its value rests on."""
    start = len(ctx.ledger.comparisons)
    is_plain = isinstance(value, str)
    type_ = evaluate(replace(ctx, target=target, role=role if is_plain else "expr"), value)
    if not ctx.is_filter:
        ctx.ledger.note_tests(type_, start)
    return type_


def follow_add(ctx: Context, spec: Any) -> Type:
    """Follow `$addFields` and `$set`: every expression sees the documents as they came in."""
    result = ctx.current
    for name, value in leaves(as_object(spec) or {}):
        type_ = compute(ctx.at(name), name, value)
        steps = tuple(name.split("."))
        if len(steps) > 1 or type_.kinds - {Kind.MISSING}:
            result = with_field(result, steps, type_)
        if type_.kinds <= {Kind.MISSING}:
            result = without_field(result, steps)
    return result


def follow_unset(ctx: Context, spec: Any) -> Type:
    """Follow `$unset`."""
    names = [spec] if isinstance(spec, str) else as_list(spec) or []
    return _exclude(ctx, [name for name in names if isinstance(name, str)])


def _exclude(ctx: Context, names: list[str]) -> Type:
    for name in names:
        if name != "_id" or _has_id(ctx.current):
            read_field(ctx.at(name).of_role("unset"), name, Manner.PROJECTION)
    return drop_fields(ctx.current, [tuple(name.split(".")) for name in names])


def follow_replace(ctx: Context, spec: Any) -> Type:
    """Follow `$replaceRoot` and `$replaceWith`."""
    type_ = evaluate(ctx, spec)
    if type_.is_unknown or Kind.OBJECT not in type_.kinds:
        return OPEN
    return replace(type_, kinds=frozenset({Kind.OBJECT}), items=None)


def follow_unwind(ctx: Context, spec: Any) -> tuple[Type, Read | None, Type]:
    """Follow `$unwind`; return the documents, the read of the array, and its type."""
    options = as_object(spec) or {"path": spec}
    path, index = options.get("path"), options.get("includeArrayIndex")
    if not isinstance(path, str) or not path.startswith("$") or len(path) < 2 or path.startswith("$$"):
        return OPEN, None, OPEN
    inner = ctx.at("path") if "path" in (as_object(spec) or {}) else ctx
    steps = tuple(path[1:].split("."))
    array, read = read_field(inner.of_role("unwind"), path[1:], text=path)
    note = _unwind_note(ctx, array, steps)
    if note and read.status in (ReadStatus.STORED, ReadStatus.COMPUTED):
        ctx.ledger.reads[-1] = read = replace(read, note=note)
    keeps = options.get("preserveNullAndEmptyArrays") is True
    result = ctx.current
    if isinstance(follow(result, steps, Manner.EXPRESSION), Found):
        result = with_part(result, steps, unwound(array, keeps))
    if isinstance(index, str) and index:
        result = with_field(result, tuple(index.split(".")), computed({Kind.LONG, Kind.NULL}))
    return result, read, array


def _unwind_note(ctx: Context, array: Type, steps: tuple[str, ...]) -> str:
    found = follow(ctx.current, steps[:-1], Manner.EXPRESSION)
    if isinstance(found, Found) and not found.type.kinds - NOTHING - {Kind.ARRAY}:
        return f"{'.'.join(steps[:-1])} is an array: unwind it first, or every document is dropped"
    if array.is_unknown or Kind.ARRAY in array.kinds:
        return ""
    if array.entries is not None:
        return "not an array but a map: use $objectToArray first"
    return "not an array"


def documents_type(ctx: Context, spec: Any) -> Type:
    """Return the type of the documents that `$documents` writes out."""
    items = as_list(spec)
    if items is None:
        type_ = evaluate(ctx, spec).item
        return OPEN if type_.is_unknown else type_
    return present(unite_all(evaluate(ctx.at(f"[{i}]"), item) for i, item in enumerate(items)) if items else record({}))
