"""Compile a query to an aggregation.

What a query means:

- *Rows.* A listing has one row for each document, or for each item or entry of the arrays and maps that its columns go
  through. A grouped query has one row for each item or entry that its group keys go through; when all its metrics lie
  at one and the same place at least as deep, one for each item there. Documents without items have no such rows.
- *Filters* decide which rows there are; `semantic/conditions.py` says what they mean on items.
- *Metrics* keep their own grain: `count` counts documents, `count` of a path the values there that are not null, and
  every metric takes each value once in a group, however many rows repeat it. Null and missing values are no values.
- *Group keys*: missing is grouped as null. *Order*: rows without a value come last when ascending; ties fall by the
  other group keys, or by `_id`. Nothing matched: no rows, also for a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from groundql.core.catalog import Catalog, Container
from groundql.core.kind import NOTHING, Kind
from groundql.core.path import Path
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.semantic.comparing import as_denied_query, as_query, flip, test_of
from groundql.semantic.conditions import filters_in, has_negative, put_together, to_query
from groundql.semantic.grouping import Keys, Stages, group_rows
from groundql.semantic.measuring import Measure, check_measurable, is_never_null, measure
from groundql.semantic.query import (
    NEGATIVE_OPS,
    Condition,
    Filter,
    Grain,
    GroupKey,
    Having,
    Metric,
    MetricOp,
    OrderKey,
    SemanticQuery,
)
from groundql.semantic.ref import Ref, field_at, is_always_there, kinds_at
from groundql.semantic.scope import Expr, Scope, field_name
from groundql.semantic.unwinding import Unwound, unwind

_FORMATS: Final = {
    Grain.MONTH: "%Y-%m",
    Grain.WEEK: "%G-W%V",
    Grain.DAY: "%Y-%m-%d",
    Grain.HOUR: "%Y-%m-%dT%H",
}
_MAYBE_NULL: Final = frozenset({MetricOp.AVG, MetricOp.MIN, MetricOp.MAX, MetricOp.FIRST})


def compile_query(query: SemanticQuery, catalog: Catalog) -> MqlProgram:
    """Compile a query to an aggregation over its container.

    Raises: InputError for an unknown container, and where two parts of the query cannot be meant together.
    """
    container = catalog.get(query.container)
    if container is None:
        raise InputError(f"unknown container {query.container!r}")
    stages = _grouped(query, container) if query.is_grouped else _listed(query, container)
    return MqlProgram(container.name, tuple(stages))


def _grouped(query: SemanticQuery, container: Container) -> Stages:
    rows = _rows(query)
    if query.metrics:
        _check_filters(query, Scope.of_documents(container), rows)
    for metric in query.metrics:
        check_measurable(metric, rows)
    reads = [*(k.ref for k in query.group_by), *_metric_refs(query)]
    marked = [hop for home in _homes(query, rows) - {frozenset(rows)} for hop in home]
    unwound = _filtered_rows(query, container, rows, reads, marked)
    if _is_bare_count(query, unwound):
        name = query.metrics[0].name
        return [*unwound.stages, {"$count": name}, *_finish(query, container)]
    in_steps = any(home != frozenset(rows) for home in _homes(query, rows))
    measures = [_measure(m, query, unwound.scope, rows, in_steps=in_steps) for m in query.metrics]
    if not in_steps:
        measures = [replace(m, home=frozenset(rows)) for m in measures]
    keys = Keys({k.name: _key(k, unwound.scope) for k in query.group_by}, _nullable_keys(query, container))
    first: Stages = [{"$sort": {"_id": 1}}] if any(m.op is MetricOp.FIRST for m in query.metrics) else []
    return [*unwound.stages, *first, *group_rows(keys, measures, rows, unwound.marks), *_finish(query, container)]


def _rows(query: SemanticQuery) -> list[Path]:
    """The hops that rows are made of, outermost first."""
    if not query.is_grouped:
        return _hops([c.ref for c in query.select])
    keys = _hops([k.ref for k in query.group_by])
    places = {frozenset(_hops([m.ref] if m.ref else [])) for m in query.metrics}
    if len(places) == 1 and set(keys) <= (place := next(iter(places))):
        return sorted(place, key=len)
    return keys


def _hops(refs: Iterable[Ref]) -> list[Path]:
    return sorted(dict.fromkeys(hop for ref in refs for hop in ref.hops), key=len)


def _homes(query: SemanticQuery, rows: Sequence[Path]) -> set[frozenset[Path]]:
    """The grains that metrics belong to, as far as rows reach; where a group has a document once, the rows' own."""
    if all(Ref(hop, is_key=True) in {k.ref for k in query.group_by} for hop in rows):
        return {frozenset(rows)}
    return {frozenset(m.ref.hops if m.ref else ()) & frozenset(rows) for m in query.metrics}


