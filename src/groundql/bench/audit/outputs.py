"""What a gold puts out: columns nobody asked for, aggregates that are all zero, arrays whose order nothing decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.bench.audit.ground import Ground
from groundql.bench.audit.ordering import references
from groundql.bench.audit.remark import Check, Level, Remark
from groundql.bench.scoring.order import operator_of
from groundql.bench.scoring.sets import unordered_arrays
from groundql.grounding.words import stems
from groundql.languages.flow.literals import as_number, as_object

_GENERIC: Final = frozenset(
    stems(
        "id key value name count total number n c sum avg average mean min max first last item result group rows k v s"
    )
)
"""Words that name a column's form and not what it holds; a column of these alone says nothing to judge by."""


def output_remarks(ground: Ground) -> list[Remark]:
    """Look at a gold's rows and their columns."""
    rows = cast("Sequence[Mapping[str, Any]]", ground.rows)
    return [*_columns(ground, rows), *_zeros(rows), *_array_orders(ground, rows)]


def _columns(ground: Ground, rows: Sequence[Mapping[str, Any]]) -> Iterator[Remark]:
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names if len(names) > 1 else ():
        words = {w for text in (name, *_sources(ground, name)) for w in stems(text)} - _GENERIC
        if words and not any(ground.stated.has_word(w) for w in words):
            yield Remark(Check.COLUMN, Level.UNDECIDED, f"nothing in the question asks for the column {name!r}")


def _sources(ground: Ground, name: str, depth: int = 6) -> Iterator[str]:
    """The paths that a column is made of, followed back through the stages."""
    wanted = {name}
    for stage in reversed(ground.program.stages):
        body = as_object(stage.get(operator_of(stage))) or {}
        if operator_of(stage) == "$lookup" and body.get("as") in wanted:
            yield str(body.get("from"))
        for alias in list(wanted):
            if alias in body:
                wanted |= {text.split(".")[0] for text in references(body[alias])}
                yield from references(body[alias])
            elif operator_of(stage) == "$group" and alias == "_id":
                yield from references(body.get("_id"))


def _zeros(rows: Sequence[Mapping[str, Any]]) -> Iterator[Remark]:
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if all(as_number(value) == 0 for value in values):
            yield Remark(Check.ZERO, Level.UNDECIDED, f"the column {name!r} is zero in every row")
        elif all(value is None for value in values):
            yield Remark(Check.ZERO, Level.UNDECIDED, f"the column {name!r} is null or missing in every row")


def _array_orders(ground: Ground, rows: Sequence[Mapping[str, Any]]) -> Iterator[Remark]:
    stages = ground.program.stages
    sets = {way[0] for way in unordered_arrays(stages) if way}
    for name in dict.fromkeys(name for row in rows for name in row):
        if not any(isinstance(row.get(name), list) and len(row[name]) > 1 for row in rows):
            continue
        if name in sets:
            message = f"the items of {name!r} are a set, and the published protocol compares their order"
            yield Remark(Check.ARRAY_ORDER, Level.NOTE, message)
        elif _comes_from_keys(ground, name):
            message = f"the items of {name!r} come in the order of a map's keys, which is no order of a set"
            yield Remark(Check.ARRAY_ORDER, Level.UNDECIDED, message)
        elif _is_pushed_unsorted(stages, name):
            message = f"the items of {name!r} are collected without a sort before: nothing decides their order"
            yield Remark(Check.ARRAY_ORDER, Level.UNDECIDED, message)


def _comes_from_keys(ground: Ground, name: str) -> bool:
    """Tell whether a column's array is a map taken apart, by $map or $filter, in a projection of the last stages."""
    if "order" in ground.stated.folded and "stored" in ground.stated.folded:
        return False
    for stage in reversed(ground.program.stages):
        operator = operator_of(stage)
        if operator in ("$project", "$addFields", "$set"):
            body = cast("Mapping[str, Any]", stage[operator])
            if name in body and as_object(body[name]):
                return _takes_apart(body[name])
        elif operator in ("$group", "$unwind", "$bucket", "$facet"):
            return False
    return False


def _takes_apart(expression: Any) -> bool:
    spec = as_object(expression) or {}
    operator = next(iter(spec), "")
    if operator == "$objectToArray":
        return True
    if operator in ("$map", "$filter"):
        return _takes_apart((as_object(spec[operator]) or {}).get("input"))
    return False


def _is_pushed_unsorted(stages: Sequence[Any], name: str) -> bool:
    for index in range(len(stages) - 1, -1, -1):
        if operator_of(stages[index]) == "$group":
            pushed = as_object(stages[index]["$group"].get(name)) or {}
            return "$push" in pushed and not _any_sort(stages[:index])
    return False


def _any_sort(stages: Iterable[Any]) -> bool:
    return any(operator_of(stage) in ("$sort", "$setWindowFields") for stage in stages)
