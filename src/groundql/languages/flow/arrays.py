"""Expressions over arrays: scopes for their items, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groundql.core.kind import NOTHING, Kind
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import arguments, evaluate, handles, named_arguments, positional
from groundql.languages.flow.ledger import Ledger
from groundql.languages.flow.literals import as_list, as_object
from groundql.languages.flow.reading import read_below
from groundql.languages.flow.results import fraction_result, widest
from groundql.languages.flow.types import (
    ANY,
    NULL,
    Type,
    array_of,
    computed,
    nullable,
    of_kinds,
    optional,
    present,
    unite,
    unite_all,
)


def _array_or_null(item: Type, source: Type) -> Type:
    array = array_of(item)
    return unite(array, NULL) if source.kinds & NOTHING else array


@handles("$map")
def map_items(ctx: Context, name: str, spec: Any) -> Type:
    """Compute something of every item."""
    parts = as_object(spec) or {}
    source = evaluate(ctx.at("input"), parts.get("input"))
    bound = {str(parts.get("as", "this")): source.item}
    result = evaluate(ctx.at("in").binding(bound), parts.get("in"))
    return _array_or_null(nullable(result), source)


@handles("$filter")
def filter_items(ctx: Context, name: str, spec: Any) -> Type:
    """Keep the items that pass a condition."""
    parts = as_object(spec) or {}
    source = evaluate(ctx.at("input"), parts.get("input"))
    bound = {str(parts.get("as", "this")): source.item}
    evaluate(ctx.at("cond").binding(bound).filtering(), parts.get("cond"))
    if "limit" in parts:
        evaluate(ctx.at("limit"), parts["limit"])
    return _array_or_null(source.item, source)


@handles("$reduce")
def reduce_items(ctx: Context, name: str, spec: Any) -> Type:
    """Fold the items: once on trial to learn what the value becomes, then for the record."""
    parts = as_object(spec) or {}
    source = evaluate(ctx.at("input"), parts.get("input"))
    item = source.item
    value = evaluate(ctx.at("initialValue"), parts.get("initialValue"))
    inner = ctx.at("in")
    if not ctx.ledger.is_scratch:
        trial = replace(inner, pipeline=replace(ctx.pipeline, ledger=Ledger(is_scratch=True)))
        grown = evaluate(trial.binding({"this": item, "value": value}), parts.get("in"))
        value = unite(value, grown)
    result = unite(value, evaluate(inner.binding({"this": item, "value": value}), parts.get("in")))
    return unite(nullable(result), NULL) if source.kinds & NOTHING else nullable(result)


@handles("$arrayElemAt", "$first", "$last")
def element(ctx: Context, name: str, spec: Any) -> Type:
    """Take one item."""
    args = positional(spec)
    source = evaluate(ctx.at("[0]") if len(args) > 1 else ctx, args[0]) if args else ANY
    for index, arg in enumerate(args[1:], 1):
        evaluate(ctx.at(f"[{index}]"), arg)
    if source.is_unknown or source.items is None:
        return ANY
    item = optional(source.item)
    return unite(item, NULL) if source.kinds & NOTHING else item


@handles("$firstN", "$lastN", "$minN", "$maxN")
def some_items(ctx: Context, name: str, spec: Any) -> Type:
    """Take some items."""
    source = named_arguments(ctx, spec).get("input", ANY)
    return array_of(source.item)


@handles("$slice", "$reverseArray")
def same_array(ctx: Context, name: str, spec: Any) -> Type:
    """Return an array with the same items, fewer or in another order."""
    types = arguments(ctx, spec)
    source = types[0] if types else ANY
    return _array_or_null(source.item, source)


@handles("$sortArray")
def sort_items(ctx: Context, name: str, spec: Any) -> Type:
    """Sort an array by fields of its items."""
    parts = as_object(spec) or {}
    source = evaluate(ctx.at("input"), parts.get("input"))
    keys = as_object(parts.get("sortBy"))
    if keys is not None:
        read_keys(ctx.at("sortBy"), keys, source.item)
    return _array_or_null(source.item, source)


def read_keys(ctx: Context, keys: Mapping[str, Any], start: Type) -> None:
    """Note the reads of sort keys in values of a type."""
    for key in keys:
        read_below(ctx.at(key).of_role("sort"), key, start, tuple(key.split(".")))


@handles("$concatArrays")
def concat(ctx: Context, name: str, spec: Any) -> Type:
    """Put arrays one after another."""
    types = arguments(ctx, spec)
    array = array_of(unite_all(t.item for t in types))
    return unite(array, NULL) if any(t.kinds & NOTHING for t in types) else array


@handles("$zip")
def zip_arrays(ctx: Context, name: str, spec: Any) -> Type:
    """Pair the items of arrays."""
    parts = as_object(spec) or {}
    inputs = parts.get("inputs")
    types = [evaluate(ctx.at(f"inputs[{i}]"), arg) for i, arg in enumerate(as_list(inputs) or [inputs])]
    defaults = evaluate(ctx.at("defaults"), parts["defaults"]).item if "defaults" in parts else NULL
    array = array_of(array_of(unite_all([*(t.item for t in types), defaults])))
    return unite(array, NULL) if any(t.kinds & NOTHING for t in types) else array


@handles("$split", "$range")
def made_array(ctx: Context, name: str, spec: Any) -> Type:
    """Make an array of texts or numbers."""
    types = arguments(ctx, spec)
    array = array_of(computed({Kind.STRING} if name == "$split" else {Kind.INT, Kind.LONG}))
    return unite(array, NULL) if any(t.kinds & NOTHING for t in types[:1]) else array


@handles("$min", "$max")
def extreme(ctx: Context, name: str, spec: Any) -> Type:
    """Take the least or greatest of the arguments, or of the items of a single one."""
    items = as_list(spec)
    if items is not None and len(items) != 1:
        return unite(unite_all(present(t) for t in arguments(ctx, spec)), NULL)
    single = evaluate(ctx, items[0] if items else spec)
    if single.is_unknown:
        return ANY
    rest = single.kinds - {Kind.ARRAY, Kind.MISSING}
    parts = [single.item] if Kind.ARRAY in single.kinds else []
    return unite(unite_all([*parts, of_kinds(single, rest)] if rest or not parts else parts), NULL)


@handles("$sum", "$avg")
def total(ctx: Context, name: str, spec: Any) -> Type:
    """Add up the arguments, or the items of a single one."""
    types = arguments(ctx, spec)
    if len(types) == 1 and Kind.ARRAY in types[0].kinds:
        types = [types[0].item]
    return sum_result(name, types)


def sum_result(name: str, types: list[Type]) -> Type:
    """Return the type of a sum or mean; what is not a number is left out by the server."""
    if name == "$avg":
        return fraction_result(types)
    return computed(widest(frozenset(kind for type_ in types for kind in type_.kinds)) | {Kind.INT})


@handles("$median", "$percentile")
def quantile(ctx: Context, name: str, spec: Any) -> Type:
    """Estimate quantiles."""
    named_arguments(ctx, spec)
    value = computed({Kind.DOUBLE, Kind.NULL})
    return value if name == "$median" else array_of(value)
