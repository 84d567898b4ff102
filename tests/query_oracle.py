"""Answer a query by brute force in Python, by the definition in `semantic/to_mql.py` and `semantic/conditions.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from groundql.core.path import ENTRIES, ROOT, Path
from groundql.semantic.query import AllOf, AnyOf, Condition, Filter, Metric, MetricOp, Not, Op, SemanticQuery
from groundql.semantic.ref import Ref

MISSING = object()
Bindings = dict[Path, tuple[Any, Any]]
"""hop -> (its number or key, the value there); the root holds the document."""
FLIP = {Op.NE: Op.EQ, Op.NOT_IN: Op.IN, Op.MISSING: Op.EXISTS}


def read(bindings: Bindings, path: Path) -> Any:
    base = max((p for p in bindings if path.starts_with(p)), key=len)
    value = bindings[base][1]
    for name in path.steps[len(base) :]:
        value = value.get(name, MISSING) if isinstance(value, Mapping) else MISSING
    return value


def value_of(bindings: Bindings, ref: Ref) -> Any:
    return bindings[ref.path][0] if ref.is_key else read(bindings, ref.path)


def members(bindings: Bindings, hop: Path) -> list[tuple[Any, Any]]:
    base = read(bindings, hop.parent)
    if hop.last is ENTRIES:
        return list(base.items()) if isinstance(base, Mapping) else []
    if isinstance(base, list):
        return list(enumerate(base))
    return [] if base is MISSING or base is None else [(None, base)]


def expand(bindings: Bindings, hops: Sequence[Path]) -> Iterator[Bindings]:
    if not hops:
        yield bindings
        return
    for member in members(bindings, hops[0]):
        yield from expand({**bindings, hops[0]: member}, hops[1:])


def hops_of(refs: Sequence[Ref]) -> list[Path]:
    return sorted({hop for ref in refs for hop in ref.hops}, key=lambda h: (len(h), str(h)))


def leaves(condition: Condition) -> Iterator[Filter]:
    if isinstance(condition, Filter):
        yield condition
    else:
        for part in condition.of if isinstance(condition, AnyOf | AllOf) else (condition.of,):
            yield from leaves(part)


def open_hop(ref: Ref, bindings: Bindings) -> Path | None:
    return next((hop for hop in ref.hops if hop not in bindings), None)


def denies(condition: Condition) -> bool:
    return isinstance(condition, Not) or (isinstance(condition, Filter) and condition.op in FLIP)


def holds(conditions: Sequence[Condition], bindings: Bindings) -> bool:
    by_hop: dict[Path, list[Condition]] = {}
    for condition in conditions:
        opens = {open_hop(f.ref, bindings) for f in leaves(condition)}
        hop = opens.pop() if len(opens) == 1 else None
        if hop is None or isinstance(condition, AllOf):
            if not holds_alone(condition, bindings):
                return False
        else:
            by_hop.setdefault(hop, []).append(condition)
    return all(holds_on_items(hop, group, bindings) for hop, group in by_hop.items())


def holds_on_items(hop: Path, group: list[Condition], bindings: Bindings) -> bool:
    def some(conditions: Sequence[Condition]) -> bool:
        return any(holds(conditions, {**bindings, hop: member}) for member in members(bindings, hop))

    if all(denies(c) for c in group):
        affirmed = [c.of if isinstance(c, Not) else Filter(c.ref, FLIP[c.op], c.value) for c in group]  # type: ignore
        return not any(some([c]) for c in affirmed)
    rounds: list[list[Condition]] = [[]]
    for condition in group:
        for members_of in [*rounds, new := []]:
            if not any(clash(condition, other) for other in members_of):
                members_of.append(condition)
                break
        if new:
            rounds.append(new)
    return all(some(r) for r in rounds)


def clash(one: Condition, other: Condition) -> bool:
    both = isinstance(one, Filter) and isinstance(other, Filter)
    return both and one.op is other.op is Op.EQ and one.ref == other.ref and one.value != other.value  # type: ignore


def holds_alone(condition: Condition, bindings: Bindings) -> bool:
    if isinstance(condition, AnyOf):
        return any(holds([c], bindings) for c in condition.of)
    if isinstance(condition, AllOf):
        return holds(condition.of, bindings)
    if isinstance(condition, Not):
        return not holds([condition.of], bindings)
    if condition.op in FLIP:
        return not passes(Filter(condition.ref, FLIP[condition.op], condition.value), value_of(bindings, condition.ref))
    return passes(condition, value_of(bindings, condition.ref))


def passes(found: Filter, value: Any) -> bool:
    wanted = found.value
    match found.op:
        case Op.EXISTS:
            return value is not MISSING and value is not None
        case Op.IS_NULL:
            return value is None
        case Op.EQ:
            return same(value, wanted)
        case Op.IN:
            return any(same(value, w) for w in wanted)
        case Op.CONTAINS:
            return isinstance(value, str) and wanted.lower() in value.lower()
        case Op.STARTS_WITH:
            return isinstance(value, str) and value.lower().startswith(wanted.lower())
        case Op.MATCHES:
            return isinstance(value, str) and re.search(wanted, value) is not None
        case Op.BETWEEN:
            return passes(Filter(found.ref, Op.GTE, wanted[0]), value) and passes(
                Filter(found.ref, Op.LTE, wanted[1]), value
            )
        case _:
            if type_rank(value) != type_rank(wanted):
                return False
            return {
                Op.GT: lambda: value > wanted,
                Op.GTE: lambda: value >= wanted,
                Op.LT: lambda: value < wanted,
                Op.LTE: lambda: value <= wanted,
            }[found.op]()


def same(value: Any, wanted: Any) -> bool:
    if wanted is None:
        return value is MISSING or value is None
    return type_rank(value) == type_rank(wanted) and value == wanted


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def type_rank(value: Any) -> int:
    if value is MISSING:
        return 0
    if value is None:
        return 1
    if is_number(value):
        return 2
    return 3 if isinstance(value, str) else 4 if isinstance(value, Mapping) else 5 if isinstance(value, list) else 6


def canonical(value: Any) -> Any:
    if value is MISSING:
        return ("missing",)
    if is_number(value):
        return "NaN" if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        return ("object", *((k, canonical(v)) for k, v in value.items()))
    if isinstance(value, list | tuple):
        return ("array", *(canonical(v) for v in value))
    return ("bool", value) if isinstance(value, bool) else value


def order(value: Any) -> tuple[Any, ...]:
    if is_number(value):
        return (2, -math.inf, 0) if math.isnan(value) else (2, value, 1)
    return (type_rank(value), value if isinstance(value, str) else 0)


def rows_of(query: SemanticQuery, documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a query before ordering and limit; keyed by column name."""
    bound: list[Bindings] = [{ROOT: (n, d)} for n, d in enumerate(documents)]
    return grouped(query, bound) if query.is_grouped else listed(query, bound)