def _metric_refs(query: SemanticQuery) -> list[Ref]:
    refs = [m.ref for m in query.metrics if m.ref]
    return refs + [f.ref for m in query.metrics for c in m.filters for f in filters_in(c)]


def _touches(condition: Condition, hops: Iterable[Path]) -> bool:
    wanted = set(hops)
    return any(wanted.intersection(f.ref.hops) for f in filters_in(condition))


def _filtered_rows(
    query: SemanticQuery, container: Container, rows: Sequence[Path], reads: Sequence[Ref], marked: Sequence[Path]
) -> Unwound:
    """Filter documents, make rows of them, and filter those."""
    documents = Scope.of_documents(container)
    of_rows = [c for c in query.filters if _touches(c, rows)]
    of_documents = [c for c in query.filters if c not in of_rows]
    before: Stages = [{"$match": to_query(of_documents, documents)}] if of_documents else []
    later = [f.ref for c in of_rows for f in filters_in(c)]
    below = [f.ref for c in query.filters for f in filters_in(c)]
    unwound = unwind(documents, rows, [*reads, *later, *below], marked)
    after: Stages = [{"$match": to_query(of_rows, unwound.scope)}] if of_rows else []
    return Unwound([*before, *unwound.stages, *after], unwound.scope, unwound.marks)


def _measure(metric: Metric, query: SemanticQuery, scope: Scope, rows: Sequence[Path], *, in_steps: bool) -> Measure:
    below = [hop for hop in (metric.ref.hops if metric.ref else ()) if hop not in rows]
    conditions = [c for c in query.filters if _touches(c, below)]
    return measure(metric, scope, rows, conditions, in_steps=in_steps)


def _check_filters(query: SemanticQuery, scope: Scope, rows: Sequence[Path]) -> None:
    """Refuse a denial that would mean one thing for the rows and another for a metric on their items."""
    for hop in rows:
        scope = scope.bind(hop, scope.bound[Path()])
    for group in put_together(query.filters, scope):
        denies = group.denied or (group.hop is None and any(has_negative(c) for c in group.of))
        for metric in query.metrics:
            below = [hop for hop in (metric.ref.hops if metric.ref else ()) if hop not in rows]
            if denies and any(_touches(c, below) for c in group.of):
                raise InputError(
                    f"the filter on {next(filters_in(group.of[0])).ref} denies something, which means one thing for "
                    f"the rows and another for metric {metric.name!r}; move it into that metric's filters"
                )


def _is_bare_count(query: SemanticQuery, unwound: Unwound) -> bool:
    if query.group_by or len(query.metrics) != 1:
        return False
    metric = query.metrics[0]
    return metric.op is MetricOp.COUNT and not metric.filters and _counts_rows(metric, unwound.scope)


def _counts_rows(metric: Metric, scope: Scope) -> bool:
    if metric.ref is None:
        return True
    return scope.open_hop(metric.ref) is None and is_never_null(metric.ref, scope)


def _nullable_keys(query: SemanticQuery, container: Container) -> frozenset[str]:
    return frozenset(k.name for k in query.group_by if not is_always_there(container, k.ref))


def _key(key: GroupKey, scope: Scope) -> Expr:
    value = scope.value(key.ref)
    if key.grain is None:
        return value
    if kinds_at(scope.container, key.ref) - NOTHING != frozenset({Kind.DATE}):
        value = {"$convert": {"input": value, "to": "date", "onError": None, "onNull": None}}
    if key.grain is Grain.YEAR:
        return {"$year": value}
    if key.grain is Grain.QUARTER:
        year = {"$toString": {"$year": value}}
        quarter = {"$toString": {"$ceil": {"$divide": [{"$month": value}, 3]}}}
        return {"$concat": [year, "-Q", quarter]}
    return {"$dateToString": {"date": value, "format": _FORMATS[key.grain]}}


def _finish(query: SemanticQuery, container: Container) -> Stages:
    """Filter, order and cut grouped rows by their columns."""
    stages: Stages = []
    if query.having:
        stages.append({"$match": _having(query.having)})
    order = [(str(o.by), o.desc, _may_be_null(str(o.by), query, container)) for o in query.order_by]
    if order or query.limit:
        ties = [k.name for k in query.group_by if k.name not in {name for name, _, _ in order}]
        stages += _sort([*order, *((name, False, False) for name in ties)])
    return [*stages, *([{"$limit": query.limit}] if query.limit else [])]


