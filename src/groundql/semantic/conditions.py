"""Filters compiled: what a condition means when it looks through arrays and maps.

- A hop that is bound (the rows are its items, or a metric is computed over them) stands for that one item: the item
  itself must satisfy the condition.
- A hop that is not bound means *some* item, and conditions side by side that go through the same outermost hop mean
  the same item. Two different values asked of one and the same path are met by different items.
- A negative condition (`ne`, `not_in`, `missing`, `not`) with no positive one beside it on that hop means *no* item.
- An `all` group is judged apart from what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.semantic.comparing import (
    Either,
    Equal,
    OneOf,
    Pattern,
    Range,
    Test,
    all_of,
    as_denied_query,
    as_expression,
    as_query,
    flip,
    operators,
    test_of,
)
from groundql.semantic.query import NEGATIVE_OPS, AllOf, AnyOf, Condition, Filter, Not, Op
from groundql.semantic.ref import Ref, kinds_at
from groundql.semantic.scope import Expr, Scope, field_name, is_addressable


@dataclass(frozen=True, slots=True)
class Together:
    """Conditions that one item must satisfy, or that no item may (`denied`); without a hop, one condition."""

    hop: Path | None
    of: tuple[Condition, ...]
    denied: bool = False


def filters_in(condition: Condition) -> Iterator[Filter]:
    """Yield every comparison within a condition."""
    match condition:
        case Filter():
            yield condition
        case Not(of):
            yield from filters_in(of)
        case AnyOf(of) | AllOf(of):
            for part in of:
                yield from filters_in(part)


def is_negative(condition: Condition) -> bool:
    """Tell whether a condition denies something."""
    return isinstance(condition, Not) or (isinstance(condition, Filter) and condition.op in NEGATIVE_OPS)


def has_negative(condition: Condition) -> bool:
    """Tell whether a condition denies something anywhere within."""
    match condition:
        case Not():
            return True
        case Filter(op=op):
            return op in NEGATIVE_OPS
        case AnyOf(of) | AllOf(of):
            return any(has_negative(part) for part in of)


def put_together(conditions: Iterable[Condition], scope: Scope) -> list[Together]:
    """Sort conditions by the item that must satisfy them."""
    alone: list[Together] = []
    by_hop: dict[Path, list[Condition]] = {}
    for condition in conditions:
        hops = {scope.open_hop(f.ref) for f in filters_in(condition)}
        hop = next(iter(hops)) if len(hops) == 1 else None
        if hop is None or isinstance(condition, AllOf):
            alone.append(Together(None, (condition,)))
        else:
            by_hop.setdefault(hop, []).append(condition)
    return alone + [group for hop, members in by_hop.items() for group in _on_items(hop, members)]


def _on_items(hop: Path, members: Sequence[Condition]) -> Iterator[Together]:
    if all(is_negative(c) for c in members):
        yield from (Together(hop, (c,), denied=True) for c in members)
        return
    rounds: list[list[Condition]] = [[]]
    for condition in members:
        at = _first_free(rounds, condition)
        if at == len(rounds):
            rounds.append([])
        rounds[at].append(condition)
    yield from (Together(hop, tuple(group)) for group in rounds)


def _first_free(rounds: list[list[Condition]], condition: Condition) -> int:
    free = (n for n, group in enumerate(rounds) if not any(_asks_same(condition, other) for other in group))
    return next(free, len(rounds))


def _asks_same(one: Condition, other: Condition) -> bool:
    return (
        isinstance(one, Filter)
        and isinstance(other, Filter)
        and one.op is other.op is Op.EQ
        and one.ref == other.ref
        and one.value != other.value
    )


def to_expression(conditions: Iterable[Condition], scope: Scope) -> Expr:
    """Write conditions that must all hold as one expression."""
    return all_of(_expression(group, scope) for group in put_together(conditions, scope))


def _expression(group: Together, scope: Scope) -> Expr:
    if group.hop is None:
        return _alone(group.of[0], scope)
    name, inner = scope.step_into(group.hop)
    of = [_affirm(c) for c in group.of] if group.denied else group.of
    found = {"$map": {"input": scope.members(group.hop), "as": name, "in": to_expression(of, inner)}}
    some = {"$anyElementTrue": [found]}
    return {"$not": [some]} if group.denied else some


def _affirm(condition: Condition) -> Condition:
    if isinstance(condition, Not):
        return condition.of
    return flip(condition) if isinstance(condition, Filter) else condition


def _alone(condition: Condition, scope: Scope) -> Expr:
    match condition:
        case AllOf(of):
            return to_expression(of, scope)
        case AnyOf(of):
            return {"$or": [to_expression([part], scope) for part in of]}
        case Not(of):
            return {"$not": [to_expression([of], scope)]}
        case Filter(ref=ref, op=op):
            positive = flip(condition) if op in NEGATIVE_OPS else condition
            test = test_of(positive, kinds_at(scope.container, ref))
            found = as_expression(scope.value(ref), test, _possible(ref, scope))
            return {"$not": [found]} if op in NEGATIVE_OPS else found


def _possible(ref: Ref, scope: Scope) -> frozenset[Kind]:
    """The kinds a value can be for certain: every kind unless every document was seen."""
    if ref.is_key or scope.container.is_exhaustive:
        return kinds_at(scope.container, ref)
    return frozenset(Kind)


def to_query(conditions: Sequence[Condition], scope: Scope) -> dict[str, Any]:
    """Write conditions that must all hold as one `$match` document, in query language as far as that can say them."""
    return _join([_query(group, scope) for group in put_together(conditions, scope)])


def _query(group: Together, scope: Scope) -> dict[str, Any]:
    written = _query_alone(group.of[0], scope) if group.hop is None else _query_items(group, group.hop, scope)
    return {"$expr": _expression(group, scope)} if written is None else written


def _query_alone(condition: Condition, scope: Scope) -> dict[str, Any] | None:
    match condition:
        case AllOf(of):
            return to_query(of, scope)
        case AnyOf(of):
            return {"$or": [to_query([part], scope) for part in of]}
        case Not(of):
            return {"$nor": [to_query([of], scope)]}
        case Filter(ref=ref):
            name = field_name(scope.value(ref))
            return None if name is None else _compare(name, condition, scope)


def _compare(name: str, found: Filter, scope: Scope) -> dict[str, Any]:
    kinds = kinds_at(scope.container, found.ref)
    if found.op in NEGATIVE_OPS:
        return as_denied_query(name, test_of(flip(found), kinds))
    return as_query(name, test_of(found, kinds))


def _query_items(group: Together, hop: Path, scope: Scope) -> dict[str, Any] | None:
    """Use the query language's own way through arrays where it means the same; None where it does not."""
    base = field_name(scope.at(hop.parent))
    filters = [c for c in group.of if isinstance(c, Filter)]
    if base is None or len(filters) < len(group.of):
        return None
    if len(filters) == 1 and (held := _holding(base, hop, filters[0], group.denied, scope)) is not None:
        return held
    if hop.last is ENTRIES:
        return None
    if len(filters) == 1 and (name := _name_through(base, hop, filters[0].ref)) is not None:
        positive = flip(filters[0]) if group.denied else filters[0]
        test = test_of(positive, kinds_at(scope.container, positive.ref))
        if _is_about_one_value(test):
            return as_denied_query(name, test) if group.denied else as_query(name, test)
    matched = None if group.denied else _element_match(hop, filters, scope)
    return None if matched is None else {base: {"$elemMatch": matched}}