def listed(query: SemanticQuery, bound: Sequence[Bindings]) -> list[dict[str, Any]]:
    hops = hops_of([c.ref for c in query.select])
    rows = [b for d in bound for b in expand(d, hops) if holds(query.filters, b)]
    found = [{c.name: value_of(b, c.ref) for c in query.select} for b in rows]
    if not query.distinct:
        return [{k: v for k, v in row.items() if v is not MISSING} for row in found]
    unique = {tuple(canonical(None if v is MISSING else v) for v in row.values()): row for row in found}
    return [{k: None if v is MISSING else v for k, v in row.items()} for row in unique.values()]


def grouped(query: SemanticQuery, bound: Sequence[Bindings]) -> list[dict[str, Any]]:
    key_hops = hops_of([k.ref for k in query.group_by])
    places = {tuple(hops_of([m.ref] if m.ref else [])) for m in query.metrics}
    row_hops = key_hops
    if len(places) == 1 and set(key_hops) <= set(next(iter(places))):
        row_hops = list(next(iter(places)))

    def key_of(b: Bindings) -> tuple[Any, ...]:
        return tuple(canonical(None if (v := value_of(b, k.ref)) is MISSING else v) for k in query.group_by)

    shown: dict[tuple[Any, ...], dict[str, Any]] = {}
    for document in bound:
        for b in expand(document, row_hops):
            if holds(query.filters, b):
                values = {k.name: value_of(b, k.ref) for k in query.group_by}
                shown.setdefault(key_of(b), {k: None if v is MISSING else v for k, v in values.items()})
    for metric in query.metrics:
        hops = hops_of([*(k.ref for k in query.group_by), *([metric.ref] if metric.ref else [])])
        own = hops_of([metric.ref] if metric.ref else [])
        taken: dict[tuple[Any, ...], dict[Any, Any]] = {}
        for document in bound:
            for b in expand(document, hops):
                if holds(query.filters, b) and holds(metric.filters, b):
                    mark = (document[ROOT][0], *(b[hop][0] for hop in own))
                    value = 1 if metric.ref is None else value_of(b, metric.ref)
                    taken.setdefault(key_of(b), {})[mark] = value
        for key, row in shown.items():
            row[metric.name] = measured(metric, list(taken.get(key, {}).values()))
    return list(shown.values())


def measured(metric: Metric, values: list[Any]) -> Any:
    present = [v for v in values if v is not MISSING and v is not None]
    numbers = [v for v in present if is_number(v)]
    match metric.op:
        case MetricOp.COUNT:
            return len(present)
        case MetricOp.SUM:
            return sum(numbers)
        case MetricOp.AVG:
            return sum(numbers) / len(numbers) if numbers else None
        case MetricOp.MIN:
            return min(present, key=order, default=None)
        case MetricOp.MAX:
            return max(present, key=order, default=None)
        case MetricOp.COUNT_DISTINCT:
            return len({canonical(v) for v in present})
        case MetricOp.LIST_DISTINCT:
            ranked = sorted(present, key=order)
            return [next(iter(same_ones)) for _, same_ones in groupby(ranked, key=canonical)]
        case MetricOp.FIRST:
            return values[0] if values and values[0] is not MISSING else None


def as_multiset(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Rows in a form that can be compared: any order, one number type, averages to nine digits."""
    return sorted((sorted((k, _rounded(canonical(v))) for k, v in row.items()) for row in rows), key=repr)


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_rounded(v) for v in value)
    return float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value
