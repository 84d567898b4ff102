"""Stages that order documents or look at their neighbours: sort, windows, fill, densify, nearness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groundql.core.kind import NOTHING, Kind
from groundql.languages.flow.accumulators import accumulate
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import evaluate
from groundql.languages.flow.literals import as_list, as_object, operator_of
from groundql.languages.flow.match import follow_match
from groundql.languages.flow.paths import Manner
from groundql.languages.flow.reading import read_field
from groundql.languages.flow.shapes import with_field
from groundql.languages.flow.types import ANY, Type, computed, of_kinds, optional, unite


def follow_sort(ctx: Context, spec: Any) -> Type:
    """Follow `$sort`; a `$meta` key reads no field."""
    for name, order in (as_object(spec) or {}).items():
        if not operator_of(order):
            read_field(ctx.at(name).of_role("sort"), name, Manner.MATCH)
    return ctx.current


def follow_window(ctx: Context, spec: Any) -> Type:
    """Follow `$setWindowFields`."""
    parts = as_object(spec) or {}
    if parts.get("partitionBy") is not None:
        evaluate(ctx.at("partitionBy").of_role("group"), parts["partitionBy"])
    follow_sort(ctx.at("sortBy"), parts.get("sortBy"))
    result = ctx.current
    for name, value in (as_object(parts.get("output")) or {}).items():
        function = {key: part for key, part in (as_object(value) or {}).items() if key != "window"}
        type_ = accumulate(ctx.at(f"output.{name}"), function)
        result = with_field(result, tuple(name.split(".")), unite(type_, computed({Kind.NULL})))
    return result


def follow_fill(ctx: Context, spec: Any) -> Type:
    """Follow `$fill`."""
    parts = as_object(spec) or {}
    if "partitionBy" in parts:
        evaluate(ctx.at("partitionBy").of_role("group"), parts["partitionBy"])
    _read_names(ctx.at("partitionByFields").of_role("group"), parts.get("partitionByFields"))
    follow_sort(ctx.at("sortBy"), parts.get("sortBy"))
    result = ctx.current
    for name, value in (as_object(parts.get("output")) or {}).items():
        result = _filled(ctx.at(f"output.{name}"), result, name, as_object(value) or {})
    return result


def _filled(ctx: Context, result: Type, name: str, how: Mapping[str, Any]) -> Type:
    before, _ = read_field(ctx.of_role("exists"), name, Manner.PROJECTION)
    value = evaluate(ctx.at("value"), how["value"]) if "value" in how else None
    if before.is_unknown:
        return with_field(result, tuple(name.split(".")), value if value is not None else ANY)
    type_ = of_kinds(before, before.kinds - NOTHING)
    filled = unite(type_, value) if value is not None else of_kinds(type_, type_.kinds | {Kind.NULL})
    return with_field(result, tuple(name.split(".")), filled)


def _read_names(ctx: Context, names: Any) -> None:
    for name in as_list(names) or []:
        if isinstance(name, str):
            read_field(ctx.at(name), name, Manner.PROJECTION)


def follow_densify(ctx: Context, spec: Any) -> Type:
    """Follow `$densify`: the documents it adds hold the field and the partition's fields alone."""
    parts = as_object(spec) or {}
    field = parts.get("field")
    if not isinstance(field, str):
        return ctx.current
    read_field(ctx.at("field"), field, Manner.PROJECTION)
    _read_names(ctx.at("partitionByFields").of_role("group"), parts.get("partitionByFields"))
    range_ = as_object(parts.get("range")) or {}
    ctx.ledger.add_literal([range_.get("step"), as_list(range_.get("bounds"))])
    keys = {name.split(".")[0] for name in [field, *(as_list(parts.get("partitionByFields")) or [])] if _is_name(name)}
    fields = {name: type_ if name in keys else optional(type_) for name, type_ in ctx.current.fields.items()}
    return replace(ctx.current, fields=fields)


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


def follow_geo_near(ctx: Context, spec: Any) -> Type:
    """Follow `$geoNear`."""
    parts = as_object(spec) or {}
    if isinstance(parts.get("key"), str):
        read_field(ctx.at("key"), parts["key"], Manner.MATCH)
    follow_match(ctx.at("query").of_role("match").filtering(), parts.get("query"))
    ctx.ledger.add_literal([parts.get("maxDistance"), parts.get("minDistance")])
    result = ctx.current
    for option, type_ in (("distanceField", computed({Kind.DOUBLE})), ("includeLocs", ANY)):
        name = parts.get(option)
        if isinstance(name, str) and name:
            result = with_field(result, tuple(name.split(".")), type_)
    return result


def follow_vector_search(ctx: Context, spec: Any) -> Type:
    """Follow `$vectorSearch`."""
    parts = as_object(spec) or {}
    if isinstance(parts.get("path"), str):
        read_field(ctx.at("path"), parts["path"], Manner.MATCH)
    follow_match(ctx.at("filter").of_role("match").filtering(), parts.get("filter"))
    return ctx.current
