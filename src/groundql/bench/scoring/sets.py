"""Which arrays of a gold's output have no order: what set operators made, followed to the last stage by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.bench.scoring.forms import NO_SETS, Way, below
from groundql.bench.scoring.order import operator_of

MAKERS: Final = frozenset({"$addToSet", "$setUnion", "$setIntersection", "$setDifference"})
"""Operators whose result the engine gives in no set order."""
_CHOOSING: Final = frozenset({"$ifNull", "$cond", "$push", "$first", "$last", "$mergeObjects", "$min", "$max"})
"""Operators whose result is one of their operands, or is made of them whole."""
_KEEPING: Final = frozenset({"$addFields", "$set"})


def unordered_arrays(stages: Sequence[Any]) -> frozenset[Way]:
    """Return the ways, by field names, to the arrays of the output that have no order.

    Each column's first step is its name; items of arrays take no step. Stages that are not understood pass nothing on.
    """
    known = NO_SETS
    for stage in stages:
        operator = operator_of(stage)
        known = _after(operator, stage[operator], known) if operator else NO_SETS
    return known


def _after(operator: str, body: Any, known: frozenset[Way]) -> frozenset[Way]:
    if operator in ("$match", "$sort", "$limit", "$skip", "$lookup", "$unwind", "$redact", "$graphLookup"):
        return known
    if not isinstance(body, Mapping):
        return known if operator == "$unset" else NO_SETS
    fields = cast("Mapping[str, Any]", body)
    if operator in ("$group", "$bucket", "$bucketAuto"):
        return frozenset(_of_fields(_outputs(operator, fields), known))
    if operator in _KEEPING:
        kept = {way for way in known if way[0] not in {name.split(".")[0] for name in fields}}
        return frozenset(kept | set(_of_fields(fields, known)))
    if operator == "$project":
        return _projected(fields, known)
    if operator in ("$replaceRoot", "$replaceWith"):
        return _of(fields.get("newRoot", fields), known)
    if operator == "$setWindowFields":
        return known | frozenset(_of_fields(fields.get("output", {}), known))
    return NO_SETS


def _outputs(operator: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields if operator == "$group" else fields.get("output") or {}


def _projected(fields: Mapping[str, Any], known: frozenset[Way]) -> frozenset[Way]:
    if all(_is_switch(value) and not value for name, value in fields.items() if name != "_id"):
        return known  # an exclusion
    kept = {name for name, value in fields.items() if _is_switch(value) and value}
    computed = {name: value for name, value in fields.items() if not _is_switch(value)}
    passed = {way for way in known if any(way[: len(name.split("."))] == tuple(name.split(".")) for name in kept)}
    return frozenset(passed | set(_of_fields(computed, known)))


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _of_fields(fields: Mapping[str, Any], known: frozenset[Way]) -> Iterator[Way]:
    for name, expression in fields.items():
        steps = tuple(name.split("."))
        yield from ((*steps, *way) for way in _of(expression, known))


def _of(expression: Any, known: frozenset[Way]) -> frozenset[Way]:
    """Return the ways to arrays without order inside an expression's result; recursion follows its nesting."""
    if isinstance(expression, str):
        return _referred(expression, known)
    if not isinstance(expression, Mapping):
        return NO_SETS
    document = cast("Mapping[str, Any]", expression)
    name = next(iter(document), "")
    if name in MAKERS:
        return frozenset({()})
    if name in ("$filter", "$map"):
        ways = _of(_input(document[name]), known)
        return ways if name == "$filter" else ways & {()}  # what is in its items, a $map may have changed
    if name in _CHOOSING:
        return frozenset(way for part in _operands(name, document[name]) for way in _of(part, known))
    return NO_SETS if name.startswith("$") else frozenset(_of_fields(document, known))


def _input(body: Any) -> Any:
    return cast("Mapping[str, Any]", body).get("input") if isinstance(body, Mapping) else None


def _operands(name: str, body: Any) -> Sequence[Any]:
    if name == "$cond" and isinstance(body, Mapping):
        return [value for key, value in cast("Mapping[str, Any]", body).items() if key != "if"]
    parts = cast("Sequence[Any]", body) if isinstance(body, list | tuple) else [body]
    return parts[1:] if name == "$cond" else parts


def _referred(text: str, known: frozenset[Way]) -> frozenset[Way]:
    if not text.startswith("$") or text.startswith("$$"):
        return NO_SETS
    found = known
    for step in text[1:].split("."):
        found = below(found, step)
    return found
