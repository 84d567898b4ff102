"""Metrics compiled: what a row contributes, and how contributions are put together.

A metric is computed over the items of its own path. Where rows are coarser than that, each row brings the values of
all its items; where rows are finer (a document's value, grouped by its tags), a value counts once per group however
many rows repeat it, which takes an extra grouping for each step down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.core.path import ROOT, Path
from groundql.errors import InputError
from groundql.semantic.conditions import filters_in, to_expression
from groundql.semantic.query import Condition, Filter, Metric, MetricOp, Op
from groundql.semantic.ref import Ref, is_always_there, kinds_at
from groundql.semantic.scope import Expr, Scope

_SETS: Final = frozenset({MetricOp.COUNT_DISTINCT, MetricOp.LIST_DISTINCT})
UNION: Final = "union"


@dataclass(frozen=True, slots=True)
class Slot:
    """One accumulated field. `row` is what a row contributes, `join` the accumulator, or `UNION` for lists."""

    name: str
    row: Expr
    join: str


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric in terms of slots. `home` are the rows' hops it belongs to; `result` reads it from the slots."""

    name: str
    slots: tuple[Slot, ...]
    home: frozenset[Path]
    result: Expr


def measure(
    metric: Metric, scope: Scope, rows: Sequence[Path], conditions: Sequence[Condition], *, in_steps: bool
) -> Measure:
    """Compile one metric.

    `rows` are the hops that rows are made of, `conditions` the query's own that reach below them; `in_steps` says that
    grouping takes several steps, so that only accumulators that can be joined again are used.
    """
    own = frozenset(metric.ref.hops if metric.ref else ())
    home = own & frozenset(rows)
    values = _Values(metric, scope, conditions, below=bool(own - home), in_steps=in_steps)
    slots, result = values.compiled()
    return Measure(metric.name, slots, home, result)


def check_measurable(metric: Metric, rows: Sequence[Path]) -> None:
    """Refuse a metric filter on items of the rows that the metric does not count.

    Raises: InputError.
    """
    own = frozenset(metric.ref.hops if metric.ref else ())
    for condition in metric.filters:
        for found in filters_in(condition):
            other = [hop for hop in found.ref.hops if hop in rows and hop not in own]
            if other:
                raise InputError(
                    f"metric {metric.name!r} counts per {_said(own)}, but its filter on {found.ref} is about each "
                    f"{other[0]}; move the filter to the query's filters, or give the metric a path below {other[0]}"
                )


def _said(hops: Iterable[Path]) -> str:
    return str(max(hops, key=len, default="")) or "document"


