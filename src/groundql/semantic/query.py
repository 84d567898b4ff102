"""The compact query: what to filter, group, measure and order, over the paths of one container.

What a query means is defined in `semantic/to_mql.py`, which compiles it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar, cast

from groundql.core.catalog import Catalog, Container
from groundql.core.kind import Kind
from groundql.errors import InputError
from groundql.semantic.literals import check_value
from groundql.semantic.naming import name_after, pick_names
from groundql.semantic.query_schema import query_schema as query_schema
from groundql.semantic.ref import Ref, kinds_at, resolve_ref


class Op(StrEnum):
    """How a filter compares."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    NOT_IN = "not_in"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    MATCHES = "matches"
    EXISTS = "exists"
    MISSING = "missing"
    IS_NULL = "is_null"
    BETWEEN = "between"


BARE_OPS = frozenset({Op.EXISTS, Op.MISSING, Op.IS_NULL})
NEGATIVE_OPS = frozenset({Op.NE, Op.NOT_IN, Op.MISSING})


class MetricOp(StrEnum):
    """What a metric computes."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    FIRST = "first"
    LIST_DISTINCT = "list_distinct"


class Grain(StrEnum):
    """What part of a date a group is made of."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    HOUR = "hour"


@dataclass(frozen=True, slots=True)
class Filter:
    """One comparison of a stored value, or of the values at a path through arrays and maps."""

    ref: Ref
    op: Op
    value: Any = None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold, judged apart from the conditions around them."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """This does not hold."""

    of: Condition


Condition: TypeAlias = Filter | AnyOf | AllOf | Not


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What rows are grouped by, and the name of its column."""

    ref: Ref
    name: str
    grain: Grain | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What is computed for a group; without `ref` only `count`, which counts documents."""

    op: MetricOp
    ref: Ref | None
    name: str
    filters: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a plain listing."""

    ref: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Having:
    """A comparison of an output column of a grouped query."""

    name: str
    op: Op
    value: Any = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One sort key: an output column, or for a listing any value of the document."""

    by: str | Ref
    desc: bool = False


@dataclass(frozen=True, slots=True)
class SemanticQuery:
    """A whole query. Without `metrics` and `group_by` it lists documents."""

    container: str
    filters: tuple[Condition, ...] = ()
    group_by: tuple[GroupKey, ...] = ()
    metrics: tuple[Metric, ...] = ()
    select: tuple[Column, ...] = ()
    having: tuple[Having, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    distinct: bool = False

    @property
    def is_grouped(self) -> bool:
        """Whether rows are groups and not documents or items."""
        return bool(self.metrics or self.group_by)


E = TypeVar("E", bound=StrEnum)
_PARTS = ("container", "filters", "group_by", "metrics", "select", "having", "order_by", "limit", "distinct")


def parse_query(data: Mapping[str, Any], catalog: Catalog) -> SemanticQuery:
    """Read a query from JSON-ready data and settle its paths on the catalog.

    Raises: InputError with one line that says what to write instead.
    """
    if not isinstance(data, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"a query is a JSON object, not {_said(data)}")
    _refuse_others(data, _PARTS, "a query")
    container = _container(data.get("container"), catalog)
    groups = tuple(_group_key(item, container) for item in _list(data, "group_by"))
    metrics = tuple(_metric(item, container) for item in _list(data, "metrics"))
    columns = () if groups or metrics else tuple(_column(item, container) for item in _list(data, "select"))
    names = pick_names([*((k.ref, k.name) for k in groups), *((m.ref, m.name) for m in metrics)])
    groups = tuple(GroupKey(k.ref, n, k.grain) for k, n in zip(groups, names[: len(groups)], strict=True))
    metrics = tuple(Metric(m.op, m.ref, n, m.filters) for m, n in zip(metrics, names[len(groups) :], strict=True))
    titles = pick_names([(c.ref, c.name) for c in columns])
    columns = tuple(Column(c.ref, n) for c, n in zip(columns, titles, strict=True))
    outputs = _Outputs(container, groups, metrics, columns)
    return SemanticQuery(
        container.name,
        tuple(_condition(item, container) for item in _list(data, "filters")),
        groups,
        metrics,
        columns,
        tuple(_having(item, outputs) for item in _list(data, "having")),
        tuple(_order_key(item, outputs) for item in _list(data, "order_by")),
        _limit(data.get("limit")),
        _flag(data.get("distinct"), "distinct"),
    )


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The columns that `having` and `order_by` may name."""

    container: Container
    groups: tuple[GroupKey, ...]
    metrics: tuple[Metric, ...]
    columns: tuple[Column, ...]

    def name_of(self, text: str) -> str | None:
        """The column of a name, of a path, or of a metric's operation where only one fits."""
        names = [k.name for k in (*self.groups, *self.metrics, *self.columns)]
        if text in names:
            return text
        by_path = [k.name for k in (*self.groups, *self.columns, *self.metrics) if str(k.ref) == text]
        by_op = [m.name for m in self.metrics if text in (m.op.value, f"{m.op}({m.ref or ''})", f"{m.op}_{m.ref}")]
        for found in (by_path, by_op):
            if len(found) == 1:
                return found[0]
        ref = self._settled(text)
        same = [k.name for k in (*self.groups, *self.columns, *self.metrics) if ref is not None and k.ref == ref]
        return same[0] if same else None

    def _settled(self, text: str) -> Ref | None:
        try:
            return resolve_ref(text, self.container)
        except InputError:
            return None

    def all(self) -> str:
        return ", ".join(k.name for k in (*self.groups, *self.metrics, *self.columns))


