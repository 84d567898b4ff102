"""Plausible wrong programs made from a gold: what a hurried author, or a model, would get wrong.

Each differs from the gold in one place. The data should tell each of them from the gold, or the task cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast

from groundql.bench.audit.constants import Constant, Pointer, Role, constants_of, replaced, without
from groundql.bench.scoring.order import decided_order, operator_of
from groundql.core.catalog import Catalog, Container, Field
from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES
from groundql.core.program import Claims, MqlProgram, Read
from groundql.languages.flow.literals import as_list, as_number, as_object


class Slip(StrEnum):
    """What went wrong in a mutant."""

    CONDITION_DROPPED = "condition dropped"
    THRESHOLD_SHIFTED = "threshold shifted"
    BOUND_SWAPPED = "bound included or not"
    ORDER_REVERSED = "order reversed"
    EMPTY_KEPT = "empty arrays dropped"
    COUNTED_APART = "distinct for all"
    ACCUMULATOR = "other accumulator"
    KEY = "other key"
    FIELD = "sibling field"
    DEFAULT_DROPPED = "default dropped"
    LIMIT = "limit off by one"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong program. `stage` is the root stage that differs, from 0."""

    slip: Slip
    what: str
    stage: int
    stages: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.slip}: {self.what}"


Maker: TypeAlias = Callable[[MqlProgram, Claims, Catalog], Iterator[Mutant]]
_SWAPPED: Final = {"$gt": "$gte", "$gte": "$gt", "$lt": "$lte", "$lte": "$lt"}
_OTHER: Final = {"$sum": "$avg", "$avg": "$sum", "$max": "$min", "$min": "$max", "$first": "$last", "$last": "$first"}


def mutants_of(program: MqlProgram, claims: Claims, catalog: Catalog) -> Iterator[Mutant]:
    """Yield the mutants of a gold, kind after kind, each program once and none equal to the gold."""
    seen = {repr(program.stages)}
    for maker in _MAKERS:
        for mutant in maker(program, claims, catalog):
            mark = repr(mutant.stages)
            if mark not in seen:
                seen.add(mark)
                yield mutant


