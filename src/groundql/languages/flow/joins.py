"""Stages that bring in another container's documents: lookup, graphLookup, unionWith."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.core.program import JoinClaim, Read, ReadStatus
from groundql.languages.flow.context import Context, Pipeline
from groundql.languages.flow.evaluation import evaluate_read
from groundql.languages.flow.literals import as_list, as_object
from groundql.languages.flow.match import follow_match
from groundql.languages.flow.paths import Manner
from groundql.languages.flow.reading import read_field
from groundql.languages.flow.shapes import with_field
from groundql.languages.flow.types import OPEN, Type, array_of, computed, container_type, unite

Follow = Callable[[Context, Sequence[Any]], Type]
"""Follow the stages of a pipeline within a stage; return the type of the documents that come out."""


def follow_lookup(ctx: Context, spec: Any, follow_stages: Follow) -> Type:
    """Follow `$lookup` in all its forms."""
    parts = as_object(spec) or {}
    name, source = _source(ctx, parts.get("from"))
    foreign = _foreign_context(ctx, name, source)
    local_read, foreign_read = _equality(ctx, foreign, parts)
    variables, lets = _lets(ctx.at("let"), parts.get("let"))
    foreign.pipeline.lets = lets
    result = source
    stages = as_list(parts.get("pipeline"))
    if stages is not None:
        result = follow_stages(foreign.at("pipeline").binding(variables), stages)
    _note_joins(ctx, name, local_read, foreign_read, foreign.pipeline.pairs)
    is_single = stages is None and _is_single(local_read, foreign_read)
    return _joined(ctx, parts.get("as"), result, 1 if is_single else None)


def _joined(ctx: Context, name: Any, item: Type, high: int | None = None) -> Type:
    if not isinstance(name, str) or not name:
        return OPEN
    return with_field(ctx.current, tuple(name.split(".")), replace(array_of(item), high=high))


def _is_single(local: Read | None, foreign: Read | None) -> bool:
    """Tell whether at most one document can match: by its `_id`, and one value to look up."""
    is_id = foreign is not None and foreign.status is ReadStatus.STORED and foreign.path == Path(("_id",))
    return is_id and local is not None and Kind.ARRAY not in local.kinds


def _source(ctx: Context, name: Any) -> tuple[str, Type]:
    """Return the joined container and the type of its documents; a join without one brings its own documents."""
    name = (as_object(name) or {}).get("coll", name)
    if not isinstance(name, str):
        return "", OPEN
    ctx.ledger.containers.add(name)
    return name, container_type(ctx.pipeline.catalog, name)


def _foreign_context(ctx: Context, name: str, source: Type) -> Context:
    here = ctx.pipeline
    pipeline = Pipeline(
        here.catalog, here.ledger, name, here.stage, here.operator, (source,), documents=source, outer=ctx.current
    )
    return replace(ctx, pipeline=pipeline, current=source)


def _equality(ctx: Context, foreign: Context, parts: Any) -> tuple[Read | None, Read | None]:
    reads: list[Read | None] = [None, None]
    for index, (place, option) in enumerate(((ctx, "localField"), (foreign, "foreignField"))):
        name = parts.get(option)
        if isinstance(name, str):
            reads[index] = _join_read(place.at(option), name)
    return reads[0], reads[1]


def _join_read(ctx: Context, name: str) -> Read:
    return read_field(ctx.of_role("lookup"), name, Manner.MATCH)[1]


def _lets(ctx: Context, let: Any) -> tuple[dict[str, Type], dict[str, Read | None]]:
    types: dict[str, Type] = {}
    reads: dict[str, Read | None] = {}
    for name, value in (as_object(let) or {}).items():
        types[name], reads[name] = evaluate_read(ctx.at(name).of_role("lookup"), value)
    return types, reads


def _note_joins(
    ctx: Context, name: str, local: Read | None, foreign: Read | None, pairs: list[tuple[Read | None, Read]]
) -> None:
    if not name:
        return
    found = [(local, foreign)] if local is not None or foreign is not None else []
    for outer, inner in [*found, *pairs] or [(None, None)]:
        ctx.ledger.joins.append(
            JoinClaim(ctx.place, _container_of(ctx, outer), _stored(outer), name, _stored(inner), ctx.place.operator)
        )


def _container_of(ctx: Context, read: Read | None) -> str:
    return read.container if read is not None and read.container else ctx.pipeline.container


def _stored(read: Read | None) -> Read | None:
    return read if read is not None and read.status is ReadStatus.STORED else None


def follow_graph_lookup(ctx: Context, spec: Any) -> Type:
    """Follow `$graphLookup`."""
    parts = as_object(spec) or {}
    name, source = _source(ctx, parts.get("from"))
    foreign = _foreign_context(ctx, name, source)
    _, start = evaluate_read(ctx.at("startWith").of_role("lookup"), parts.get("startWith"))
    for option in ("connectFromField", "connectToField"):
        if isinstance(parts.get(option), str):
            read = _join_read(foreign.at(option), parts[option])
            if option == "connectToField":
                _note_joins(ctx, name, start, read, [])
    match = foreign.at("restrictSearchWithMatch").of_role("match").filtering()
    follow_match(match, parts.get("restrictSearchWithMatch"))
    ctx.ledger.add_literal(parts.get("maxDepth"))
    depth = parts.get("depthField")
    if isinstance(depth, str) and depth:
        source = with_field(source, tuple(depth.split(".")), computed({Kind.LONG}))
    return _joined(ctx, parts.get("as"), source)


def follow_union(ctx: Context, spec: Any, follow_stages: Follow) -> Type:
    """Follow `$unionWith`."""
    parts = as_object(spec) or {"coll": spec}
    name, source = _source(ctx, parts.get("coll"))
    stages = as_list(parts.get("pipeline"))
    foreign = _foreign_context(ctx, name, source)
    foreign.pipeline.outer = None
    result = follow_stages(foreign.at("pipeline"), stages) if stages is not None else source
    return unite(ctx.current, result)


def follow_facet(ctx: Context, spec: Any, follow_stages: Follow) -> dict[str, Type]:
    """Follow each pipeline of a `$facet` or the like over the same documents."""
    here = ctx.pipeline
    found: dict[str, Type] = {}
    for name, stages in (as_object(spec) or {}).items():
        pipeline = replace(here, history=here.history)
        found[name] = follow_stages(replace(ctx.at(name), pipeline=pipeline), as_list(stages) or [])
    return found