@dataclass(frozen=True, slots=True)
class _Values:
    metric: Metric
    scope: Scope
    conditions: Sequence[Condition]
    below: bool
    in_steps: bool

    def compiled(self) -> tuple[tuple[Slot, ...], Expr]:
        op, name = self.metric.op, self.metric.name
        if op in _SETS:
            slot = self._set_slot()
            merged = self._without_null(slot)
            return (slot,), _set_result(op, merged)
        if op is MetricOp.AVG and (self.below or self.in_steps):
            total, number = f"{name}_sum", f"{name}_number"
            slots = (Slot(total, self._sum(), "$sum"), Slot(number, self._count(numbers=True), "$sum"))
            return slots, {"$cond": [{"$gt": [f"${number}", 0]}, {"$divide": [f"${total}", f"${number}"]}, None]}
        if op is MetricOp.FIRST and (self.below or self.in_steps):
            raise InputError(f"metric {name!r}: the first of {self.metric.ref} has no order here; use min or max")
        return (Slot(name, self._contribution(), _JOIN[op]),), f"${name}"

    def _contribution(self) -> Expr:
        match self.metric.op:
            case MetricOp.COUNT:
                return self._count()
            case MetricOp.SUM:
                return self._sum()
            case MetricOp.MIN | MetricOp.MAX:
                return {_JOIN[self.metric.op]: self._list()} if self.below else self._guarded(self._value(), None)
            case _:
                return self._guarded(self._value(), None)

    def _count(self, *, numbers: bool = False) -> Expr:
        if self.below:
            found = self._list(present=not numbers)
            if not numbers or self._is_clean(NUMBERS):
                return {"$size": found}
            return {"$size": {"$filter": {"input": found, "as": "value", "cond": {"$isNumber": "$$value"}}}}
        tests = [] if self.guard is None else [self.guard]
        if numbers:
            tests.append({"$isNumber": self._value()})
        elif self.metric.ref and not is_never_null(self.metric.ref, self.scope):
            tests.append({"$gt": [self._value(), None]})
        if not tests:
            return 1
        return {"$cond": [tests[0] if len(tests) == 1 else {"$and": tests}, 1, 0]}

    def _sum(self) -> Expr:
        return {"$sum": self._list()} if self.below else self._guarded(self._value(), 0, numbers=self.in_steps)

    def _set_slot(self) -> Slot:
        if self.below:
            return Slot(self.metric.name, self._list(present=True), UNION)
        if not self.in_steps:
            return Slot(self.metric.name, self._guarded(self._value(), None), "$addToSet")
        value = self._value()
        tests = [{"$gt": [value, None]}, *([] if self.guard is None else [self.guard])]
        return Slot(self.metric.name, {"$cond": [{"$and": tests}, [value], []]}, UNION)

    def _without_null(self, slot: Slot) -> Expr:
        sure = self.metric.ref is not None and is_never_null(self.metric.ref, self.scope) and self.guard is None
        if slot.join == UNION or sure:
            return f"${slot.name}"
        return {"$setDifference": [f"${slot.name}", [None]]}

    @property
    def guard(self) -> Expr | None:
        """The metric's own filters, where its value is read from the row itself."""
        return to_expression(self.metric.filters, self.scope) if self.metric.filters else None

    def _guarded(self, value: Expr, otherwise: Any, *, numbers: bool = False) -> Expr:
        value = {"$cond": [{"$isNumber": value}, value, 0]} if numbers and not self._is_clean(NUMBERS) else value
        return value if self.guard is None else {"$cond": [self.guard, value, otherwise]}

    def _is_clean(self, kinds: frozenset[Kind]) -> bool:
        ref = self.metric.ref
        return ref is not None and self.scope.container.is_exhaustive and kinds_at(self.scope.container, ref) <= kinds

    def _value(self) -> Expr:
        assert self.metric.ref is not None
        return self.scope.value(self.metric.ref)

    def _list(self, *, present: bool = False) -> Expr:
        """All values that lie below the row, as a list."""
        ref = self.metric.ref
        assert ref is not None
        conditions = [*self.conditions, *self.metric.filters]
        needs_check = present and not (ref.path in ref.hops and _holds_no_null(ref, self.scope))
        return _values_below(ref, self.scope, [*conditions, Filter(ref, Op.EXISTS)] if needs_check else conditions)


_JOIN: Final[Mapping[MetricOp, str]] = {
    MetricOp.COUNT: "$sum",
    MetricOp.SUM: "$sum",
    MetricOp.AVG: "$avg",
    MetricOp.MIN: "$min",
    MetricOp.MAX: "$max",
    MetricOp.FIRST: "$first",
}


def _set_result(op: MetricOp, merged: Expr) -> Expr:
    if op is MetricOp.COUNT_DISTINCT:
        return {"$size": merged}
    return {"$sortArray": {"input": merged, "sortBy": 1}}


def is_never_null(ref: Ref, scope: Scope) -> bool:
    """Tell whether a reference always yields a value in this scope."""
    if ref.is_key:
        return True
    if ref.path in scope.bound and ref.path != ROOT:
        return _holds_no_null(ref, scope)
    return not ref.hops and is_always_there(scope.container, ref)


def _holds_no_null(ref: Ref, scope: Scope) -> bool:
    sure = scope.container.is_exhaustive
    return ref.is_key or (sure and not kinds_at(scope.container, Ref(ref.path)) & NOTHING)


def _values_below(ref: Ref, scope: Scope, conditions: Sequence[Condition]) -> Expr:
    hop = scope.open_hop(ref)
    assert hop is not None
    members = scope.members(hop)
    name, inner = scope.step_into(hop)
    if inner.open_hop(ref) is not None:
        lists = {"$map": {"input": members, "as": name, "in": _values_below(ref, inner, conditions)}}
        return {"$reduce": {"input": lists, "initialValue": [], "in": {"$concatArrays": ["$$value", "$$this"]}}}
    if conditions:
        members = {"$filter": {"input": members, "as": name, "cond": to_expression(conditions, inner)}}
    value = inner.value(ref)
    return members if value == f"$${name}" else {"$map": {"input": members, "as": name, "in": value}}