def _dropped(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for constant in constants_of(program.stages):
        if constant.role is Role.CONDITION and len(constant.pointer) > 2:
            pointer = _condition_pointer(constant)
            stages = without(program.stages, pointer)
            if stages is not None:
                yield Mutant(Slip.CONDITION_DROPPED, _shown(constant), constant.stage, stages)


def _condition_pointer(constant: Constant) -> Pointer:
    """A condition's own place: an item of an $in stands for the whole list."""
    pointer = constant.pointer
    return pointer[:-1] if isinstance(pointer[-1], int) and pointer[-2] in ("$in", "$nin", "$all") else pointer


def _shown(constant: Constant) -> str:
    return f"{constant.beside} {constant.operator} {constant.value!r}".strip()


def _shifted(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for constant in constants_of(program.stages):
        number = as_number(constant.value)
        if constant.operator in _SWAPPED and number is not None and constant.role is not Role.SHOWN:
            step = 1 if number == int(number) else abs(number) / 10
            for moved in (constant.value + step, constant.value - step):
                stages = replaced(program.stages, constant.pointer, moved)
                yield Mutant(Slip.THRESHOLD_SHIFTED, f"{_shown(constant)} as {moved!r}", constant.stage, stages)


def _swapped(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for pointer, node in _objects(program.stages):
        for name in _SWAPPED.keys() & node.keys():
            changed = {_SWAPPED.get(key, key) if key == name else key: value for key, value in node.items()}
            stages = replaced(program.stages, pointer, changed)
            yield Mutant(Slip.BOUND_SWAPPED, f"{name} as {_SWAPPED[name]}", _stage(pointer), stages)


def _reversed(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    order = decided_order(program.stages)
    body = as_object(program.stages[order.stage].get("$sort")) if order.is_ordered else None
    for key, way in (body or {}).items():
        if as_number(way) is not None:
            stages = replaced(program.stages, (order.stage, "$sort", key), -way)
            yield Mutant(Slip.ORDER_REVERSED, key, order.stage, stages)


def _unpreserved(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for index, stage in enumerate(program.stages):
        body = as_object(stage.get("$unwind"))
        if body and body.get("preserveNullAndEmptyArrays"):
            stages = replaced(program.stages, (index, "$unwind", "preserveNullAndEmptyArrays"), False)
            yield Mutant(Slip.EMPTY_KEPT, str(body.get("path")), index, stages)


def _apart(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for index, stage in enumerate(program.stages):
        body = as_object(stage.get("$group")) or {}
        for name, value in body.items():
            spec = as_object(value) or {}
            if spec.get("$sum") == 1 and index and operator_of(program.stages[index - 1]) == "$unwind":
                stages = list(replaced(program.stages, (index, "$group", name), {"$addToSet": "$_id"}))
                stages.insert(index + 1, {"$addFields": {name: {"$size": f"${name}"}}})
                yield Mutant(Slip.COUNTED_APART, f"{name} counts documents", index, tuple(stages))
            elif "$addToSet" in spec:
                stages = replaced(program.stages, (index, "$group", name), {"$push": spec["$addToSet"]})
                yield Mutant(Slip.COUNTED_APART, f"{name} keeps repeated items", index, stages)


def _accumulated(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for index, stage in enumerate(program.stages):
        for name, value in (as_object(stage.get("$group")) or {}).items():
            spec = as_object(value) or {}
            operator = next(iter(spec), "")
            if name != "_id" and operator in _OTHER and spec[operator] != 1:
                other = _OTHER[operator]
                stages = replaced(program.stages, (index, "$group", name), {other: spec[operator]})
                yield Mutant(Slip.ACCUMULATOR, f"{name} by {other} for {operator}", index, stages)


def _other_keys(program: MqlProgram, claims: Claims, catalog: Catalog) -> Iterator[Mutant]:
    for read, container in _stored(claims, catalog):
        if read.path is None or not read.key or ENTRIES not in read.path.steps:
            continue
        at = read.path.steps.index(ENTRIES)
        field = container.get(type(read.path)(read.path.steps[:at]))
        others = [key for key in (field.keys.examples if field and field.keys else ()) if key not in read.keys]
        if others:
            yield from _renamed(program, read, read.keys[0], others[0], Slip.KEY)


def _siblings(program: MqlProgram, claims: Claims, catalog: Catalog) -> Iterator[Mutant]:
    for read, container in _stored(claims, catalog):
        if read.path is None or not isinstance(read.path.last, str) or read.role == "unwind":
            continue
        field = container.get(read.path)
        others = [f for f in container.children(read.path.parent) if field and _are_alike(f, field)]
        for other in sorted(others, key=lambda f: (-f.present_share, f.path))[:1]:
            yield from _renamed(program, read, read.path.name, other.path.name, Slip.FIELD)


def _are_alike(other: Field, field: Field) -> bool:
    scalar = (field.kind_set - NOTHING) - {Kind.OBJECT, Kind.ARRAY}
    return other.path != field.path and isinstance(other.path.last, str) and bool(scalar & other.kind_set)


def _stored(claims: Claims, catalog: Catalog) -> Iterator[tuple[Read, Container]]:
    seen: set[tuple[str, int]] = set()
    for read in claims.stored_reads():
        container = catalog.get(read.container)
        if container and (read.text, read.place.stage) not in seen:
            seen.add((read.text, read.place.stage))
            yield read, container


def _renamed(program: MqlProgram, read: Read, old: str, new: str, slip: Slip) -> Iterator[Mutant]:
    """Read another field or key wherever the root stage says this one."""
    plain = read.text.lstrip("$")
    parts = plain.split(".")
    if old not in parts or "." in new or new.startswith("$"):
        return
    at = len(parts) - 1 - parts[::-1].index(old)
    other = ".".join([*parts[:at], new, *parts[at + 1 :]])
    index = max(read.place.stage, 0)
    stage = _with_text(program.stages[index], plain, other)
    stages = (*program.stages[:index], stage, *program.stages[index + 1 :])
    yield Mutant(slip, f"{other} for {plain}", index, stages)


def _with_text(node: Any, old: str, new: str) -> Any:
    if isinstance(node, Mapping):
        found = cast("Mapping[str, Any]", node)
        if set(found) & {"$group", "$sort", "$match", "$project"} and len(found) == 1:
            return {key: _with_text(value, old, new) for key, value in found.items()}
        return {
            (new if key == old and _is_condition(value) else key): _with_text(value, old, new)
            for key, value in found.items()
        }
    if isinstance(node, list | tuple):
        return [_with_text(part, old, new) for part in cast("Sequence[Any]", node)]
    return f"${new}" if node == f"${old}" else node


def _is_condition(value: Any) -> bool:
    return not (isinstance(value, str) and value.startswith("$"))


def _undefaulted(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for pointer, node in _objects(program.stages):
        parts = as_list(node.get("$ifNull"))
        if parts and len(node) == 1:
            stages = replaced(program.stages, pointer, parts[0])
            yield Mutant(Slip.DEFAULT_DROPPED, f"no $ifNull around {parts[0]}", _stage(pointer), stages)


def _limited(program: MqlProgram, _claims: Claims, _catalog: Catalog) -> Iterator[Mutant]:
    for index, stage in enumerate(program.stages):
        size = as_number(stage.get("$limit"))
        if size is not None:
            stages = replaced(program.stages, (index, "$limit"), int(size) + 1)
            yield Mutant(Slip.LIMIT, f"{int(size) + 1} for {int(size)}", index, stages)


def _objects(stages: Sequence[Any]) -> Iterator[tuple[Pointer, Mapping[str, Any]]]:
    """Walk every object of a pipeline with the way to it, without recursion."""
    waiting: list[tuple[Pointer, Any]] = [((n,), stage) for n, stage in reversed(list(enumerate(stages)))]
    while waiting:
        pointer, node = waiting.pop()
        if isinstance(node, Mapping):
            found = cast("Mapping[str, Any]", node)
            yield pointer, found
            waiting.extend(((*pointer, key), value) for key, value in reversed(list(found.items())))
        elif isinstance(node, list | tuple):
            items = list(enumerate(cast("Sequence[Any]", node)))
            waiting.extend(((*pointer, n), value) for n, value in reversed(items))


def _stage(pointer: Pointer) -> int:
    return cast("int", pointer[0])


_MAKERS: Final[tuple[Maker, ...]] = (
    _dropped, _shifted, _swapped, _reversed, _unpreserved, _apart, _accumulated, _other_keys, _siblings, _undefaulted,
    _limited,
)  # fmt: skip
