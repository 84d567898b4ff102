"""Follow the stages of a pipeline one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from groundql.core.kind import Kind
from groundql.core.program import Read, ReadStatus
from groundql.languages.flow.context import MAX_DEPTH, Context, Pipeline
from groundql.languages.flow.evaluation import evaluate
from groundql.languages.flow.grouping import (
    follow_bucket,
    follow_bucket_auto,
    follow_count,
    follow_group,
    follow_sort_by_count,
)
from groundql.languages.flow.joins import follow_facet, follow_graph_lookup, follow_lookup, follow_union
from groundql.languages.flow.later import defined_later
from groundql.languages.flow.literals import as_number, as_object, operator_of
from groundql.languages.flow.match import follow_match
from groundql.languages.flow.reshape import (
    documents_type,
    follow_add,
    follow_project,
    follow_replace,
    follow_unset,
    follow_unwind,
)
from groundql.languages.flow.series import (
    follow_densify,
    follow_fill,
    follow_geo_near,
    follow_sort,
    follow_vector_search,
    follow_window,
)
from groundql.languages.flow.types import OPEN, Type, array_of, optional, record

Handler = Callable[[Context, Any], Type]
"""(place with the documents that come in, the stage's argument) -> the documents that go on."""


def follow_stages(ctx: Context, stages: Sequence[Any]) -> Type:
    """Follow the pipeline of a stage; return the type of the documents that come out."""
    pipeline, current = ctx.pipeline, ctx.current
    if ctx.depth > MAX_DEPTH:
        return OPEN
    for index, stage in enumerate(stages):
        pipeline.documents, pipeline.later = current, partial(defined_later, stages, index)
        current = follow_stage(ctx.at(f"[{index}]").over(current), stage)
        pipeline.history = (*pipeline.history, current)
    return current


def follow_root(pipeline: Pipeline, current: Type, stages: Sequence[Any]) -> Type:
    """Follow the stages of the program itself."""
    for index, stage in enumerate(stages):
        pipeline.stage, pipeline.operator = index, operator_of(stage)
        pipeline.documents, pipeline.later = current, partial(defined_later, stages, index)
        current = follow_stage(Context(pipeline, current), stage)
        pipeline.history = (*pipeline.history, current)
    return current


def follow_stage(ctx: Context, stage: Any) -> Type:
    """Return the type of the documents that a stage passes on; open for a stage that is not known."""
    name = operator_of(stage)
    if not name:
        return OPEN
    ctx.ledger.operators.add(name)
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(ctx.at(name), (as_object(stage) or {})[name])
    if name not in _ELSEWHERE:
        ctx.ledger.unknown_operators.add(name)
    return OPEN


_ELSEWHERE: Final = frozenset(
    [
        "$searchMeta",
        "$collStats",
        "$indexStats",
        "$planCacheStats",
        "$currentOp",
        "$listSessions",
        "$listLocalSessions",
        "$listSampledQueries",
        "$listSearchIndexes",
        "$listClusterCatalog",
        "$querySettings",
        "$shardedDataDistribution",
        "$changeStream",
        "$changeStreamSplitLargeEvent",
    ]
)
"""Known stages that pass on documents of the server's own making."""


def _pass(ctx: Context, spec: Any) -> Type:
    return ctx.current


def _match(ctx: Context, spec: Any) -> Type:
    follow_match(ctx.of_role("match").filtering(), spec)
    return ctx.current


def _amount(ctx: Context, spec: Any) -> Type:
    """Follow `$limit`, `$skip` and `$sample`."""
    ctx.ledger.add_literal(spec)
    number = as_number(spec)
    if ctx.pointer == "$limit" and number is not None and number.is_integer():
        ctx.ledger.limits.append((ctx.place, int(number)))
    return ctx.current


def _replace_root(ctx: Context, spec: Any) -> Type:
    return follow_replace(ctx.at("newRoot"), (as_object(spec) or {}).get("newRoot"))


def _unwind(ctx: Context, spec: Any) -> Type:
    result, read, array = follow_unwind(ctx, spec)
    if read is not None and ctx.pointer == "$unwind" and _can_multiply(ctx, read, array):
        ctx.ledger.multiplies.append(_with_place(read, array.item))
    return result


def _with_place(read: Read, item: Type) -> Read:
    """Name the stored array or map that a computed array was made of."""
    value = item.fields.get("v", item) if set(item.fields) == {"k", "v"} else item
    stored = value.stored
    if read.path is not None or stored is None or not stored.path.steps:
        return read
    return replace(read, container=stored.container, path=stored.path)


def _can_multiply(ctx: Context, read: Read, array: Type) -> bool:
    if Kind.ARRAY not in array.kinds or read.status not in (ReadStatus.STORED, ReadStatus.COMPUTED):
        return False
    return array.high is None or array.high > 1


def _redact(ctx: Context, spec: Any) -> Type:
    """Follow `$redact`, which is evaluated anew in every embedded object, where other fields are."""
    evaluate(ctx.filtering().quiet(), spec)
    return replace(ctx.current, fields={name: optional(part) for name, part in ctx.current.fields.items()})


def _documents(ctx: Context, spec: Any) -> Type:
    return documents_type(ctx.over(record({})), spec)


def _lookup(ctx: Context, spec: Any) -> Type:
    return follow_lookup(ctx, spec, follow_stages)


def _union(ctx: Context, spec: Any) -> Type:
    return follow_union(ctx, spec, follow_stages)


def _facet(ctx: Context, spec: Any) -> Type:
    return record({name: array_of(type_) for name, type_ in follow_facet(ctx, spec, follow_stages).items()})


def _fusion(ctx: Context, spec: Any) -> Type:
    """Follow `$rankFusion` and `$scoreFusion`: pipelines that choose among the documents that come in."""
    inputs = as_object((as_object(spec) or {}).get("input")) or {}
    follow_facet(ctx.at("input.pipelines"), inputs.get("pipelines"), follow_stages)
    return ctx.current


_HANDLERS: Final[Mapping[str, Handler]] = {
    "$match": _match,
    "$project": follow_project,
    "$addFields": follow_add,
    "$set": follow_add,
    "$unset": follow_unset,
    "$replaceRoot": _replace_root,
    "$replaceWith": follow_replace,
    "$unwind": _unwind,
    "$group": follow_group,
    "$bucket": follow_bucket,
    "$bucketAuto": follow_bucket_auto,
    "$sortByCount": follow_sort_by_count,
    "$count": follow_count,
    "$sort": follow_sort,
    "$setWindowFields": follow_window,
    "$fill": follow_fill,
    "$densify": follow_densify,
    "$geoNear": follow_geo_near,
    "$vectorSearch": follow_vector_search,
    "$lookup": _lookup,
    "$graphLookup": follow_graph_lookup,
    "$unionWith": _union,
    "$facet": _facet,
    "$rankFusion": _fusion,
    "$scoreFusion": _fusion,
    "$redact": _redact,
    "$documents": _documents,
    **dict.fromkeys(("$limit", "$skip", "$sample"), _amount),
    **dict.fromkeys(("$search", "$score", "$out", "$merge"), _pass),
}
"""Every stage of MongoDB 8 that reads or reshapes documents."""


def known_stages() -> frozenset[str]:
    """List the stages that are known."""
    return frozenset(_HANDLERS) | _ELSEWHERE