def _container(name: object, catalog: Catalog) -> Container:
    found = catalog.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(sorted(catalog.by_name))
        raise InputError(f"unknown container {_said(name)}; choose one of: {known}")
    if not found.is_known:
        raise InputError(f"container {found.name} could not be read: {found.error}")
    return found


def _condition(item: object, container: Container) -> Condition:
    data = _object(item, "a filter", '{"path": ..., "op": "eq", "value": ...}')
    for word, make in (("any", AnyOf), ("all", AllOf)):
        if word in data:
            _refuse_others(data, (word,), f"an {word!r} group")
            parts = tuple(_condition(part, container) for part in _list(data, word))
            if not parts:
                raise InputError(f"{word!r} holds no filter; leave it out")
            return make(parts)
    if "not" in data:
        _refuse_others(data, ("not",), "a 'not' group")
        inner = data["not"]
        if isinstance(inner, list):
            return Not(AllOf(tuple(_condition(part, container) for part in cast("list[object]", inner))))
        return Not(_condition(inner, container))
    _refuse_others(data, ("path", "op", "value"), "a filter")
    ref = _ref(data.get("path"), container)
    op = _word(Op, data.get("op", "eq"), "op")
    if op in BARE_OPS:
        return Filter(ref, op)
    if "value" not in data:
        raise InputError(f"filter on {ref}: op {op.value!r} needs a value")
    return Filter(ref, op, check_value(op.value, data["value"], kinds_at(container, ref), str(ref)))


def _group_key(item: object, container: Container) -> GroupKey:
    if isinstance(item, str):
        return GroupKey(_ref(item, container), "")
    data = _object(item, "a group", "a path or {path, grain, as}")
    _refuse_others(data, ("path", "grain", "as"), "a group")
    ref = _ref(data.get("path"), container)
    grain = _word(Grain, data["grain"], "grain") if data.get("grain") is not None else None
    kinds = kinds_at(container, ref)
    if grain is not None and not kinds & {Kind.DATE, Kind.STRING, Kind.TIMESTAMP, Kind.OBJECT_ID}:
        raise InputError(f"group by {ref}: it holds no dates, so it has no grain {grain.value!r}; leave the grain out")
    return GroupKey(ref, _name(data.get("as")), grain)


def _metric(item: object, container: Container) -> Metric:
    data = _object(item, "a metric", '{"op": "count"} or {"op": "sum", "path": ...}')
    _refuse_others(data, ("op", "path", "filters", "as"), "a metric")
    op = _word(MetricOp, data.get("op"), "metric op")
    ref = _ref(data["path"], container) if data.get("path") else None
    if ref is None and op is not MetricOp.COUNT:
        raise InputError(f"metric {op.value!r} needs a path; only count may stand without one")
    filters = tuple(_condition(part, container) for part in _list(data, "filters"))
    name = _name(data.get("as")) or (f"{op}_{name_after(ref)}" if ref else "count")
    return Metric(op, ref, name, filters)


