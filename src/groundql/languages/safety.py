"""Which programs may run: an allow-list over the whole tree, and the only maker of `Admitted`.

Every `$`-key is judged in the position where it stands (stage, expression, accumulator, window function, filter,
condition on a field), at every nesting. What is not known to read only is refused. Data is left alone: text, what
`$literal` holds, the values a filter compares with.

The judged tree is a copy made of plain dicts and lists, and that copy is what gets sealed: neither a mapping that
shows different keys each time nor a change made afterwards can slip past.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from rapidfuzz import fuzz, process

from groundql.core.finding import Code, Finding
from groundql.core.program import Admitted, MqlProgram, Place, Program
from groundql.languages.bounds import Refused, copy_plain, kind_name, shorten
from groundql.languages.operators import OPERATORS, SYSTEM_VARIABLES, Position, is_since, positions_of, read_names


@dataclass(frozen=True, slots=True)
class _Visit:
    """One value still to be judged: by which check, and the way down to it."""

    check: Check
    value: Any
    at: str
    version: str

    def below(self, check: Check, value: Any, step: str) -> _Visit:
        return _Visit(check, value, self.at + step, self.version)


Check: TypeAlias = Callable[["_Visit"], "Iterator[_Visit]"]


def admit(program: Program, version: str = "") -> Admitted | Finding:
    """Seal a program that only reads, or say why it may never run.

    `version` is the server's; operators that came later are refused. Without it every supported one is admitted.
    """
    if not isinstance(program, MqlProgram):
        return Finding(Code.FORBIDDEN, "only MongoDB aggregations can be run")
    try:
        _judge_collection(program.container, "")
        stages: Any = program.stages  # what it is declared to be may not be what came
        copied = tuple(copy_plain(_items(stages, "a pipeline", "")))
    except Refused as refused:
        return _finding(refused, Place(-1))
    for index, stage in enumerate(copied):
        try:
            _judge_all(_Visit(_root_stage, stage, "", version))
        except Refused as refused:
            return _finding(refused, Place(index, _first_key(stage), refused.at))
    return Admitted(MqlProgram(str.__str__(program.container), copied))


def _judge_all(first: _Visit) -> None:
    waiting = [first]
    while waiting:
        visit = waiting.pop()
        waiting.extend(visit.check(visit))


def _finding(refused: Refused, place: Place) -> Finding:
    return Finding(refused.code, refused.message, place, nearest=refused.nearest)


def _first_key(stage: Any) -> str:
    return next(iter(cast("dict[str, Any]", stage)), "") if isinstance(stage, dict) else ""


def _items(value: Any, noun: str, at: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise Refused(Code.MALFORMED, f"{noun} must be a list, not {kind_name(value)}", at)
    return list(cast("Sequence[Any]", value))


# --- names ------------------------------------------------------------------------------------------------------------


def _judge_collection(name: Any, at: str) -> None:
    if isinstance(name, Mapping):
        raise Refused(Code.FORBIDDEN, "a program reads its own database only: name a collection as plain text", at)
    if not isinstance(name, str) or not name:
        raise Refused(Code.MALFORMED, f"a collection's name must be text, not {shorten(name)}", at)
    if name.startswith(("system.", "$")):
        raise Refused(Code.FORBIDDEN, f"{name} belongs to the server, not to the data", at)
    if "\0" in name:
        raise Refused(Code.MALFORMED, f"the collection name {shorten(name)} holds a NUL character", at)


def _judge_operator(name: str, position: Position, visit: _Visit) -> None:
    known = OPERATORS[position].get(name)
    if known is None:
        raise _unknown(name, position, visit.at)
    if not known.reads_only:
        raise Refused(Code.FORBIDDEN, f"{name} may not run: {known.refusal}", visit.at)
    if not is_since(known.since, visit.version):
        message = f"{name} needs MongoDB {known.since}, and this server is {visit.version}"
        raise Refused(Code.UNKNOWN_OPERATOR, message, visit.at)


_NOUNS: Final = {
    Position.STAGE: "a pipeline stage",
    Position.EXPRESSION: "an expression",
    Position.ACCUMULATOR: "an accumulator",
    Position.WINDOW: "a window function",
    Position.QUERY: "a filter",
    Position.PREDICATE: "a condition on a field",
}


def _unknown(name: str, position: Position, at: str) -> Refused:
    elsewhere = [_NOUNS[p] for p in positions_of(name)]
    message = f"{shorten(name)[1:-1]} is not {_NOUNS[position]} that is known to read only"
    if elsewhere:
        message = f"{name} is not {_NOUNS[position]}; it is {' or '.join(elsewhere)}"
    return Refused(Code.UNKNOWN_OPERATOR, message, at, _nearest(name, read_names(position)))


def _nearest(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    found = process.extract(name[:60].lower(), names, scorer=fuzz.ratio, processor=str.lower, limit=3, score_cutoff=75)
    return tuple(match[0] for match in found)


def _step(key: str) -> str:
    return "." + (key if len(key) <= 60 else key[:59] + "…")


# --- pipelines and stages ---------------------------------------------------------------------------------------------


def _root_stage(visit: _Visit) -> Iterator[_Visit]:
    name, value = _only_key(visit, "a stage")
    _judge_operator(name, Position.STAGE, visit)
    if name == "$documents":
        raise Refused(Code.FORBIDDEN, "$documents stands only first in the pipeline of a $lookup or $unionWith")
    yield _Visit(_SHAPES[name], value, name, visit.version)


def _stage(visit: _Visit) -> Iterator[_Visit]:
    name, value = _only_key(visit, "a stage")
    _judge_operator(name, Position.STAGE, visit)
    if name == "$documents" and not visit.at.endswith("[0]"):
        raise Refused(Code.FORBIDDEN, "$documents stands only first in a pipeline", visit.at)
    yield visit.below(_SHAPES[name], value, "." + name)


def _pipeline(visit: _Visit) -> Iterator[_Visit]:
    yield from _each_item(_stage, visit)


def _only_key(visit: _Visit, noun: str) -> tuple[str, Any]:
    mapping = _mapping(visit, noun)
    if len(mapping) != 1:
        keys = ", ".join(shorten(key) for key in list(mapping)[:4]) or "none"
        raise Refused(Code.MALFORMED, f"{noun} has exactly one key, this one has {len(mapping)}: {keys}", visit.at)
    return next(iter(mapping.items()))


def _mapping(visit: _Visit, noun: str) -> dict[str, Any]:
    value: Any = visit.value
    if not isinstance(value, dict):
        raise Refused(Code.MALFORMED, f"{noun} must be a document, not {kind_name(value)}", visit.at)
    return cast("dict[str, Any]", value)


@dataclass(frozen=True, slots=True)
class _Options:
    """A stage with named options: each by its own check, no others."""

    checks: Mapping[str, Check] = field(default_factory=dict[str, Check])
    bare: Check | None = None

    def __call__(self, visit: _Visit) -> Iterator[_Visit]:
        if self.bare and not isinstance(visit.value, dict):
            yield visit.below(self.bare, visit.value, "")
            return
        for name, value in _mapping(visit, visit.at.rpartition(".")[2]).items():
            if name not in self.checks:
                nearest = _nearest(name, tuple(self.checks))
                message = f"{shorten(name)} is not an option of {visit.at.rpartition('.')[2]}"
                raise Refused(Code.UNKNOWN_OPERATOR, message, visit.at, nearest)
            yield visit.below(self.checks[name], value, _step(name))


@dataclass(frozen=True, slots=True)
class _Each:
    """A document whose keys are free names and whose values all go by one check."""

    check: Check

    def __call__(self, visit: _Visit) -> Iterator[_Visit]:
        for name, value in _mapping(visit, visit.at.rpartition(".")[2]).items():
            if name.startswith("$"):
                message = f"{shorten(name)} stands where a field's name is expected"
                raise Refused(Code.UNKNOWN_OPERATOR, message, visit.at)
            yield visit.below(self.check, value, _step(name))


def _each_item(check: Check, visit: _Visit) -> Iterator[_Visit]:
    for index, item in enumerate(_items(visit.value, visit.at.rpartition(".")[2], visit.at)):
        yield visit.below(check, item, f"[{index}]")


def _plain(visit: _Visit) -> Iterator[_Visit]:
    """Judge an argument that has a grammar of its own without any operators."""
    if isinstance(visit.value, list):
        yield from _each_item(_plain, visit)
    elif isinstance(visit.value, dict):
        yield from _Each(_plain)(visit)


def _collection(visit: _Visit) -> Iterator[_Visit]:
    _judge_collection(visit.value, visit.at)
    return iter(())


def _sort(visit: _Visit) -> Iterator[_Visit]:
    yield from _Each(_sort_order)(visit)


def _sort_order(visit: _Visit) -> Iterator[_Visit]:
    if isinstance(visit.value, dict):
        name, _ = _only_key(visit, "a sort order")
        if name != "$meta":
            raise Refused(Code.UNKNOWN_OPERATOR, f"{shorten(name)} is not a sort order: use 1, -1 or $meta", visit.at)
    return iter(())


# --- expressions ------------------------------------------------------------------------------------------------------


def _expression(visit: _Visit) -> Iterator[_Visit]:
    value = visit.value
    if isinstance(value, str):
        _judge_variable(value, visit)
    elif isinstance(value, list):
        yield from _each_item(_expression, visit)
    elif isinstance(value, dict):
        yield from _expression_document(visit)


def _expression_document(visit: _Visit) -> Iterator[_Visit]:
    mapping = _mapping(visit, "an expression")
    if not any(key.startswith("$") for key in mapping):
        yield from (visit.below(_expression, value, _step(key)) for key, value in mapping.items())
        return
    for key in mapping:
        if key.startswith("$"):
            _judge_operator(key, Position.EXPRESSION, visit)
    name, value = _only_key(visit, "an operator's document")
    if name not in ("$literal", "$const", "$meta"):
        yield visit.below(_expression, value, _step(name))


def _judge_variable(text: str, visit: _Visit) -> None:
    found = re.match(r"\$\$([A-Z][A-Z_]*)(?=\.|\Z)", text)
    if not found:
        return
    name = found[1]
    if name not in SYSTEM_VARIABLES:
        nearest = tuple("$$" + match for match in _nearest(name, tuple(SYSTEM_VARIABLES)))
        raise Refused(Code.UNKNOWN_OPERATOR, f"$${name} is not a variable of the server", visit.at, nearest)
    if not is_since(SYSTEM_VARIABLES[name], visit.version):
        message = f"$${name} needs MongoDB {SYSTEM_VARIABLES[name]}, and this server is {visit.version}"
        raise Refused(Code.UNKNOWN_OPERATOR, message, visit.at)


def _group(visit: _Visit) -> Iterator[_Visit]:
    for name, value in _mapping(visit, "$group").items():
        if name.startswith("$"):
            raise Refused(Code.UNKNOWN_OPERATOR, f"{shorten(name)} stands where a field's name is expected", visit.at)
        yield visit.below(_expression if name == "_id" else _accumulator, value, _step(name))


def _accumulator(visit: _Visit) -> Iterator[_Visit]:
    name, value = _only_key(visit, "an accumulator")
    _judge_operator(name, Position.ACCUMULATOR, visit)
    yield visit.below(_expression, value, _step(name))


def _window(visit: _Visit) -> Iterator[_Visit]:
    mapping = _mapping(visit, "a window function")
    operators = [name for name in mapping if name != "window"]
    if len(operators) != 1:
        raise Refused(Code.MALFORMED, "an output of $setWindowFields has one window function", visit.at)
    _judge_operator(operators[0], Position.WINDOW, visit)
    yield visit.below(_expression, mapping[operators[0]], _step(operators[0]))
    if "window" in mapping:
        yield visit.below(_named("documents range unit"), mapping["window"], ".window")


# --- filters ----------------------------------------------------------------------------------------------------------


def _filter(visit: _Visit) -> Iterator[_Visit]:
    for name, value in _mapping(visit, "a filter").items():
        if not name.startswith("$"):
            yield visit.below(_condition, value, _step(name))
            continue
        _judge_operator(name, Position.QUERY, visit)
        if name in ("$and", "$or", "$nor"):
            yield visit.below(_filters, value, _step(name))
        elif name == "$expr":
            yield visit.below(_expression, value, _step(name))


def _filters(visit: _Visit) -> Iterator[_Visit]:
    yield from _each_item(_filter, visit)


def _condition(visit: _Visit) -> Iterator[_Visit]:
    """Judge what a field is compared with: a value as it is stored, or a document of operators."""
    if not isinstance(visit.value, dict):
        return
    mapping = _mapping(visit, "a condition")
    if {name for name in mapping if name.startswith("$")} <= {"$ref", "$id", "$db"}:
        return  # a value as it is stored; these three keys make a reference to a document
    for name, argument in mapping.items():
        _judge_operator(name, Position.PREDICATE, visit)
        if name in _NESTED_CONDITIONS:
            yield visit.below(_NESTED_CONDITIONS[name], argument, _step(name))


def _element_match(visit: _Visit) -> Iterator[_Visit]:
    mapping = _mapping(visit, "$elemMatch")
    first = next(iter(mapping), "")
    yield visit.below(_condition if first in OPERATORS[Position.PREDICATE] else _filter, mapping, "")


def _all_items(visit: _Visit) -> Iterator[_Visit]:
    for index, item in enumerate(_items(visit.value, "$all", visit.at)):
        if isinstance(item, dict) and "$elemMatch" in item:
            yield visit.below(_condition, item, f"[{index}]")


_NESTED_CONDITIONS: Final[Mapping[str, Check]] = {"$not": _condition, "$elemMatch": _element_match, "$all": _all_items}


def _elsewhere(visit: _Visit) -> Iterator[_Visit]:
    raise Refused(Code.FORBIDDEN, "a program reads its own database only: drop the db option", visit.at)


def _named(plain: str = "", judged: Mapping[str, Check] | None = None, bare: Check | None = None) -> _Options:
    return _Options({**dict.fromkeys(plain.split(), _plain), **(judged or {})}, bare)


_FUSED: Final = _named("normalization", {"pipelines": _Each(_pipeline)})

_SHAPES: Final[Mapping[str, Check]] = {
    "$addFields": _Each(_expression),
    "$bucket": _named(
        judged={
            "groupBy": _expression,
            "boundaries": _expression,
            "default": _expression,
            "output": _Each(_accumulator),
        }
    ),
    "$bucketAuto": _named("buckets granularity", {"groupBy": _expression, "output": _Each(_accumulator)}),
    "$count": _plain,
    "$densify": _named("field partitionByFields range"),
    "$documents": _expression,
    "$facet": _Each(_pipeline),
    "$fill": _named(
        "partitionByFields",
        {"partitionBy": _expression, "sortBy": _sort, "output": _Each(_named("method", {"value": _expression}))},
    ),
    "$geoNear": _named(
        "distanceField spherical key distanceMultiplier includeLocs uniqueDocs limit num",
        {"near": _expression, "query": _filter, "maxDistance": _expression, "minDistance": _expression},
    ),
    "$graphLookup": _named(
        "connectFromField connectToField as maxDepth depthField",
        {"from": _collection, "startWith": _expression, "restrictSearchWithMatch": _filter},
    ),
    "$group": _group,
    "$limit": _expression,
    "$lookup": _named(
        "localField foreignField as", {"from": _collection, "let": _Each(_expression), "pipeline": _pipeline}
    ),
    "$match": _filter,
    "$project": _Each(_expression),
    "$rankFusion": _named("combination scoreDetails", {"input": _FUSED}),
    "$redact": _expression,
    "$replaceRoot": _named(judged={"newRoot": _expression}),
    "$replaceWith": _expression,
    "$sample": _named("size"),
    "$score": _named("scoreDetails normalization", {"score": _expression, "weight": _expression}),
    "$scoreFusion": _named(
        "scoreDetails", {"input": _FUSED, "combination": _named("weights method", {"expression": _expression})}
    ),
    "$search": _plain,
    "$searchMeta": _plain,
    "$set": _Each(_expression),
    "$setWindowFields": _named(
        judged={"partitionBy": _expression, "sortBy": _sort, "output": _Each(_window)},
    ),
    "$skip": _expression,
    "$sort": _sort,
    "$sortByCount": _expression,
    "$unionWith": _named(judged={"coll": _collection, "pipeline": _pipeline, "db": _elsewhere}, bare=_collection),
    "$unset": _plain,
    "$unwind": _named("path includeArrayIndex preserveNullAndEmptyArrays", bare=_plain),
    "$vectorSearch": _named(
        "exact index limit numCandidates path query queryVector model explainOptions returnStoredSource",
        {"filter": _filter},
    ),
}
"""What stands in each stage that may run."""
