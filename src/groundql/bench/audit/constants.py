"""Which constants a gold holds, and what each of them does there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast

from groundql.languages.flow.literals import as_list, as_number, as_object, is_pattern

Pointer: TypeAlias = tuple[str | int, ...]
"""The way to a value in a program's stages: stage, then keys and positions."""


class Role(StrEnum):
    """What a constant does."""

    CONDITION = "condition"
    """A `$match` compares a field with it; the condition can be left out."""
    COMPARED = "compared"
    """An expression compares something with it."""
    SHOWN = "shown"
    """It can come out as a value: a branch, a default, a part of a text."""
    FACTOR = "factor"
    """Arithmetic uses it."""
    DIGITS = "digits"
    LIMIT = "limit"
    BOUNDARY = "boundary"


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant: its value, what it does, where it stands, and what it is compared with (as written)."""

    value: Any
    role: Role
    pointer: Pointer
    operator: str = ""
    beside: str = ""

    @property
    def stage(self) -> int:
        """The root stage that holds it, from 0."""
        return cast("int", self.pointer[0])


_COMPARING: Final = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$cmp", "$all"})
_ARITHMETIC: Final = frozenset({
    "$add", "$subtract", "$multiply", "$divide", "$mod", "$pow", "$log", "$sum", "$avg", "$max", "$min",
})  # fmt: skip
_LIMITING: Final = frozenset({"$slice", "$firstN", "$lastN", "$maxN", "$minN", "$topN", "$bottomN"})
_FORMAL: Final = frozenset({
    "$exists", "$type", "$options", "$isArray", "$isNumber", "$arrayElemAt", "$range", "$substr", "$substrCP",
    "$substrBytes", "$dateToString", "$dateTrunc", "$dateFromString", "$dateDiff", "$convert", "$split", "$trim",
    "$ltrim", "$rtrim", "$replaceOne", "$replaceAll", "$indexOfArray", "$indexOfCP", "$indexOfBytes", "$getField",
    "$setField", "$unsetField", "$regexMatch", "$regexFind", "$regexFindAll", "$text", "$sortArray", "$meta",
    "$dateAdd", "$dateSubtract", "$zip",
})  # fmt: skip
"""Operators whose constants say how, not what: positions, formats, separators, names of fields."""
_TESTS: Final = ("$type", "$isArray", "$isNumber")
_PIPELINES: Final = {"$lookup": "pipeline", "$unionWith": "pipeline"}


def constants_of(stages: Sequence[Any]) -> Iterator[Constant]:
    """Yield the constants of a pipeline in the order in which they stand."""
    for index, stage in enumerate(stages):
        spec = as_object(stage)
        if spec:
            operator = next(iter(spec))
            yield from _stage(operator, spec[operator], (index, operator))


def _stage(operator: str, body: Any, at: Pointer) -> Iterator[Constant]:
    spec = as_object(body) or {}
    match operator:
        case "$match":
            yield from _conditions(spec, at)
        case "$limit" | "$skip":
            yield Constant(body, Role.LIMIT, at, operator)
        case "$lookup" | "$unionWith":
            yield from _nested(as_list(spec.get("pipeline")) or [], (*at, "pipeline"))
        case "$facet":
            for name, pipeline in spec.items():
                yield from _nested(as_list(pipeline) or [], (*at, name))
        case "$bucket":
            boundaries = as_list(spec.get("boundaries")) or []
            yield from (Constant(b, Role.BOUNDARY, (*at, "boundaries", n), operator) for n, b in enumerate(boundaries))
            if "default" in spec:
                yield Constant(spec["default"], Role.SHOWN, (*at, "default"), operator)
            yield from _fields({k: spec[k] for k in ("groupBy", "output") if k in spec}, at, switches=False)
        case "$project":
            yield from _fields(spec, at, switches=True)
        case "$addFields" | "$set" | "$group" | "$replaceRoot" | "$replaceWith" | "$setWindowFields":
            yield from _fields(_outputs(operator, spec), at, switches=False)
        case _:
            return


def _outputs(operator: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"output": spec.get("output", {})} if operator == "$setWindowFields" else spec


def _nested(stages: Sequence[Any], at: Pointer) -> Iterator[Constant]:
    for constant in constants_of(stages):
        yield Constant(constant.value, constant.role, (*at, *constant.pointer), constant.operator, constant.beside)


def _fields(spec: Mapping[str, Any], at: Pointer, *, switches: bool) -> Iterator[Constant]:
    for name, value in spec.items():
        if not (switches and (isinstance(value, bool) or as_number(value) is not None)):
            yield from _expression(value, (*at, name), Role.SHOWN)


def _conditions(spec: Mapping[str, Any], at: Pointer, path: str = "") -> Iterator[Constant]:
    for name, value in spec.items():
        here = (*at, name)
        items = as_list(value)
        if name in ("$and", "$or", "$nor") and items is not None:
            for n, item in enumerate(items):
                yield from _conditions(as_object(item) or {}, (*here, n), path)
        elif name == "$expr":
            yield from _expression(value, here, Role.COMPARED)
        elif name in ("$elemMatch", "$not"):
            yield from _conditions(as_object(value) or {}, here, path)
        elif name.startswith("$"):
            yield from _condition(name, value, here, path)
        elif (tests := as_object(value)) and next(iter(tests)).startswith("$"):
            yield from _conditions(tests, here, name)
        else:
            yield Constant(value, Role.CONDITION, here, "$eq", name)


def _condition(operator: str, value: Any, at: Pointer, path: str) -> Iterator[Constant]:
    if operator in ("$exists", "$type", "$options", "$mod", "$text", "$comment"):
        return
    for n, item in enumerate(as_list(value) or ()):
        yield Constant(item, Role.CONDITION, (*at, n), operator, path)
    if as_list(value) is None:
        yield Constant(value, Role.CONDITION, at, operator, path)


def _expression(value: Any, at: Pointer, role: Role, operator: str = "", beside: str = "") -> Iterator[Constant]:
    spec, items = as_object(value), as_list(value)
    if spec is not None:
        name = next(iter(spec), "")
        if name.startswith("$"):
            yield from _operation(name, spec[name], (*at, name), role, beside)
        else:
            for key, part in spec.items():
                yield from _expression(part, (*at, key), role, operator, beside)
    elif items is not None:
        for n, item in enumerate(items):
            yield from _expression(item, (*at, n), role, operator, beside)
    elif not (isinstance(value, str) and value.startswith("$")):
        yield Constant(value, role, at, operator, beside)


def _operation(name: str, body: Any, at: Pointer, role: Role, beside: str) -> Iterator[Constant]:
    items = as_list(body)
    if name == "$literal":
        yield Constant(body, role, at, name, beside)
    elif name in _COMPARING and items is not None:
        yield from _comparison(name, items, at)
    elif name in _BRANCHING:
        yield from _BRANCHING[name](name, body, at, role)
    elif name in _ARITHMETIC:
        yield from _expression(body, at, Role.FACTOR, name, beside)
    elif name in _FORMAL:
        spec = as_object(body)
        parts = spec.items() if spec else enumerate(items or ())
        yield from (c for key, part in parts if as_object(part) for c in _expression(part, (*at, key), role, name))
    else:
        yield from _expression(body, at, role, name, beside)


def _comparison(name: str, items: list[Any], at: Pointer) -> Iterator[Constant]:
    if any(test in (as_object(item) or {}) for item in items for test in _TESTS):
        return
    for n, item in enumerate(items):
        others = " ".join(str(other) for other in items if other is not item)
        yield from _expression(item, (*at, n), Role.COMPARED, name, others)


def _cond(name: str, body: Any, at: Pointer, role: Role) -> Iterator[Constant]:
    items, spec = as_list(body), as_object(body) or {}
    keys: Sequence[str | int] = (0, 1, 2) if items is not None else ("if", "then", "else")
    branches = items if items is not None else [spec.get(str(key)) for key in keys]
    for key, part, of in zip(keys, branches, (Role.COMPARED, role, role), strict=False):
        yield from _expression(part, (*at, key), of, name)


def _switch(name: str, body: Any, at: Pointer, role: Role) -> Iterator[Constant]:
    spec = as_object(body) or {}
    for n, branch in enumerate(as_list(spec.get("branches")) or ()):
        parts = as_object(branch) or {}
        yield from _expression(parts.get("case"), (*at, "branches", n, "case"), Role.COMPARED, name)
        yield from _expression(parts.get("then"), (*at, "branches", n, "then"), role, name)
    if "default" in spec:
        yield from _expression(spec["default"], (*at, "default"), role, name)


def _over_items(name: str, body: Any, at: Pointer, role: Role) -> Iterator[Constant]:
    spec = as_object(body) or {}
    for key in ("input", "cond", "vars", "in"):
        if key in spec:
            yield from _expression(spec[key], (*at, key), Role.COMPARED if key == "cond" else role, name)


def _rounding(name: str, body: Any, at: Pointer, role: Role) -> Iterator[Constant]:
    items = as_list(body)
    yield from _expression(items[0] if items else body, (*at, 0) if items else at, role, name)
    if items and len(items) > 1:
        yield Constant(items[1], Role.DIGITS, (*at, 1), name)


def _limiting(name: str, body: Any, at: Pointer, _role: Role) -> Iterator[Constant]:
    items, spec = as_list(body), as_object(body) or {}
    if items:
        yield Constant(items[-1], Role.LIMIT, (*at, len(items) - 1), name)
    elif as_number(spec.get("n")) is not None:
        yield Constant(spec["n"], Role.LIMIT, (*at, "n"), name)


_BRANCHING: Final[Mapping[str, Callable[[str, Any, Pointer, Role], Iterator[Constant]]]] = {
    "$cond": _cond,
    "$switch": _switch,
    **dict.fromkeys(("$filter", "$map", "$reduce", "$let"), _over_items),
    **dict.fromkeys(("$round", "$trunc"), _rounding),
    **dict.fromkeys(_LIMITING, _limiting),
}


def is_told(value: Any) -> bool:
    """Tell whether a constant is of a kind that a question has to state: a number, a text, a date, a pattern."""
    return (
        (isinstance(value, str) and any(c.isalnum() for c in value))
        or isinstance(value, dt.datetime)
        or is_pattern(value)
        or as_number(value) is not None
    )


def replaced(stages: Sequence[Any], pointer: Pointer, new: Any) -> tuple[Any, ...]:
    """Return the stages with another value at a place."""
    return tuple(cast("list[Any]", _replaced(list(stages), pointer, new)))


def _replaced(node: Any, pointer: Pointer, new: Any) -> Any:
    if not pointer:
        return new
    step, rest = pointer[0], pointer[1:]
    if isinstance(node, Mapping):
        found = cast("Mapping[Any, Any]", node)
        return {key: _replaced(value, rest, new) if key == step else value for key, value in found.items()}
    return [_replaced(value, rest, new) if n == step else value for n, value in enumerate(cast("Sequence[Any]", node))]


def without(stages: Sequence[Any], pointer: Pointer) -> tuple[Any, ...] | None:
    """Return the stages without what stands at a place; a `$match` that is left empty matches everything."""
    holder = pointer[:-1]
    node: Any = list(stages)
    for step in holder:
        node = node[step]
    last = pointer[-1]
    if isinstance(node, Mapping):
        rest = {key: value for key, value in cast("Mapping[Any, Any]", node).items() if key != last}
        if rest or (len(holder) == 2 and holder[-1] == "$match"):
            return replaced(stages, holder, rest)
        return without(stages, holder) if len(holder) > 2 else None
    rest_items = [value for n, value in enumerate(cast("Sequence[Any]", node)) if n != last]
    if rest_items:
        return replaced(stages, holder, rest_items)
    return without(stages, holder) if len(holder) > 1 else None