def _holding(base: str, hop: Path, found: Filter, denied: bool, scope: Scope) -> dict[str, Any] | None:
    """Ask whether an array or map holds anything at all, where it holds no nulls or arrays to think of."""
    positive = flip(found) if denied else found
    whole, part = kinds_at(scope.container, Ref(hop.parent)), kinds_at(scope.container, found.ref)
    proper = Kind.OBJECT if hop.last is ENTRIES else Kind.ARRAY
    if positive.op is not Op.EXISTS or found.ref.path != hop or not scope.container.is_exhaustive:
        return None
    if whole - {proper} - NOTHING or part & (NOTHING | {Kind.ARRAY}):
        return None
    return {base: {"$in" if denied else "$nin": [None, {} if hop.last is ENTRIES else []]}}


def _is_about_one_value(test: Test) -> bool:
    """Tell whether `{"a.b": test}` over several values asks for one that passes, and a missing one never does."""
    match test:
        case Equal() | Pattern():
            return True
        case OneOf(values):
            return None not in values
        case Range(low, high):
            return low is None or high is None
        case Either(of):
            return all(_is_about_one_value(t) for t in of)
        case _:
            return False


def _name_through(base: str, hop: Path, ref: Ref) -> str | None:
    below = ref.path.steps[len(hop) :]
    if ref.is_key or ENTRIES in below or any(a is b is ITEMS for a, b in zip((ITEMS, *below), below, strict=False)):
        return None
    names = [s for s in below if isinstance(s, str)]
    return ".".join([base, *names]) if all(is_addressable(n) and not n.isdigit() for n in names) else None


def _element_match(hop: Path, filters: Sequence[Filter], scope: Scope) -> dict[str, Any] | None:
    """Write conditions on one item; only where all stored values there are arrays, as `$elemMatch` needs one."""
    kinds = kinds_at(scope.container, Ref(hop.parent))
    if not scope.container.is_exhaustive or kinds - {Kind.ARRAY, Kind.NULL, Kind.MISSING}:
        return None
    of_objects = kinds_at(scope.container, Ref(hop)) <= {Kind.OBJECT}
    parts: list[dict[str, Any]] = []
    for found in filters:
        below = found.ref.path.steps[len(hop) :]
        if found.ref.is_key or not all(isinstance(s, str) and is_addressable(s) for s in below):
            return None
        if bool(below) is not of_objects:
            return None
        if below:
            parts.append(_compare(".".join(str(s) for s in below), found, scope))
        else:
            test = test_of(found, kinds_at(scope.container, found.ref)) if found.op not in NEGATIVE_OPS else None
            if test is None or isinstance(test, Either):
                return None
            parts.append(operators(test))
    joined = _join(parts)
    return joined if of_objects or "$and" not in joined else None


def _join(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge query documents into one; those that name the same field twice go side by side in `$and`."""
    merged: dict[str, Any] = {}
    for part in parts:
        for name, test in part.items():
            if name not in merged:
                merged[name] = test
            elif _can_share(merged[name], test):
                merged[name] = {**merged[name], **test}
            else:
                return {"$and": list(parts)}
    return merged


def _can_share(one: Any, other: Any) -> bool:
    ranges = {"$gt", "$gte", "$lt", "$lte"}
    both = isinstance(one, dict) and isinstance(other, dict)
    return both and set(one) <= ranges and set(other) <= ranges and not set(one) & set(other)  # pyright: ignore