def _column(item: object, container: Container) -> Column:
    if isinstance(item, str):
        return Column(_ref(item, container, is_leaf=False), "")
    data = _object(item, "a column", "a path or {path, as}")
    _refuse_others(data, ("path", "as"), "a column")
    return Column(_ref(data.get("path"), container, is_leaf=False), _name(data.get("as")))


def _having(item: object, outputs: _Outputs) -> Having:
    data = _object(item, "a having condition", '{"by": COLUMN, "op": "gte", "value": ...}')
    _refuse_others(data, ("by", "path", "op", "value"), "a having condition")
    said = data.get("by", data.get("path"))
    name = outputs.name_of(said) if isinstance(said, str) else None
    if name is None:
        raise InputError(f"having names {_said(said)}, which is no output column; choose one of: {outputs.all()}")
    op = _word(Op, data.get("op"), "op")
    if op not in BARE_OPS and "value" not in data:
        raise InputError(f"having on {name}: op {op.value!r} needs a value")
    value = None if op in BARE_OPS else check_value(op.value, data["value"], frozenset(Kind), name)
    return Having(name, op, value)


def _order_key(item: object, outputs: _Outputs) -> OrderKey:
    data = {"by": item} if isinstance(item, str) else _object(item, "an order", '{"by": COLUMN, "desc": true}')
    _refuse_others(data, ("by", "path", "desc"), "an order")
    said = data.get("by", data.get("path"))
    if not isinstance(said, str):
        raise InputError(f"order_by names {_said(said)}; give a column or a path")
    desc = _flag(data.get("desc"), "desc")
    name = outputs.name_of(said)
    if name is not None:
        return OrderKey(name, desc)
    if outputs.groups or outputs.metrics:
        raise InputError(f"order_by names {said!r}, which is no output column; choose one of: {outputs.all()}")
    return OrderKey(_ref(said, outputs.container), desc)


def _ref(text: object, container: Container, *, is_leaf: bool = True) -> Ref:
    if not isinstance(text, str) or not text:
        raise InputError(f"a path is text such as 'a.b' or 'a[].b', not {_said(text)}")
    return resolve_ref(text, container, is_leaf=is_leaf)


def _list(data: Mapping[str, Any], part: str) -> Sequence[object]:
    found = data.get(part)
    if found is None:
        return ()
    if not isinstance(found, list | tuple):
        raise InputError(f"{part!r} is a list, not {_said(found)}")
    return cast("Sequence[object]", found)


def _object(item: object, what: str, form: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise InputError(f"{what} is written {form}, not {_said(item)}")
    return cast("Mapping[str, Any]", item)


def _refuse_others(data: Mapping[str, Any], parts: Sequence[str], what: str) -> None:
    others = [name for name in data if name not in parts]
    if others:
        raise InputError(f"{what} has no part {others[0]!r}; its parts are: {', '.join(parts)}")


def _word(words: type[E], said: object, what: str) -> E:
    try:
        return words(said)  # pyright: ignore[reportArgumentType]
    except ValueError:
        raise InputError(f"unknown {what} {_said(said)}; choose one of: {', '.join(words)}") from None


def _name(said: object) -> str:
    if said is None:
        return ""
    if not isinstance(said, str) or not said or said.startswith("$") or "." in said or "\0" in said:
        raise InputError(f"'as' names a column with plain text without dots or dollars, not {_said(said)}")
    return said


def _flag(said: object, part: str) -> bool:
    if said is None or isinstance(said, bool):
        return bool(said)
    raise InputError(f"{part!r} is true or false, not {_said(said)}")


def _limit(said: object) -> int | None:
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int) or not 0 < said < 2**31:
        raise InputError(f"'limit' is a whole number from 1 up, not {_said(said)}")
    return said


def _said(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