def _may_be_null(name: str, query: SemanticQuery, container: Container) -> bool:
    for key in query.group_by:
        if key.name == name:
            return _lacks_values(key.ref, container)
    found = next(m for m in query.metrics if m.name == name)
    return found.op in _MAYBE_NULL and found.ref is not None and _lacks_values(found.ref, container)


def _lacks_values(ref: Ref, container: Container) -> bool:
    """Tell whether null or missing values were seen at a reference."""
    if ref.is_key:
        return False
    steps = ref.path.steps
    above = (field_at(container, Path(steps[: n + 1])) for n in range(len(steps)))
    return any(f is not None and bool(f.kind_set & NOTHING) for f in above)


def _having(conditions: Sequence[Having]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for found in conditions:
        asked = Filter(Ref(Path.of(found.name)), found.op, found.value)
        kinds = frozenset(Kind)
        denied = found.op in NEGATIVE_OPS
        parts.append(
            as_denied_query(found.name, test_of(flip(asked), kinds))
            if denied
            else as_query(found.name, test_of(asked, kinds))
        )
    return parts[0] if len(parts) == 1 else {"$and": parts}


def _sort(order: Sequence[tuple[str, bool, bool]]) -> Stages:
    """Sort by fields: (name, descending, may be null); nulls go last."""
    keys: dict[str, int] = {}
    hidden: dict[str, Any] = {}
    for name, desc, nullable in order:
        if nullable and not desc:
            flag = f"_blank{len(hidden) + 1}"
            hidden[flag] = {"$cond": [{"$gt": [f"${name}", None]}, 0, 1]}
            keys[flag] = 1
        keys[name] = -1 if desc else 1
    if not keys:
        return []
    sort: Stages = [{"$sort": keys}]
    return [{"$set": hidden}, *sort, {"$unset": list(hidden)}] if hidden else sort


def _listed(query: SemanticQuery, container: Container) -> Stages:
    rows = _rows(query)
    ordered = [o.by for o in query.order_by if isinstance(o.by, Ref)]
    unwound = _filtered_rows(query, container, rows, [*(c.ref for c in query.select), *ordered], [])
    for ref in ordered:
        if (hop := unwound.scope.open_hop(ref)) is not None:
            raise InputError(
                f"order_by goes through {hop}, of which a row has many; select a path below {hop}, or group"
            )
    limit: Stages = [{"$limit": query.limit}] if query.limit else []
    columns = {c.name: unwound.scope.value(c.ref) for c in query.select}
    if query.distinct and columns:
        return [*unwound.stages, *_distinct(columns, query, container), *limit]
    order = _order_of_documents(query, unwound.scope)
    project: Stages = [{"$project": {**({} if "_id" in columns else {"_id": 0}), **columns}}] if columns else []
    return [*unwound.stages, *order, *limit, *project]


def _distinct(columns: dict[str, Expr], query: SemanticQuery, container: Container) -> Stages:
    nullable = frozenset(c.name for c in query.select if not is_always_there(container, c.ref))
    grouped = group_rows(Keys(columns, nullable), (), (), {})
    order: list[tuple[str, bool, bool]] = []
    for key in query.order_by:
        if isinstance(key.by, Ref):
            raise InputError(f"order_by names {key.by}, which distinct rows do not hold; select it too")
        ref = next(c.ref for c in query.select if c.name == key.by)
        order.append((key.by, key.desc, _lacks_values(ref, container)))
    ties = [name for name in columns if name not in {name for name, _, _ in order}]
    return [*grouped, *_sort([*order, *((name, False, False) for name in ties)])]


def _order_of_documents(query: SemanticQuery, scope: Scope) -> Stages:
    if not query.order_by and not query.limit:
        return []
    order: list[tuple[str, bool, bool]] = []
    computed: dict[str, Expr] = {}
    for key in query.order_by:
        ref = _ordered_ref(key, query)
        value = scope.value(ref)
        name = field_name(value)
        if name is None:
            name = f"_order{len(computed) + 1}"
            computed[name] = value
        order.append((name, key.desc, _lacks_values(ref, scope.container)))
    stages = _sort(order if any(name == "_id" for name, _, _ in order) else [*order, ("_id", False, False)])
    return [{"$set": computed}, *stages, {"$unset": list(computed)}] if computed else stages


def _ordered_ref(key: OrderKey, query: SemanticQuery) -> Ref:
    return key.by if isinstance(key.by, Ref) else next(c.ref for c in query.select if c.name == key.by)
