"""Stages that put documents together: group, bucket, count."""

from __future__ import annotations

from typing import Any

from groundql.core.kind import Kind
from groundql.languages.flow.accumulators import accumulate
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import evaluate
from groundql.languages.flow.literals import as_list, as_object, literal_type
from groundql.languages.flow.types import Type, computed, nullable, record, unite_all


def follow_group(ctx: Context, spec: Any) -> Type:
    """Follow `$group`."""
    parts = as_object(spec) or {}
    fields = {"_id": nullable(_key(ctx.at("_id"), parts.get("_id")))}
    fields.update(_accumulated(ctx, {name: value for name, value in parts.items() if name != "_id"}))
    return record(fields)


def _key(ctx: Context, value: Any) -> Type:
    """Evaluate a group key; a constant key is no literal of the question's."""
    return evaluate(ctx.of_role("group"), value) if value is not None else literal_type(None)


def _accumulated(ctx: Context, parts: Any) -> dict[str, Type]:
    fields: dict[str, Type] = {}
    for name, value in (as_object(parts) or {}).items():
        fields[name] = accumulate(ctx.at(name), value)
    return fields


def follow_bucket(ctx: Context, spec: Any) -> Type:
    """Follow `$bucket`."""
    parts = as_object(spec) or {}
    evaluate(ctx.at("groupBy").of_role("group"), parts.get("groupBy"))
    bounds = [evaluate(ctx.at("boundaries"), bound) for bound in as_list(parts.get("boundaries")) or []]
    other = [evaluate(ctx.at("default"), parts["default"])] if "default" in parts else []
    return record({"_id": unite_all([*bounds, *other]), **_outputs(ctx, parts)})


def follow_bucket_auto(ctx: Context, spec: Any) -> Type:
    """Follow `$bucketAuto`."""
    parts = as_object(spec) or {}
    key = nullable(evaluate(ctx.at("groupBy").of_role("group"), parts.get("groupBy")))
    ctx.ledger.add_literal(parts.get("buckets"))
    return record({"_id": record({"min": key, "max": key}), **_outputs(ctx, parts)})


def _outputs(ctx: Context, parts: Any) -> dict[str, Type]:
    output = as_object((as_object(parts) or {}).get("output"))
    return _accumulated(ctx.at("output"), output) if output else {"count": computed({Kind.INT, Kind.LONG})}


def follow_sort_by_count(ctx: Context, spec: Any) -> Type:
    """Follow `$sortByCount`."""
    key = nullable(evaluate(ctx.of_role("group"), spec))
    return record({"_id": key, "count": computed({Kind.INT, Kind.LONG})})


def follow_count(ctx: Context, spec: Any) -> Type:
    """Follow `$count`."""
    return record({str(spec): computed({Kind.INT, Kind.LONG})})
