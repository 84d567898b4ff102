"""Fixers that never fail: they bring a literal to the one form that the data shows, or leave the program as it is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from bson import Decimal128, ObjectId

from groundql.core.answer import Grounding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.path import ITEMS, Path
from groundql.core.program import Comparison, MqlProgram, Program, ReadStatus
from groundql.grounding.words import fold
from groundql.languages.flow import analyse

ONLY_TEXT: Final = frozenset({Kind.STRING})
REWRITABLE: Final = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all"})


def whole_limits(program: Program, grounding: Grounding) -> Program:
    """Write `$limit` and `$skip` counts as whole numbers."""
    if not isinstance(program, MqlProgram):
        return program
    return replace(program, stages=tuple(_whole(stage) for stage in program.stages))


def _whole(stage: Mapping[str, Any]) -> Mapping[str, Any]:
    for operator in ("$limit", "$skip"):
        value = stage.get(operator)
        if isinstance(value, float) and value.is_integer():
            return {operator: int(value)}
        if isinstance(value, str) and value.strip().isdigit():
            return {operator: int(value)}
    return stage


def stored_forms(program: Program, grounding: Grounding) -> Program:
    """Bring the literals of `$match` stages to the kind and spelling under which their field stores them."""
    if not isinstance(program, MqlProgram):
        return program
    try:
        return _with_stored_forms(program, grounding)
    except (RecursionError, TypeError, ValueError):
        return program


def _with_stored_forms(program: MqlProgram, grounding: Grounding) -> MqlProgram:
    stages = list(program.stages)
    for comparison in analyse(program, grounding.catalog).comparisons:
        stage = comparison.place.stage
        if not _is_rewritable(comparison) or not 0 <= stage < len(stages) or "$match" not in stages[stage]:
            continue
        for old in _each(comparison.value):
            new = _stored_form(old, comparison, grounding)
            if new is not None:
                stages[stage] = _replaced(stages[stage], comparison.read.text, old, new)
    return replace(program, stages=tuple(stages))


def _is_rewritable(comparison: Comparison) -> bool:
    read = comparison.read
    return comparison.operator in REWRITABLE and read.role == "match" and read.status is ReadStatus.STORED


def _each(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]


def _stored_form(value: Any, comparison: Comparison, grounding: Grounding) -> Any | None:
    """The stored form of a literal, or None where it is right already or the data does not decide."""
    kinds = comparison.read.kinds - NOTHING - {Kind.ARRAY}
    if not kinds or kinds == EVERY - NOTHING - {Kind.ARRAY}:
        return None
    if isinstance(value, str):
        return _spelling(value, comparison, grounding) if Kind.STRING in kinds else _from_text(value, kinds)
    if isinstance(value, int | float) and not isinstance(value, bool) and kinds == ONLY_TEXT:
        text = str(value)
        return text if text in _texts_at(comparison, grounding) else None
    return None


def _from_text(text: str, kinds: frozenset[Kind]) -> Any | None:
    if kinds <= {Kind.DATE, Kind.TIMESTAMP}:
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    if kinds <= {Kind.OBJECT_ID}:
        return ObjectId(text) if ObjectId.is_valid(text) else None
    if kinds <= {Kind.DECIMAL}:
        return Decimal128(text) if _is_number(text) else None
    if kinds <= NUMBERS and _is_number(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _spelling(text: str, comparison: Comparison, grounding: Grounding) -> str | None:
    stored = _texts_at(comparison, grounding)
    if text in stored:
        return None
    same = [s for s in stored if fold(s) == fold(text)]
    return same[0] if len(same) == 1 else None


def _texts_at(comparison: Comparison, grounding: Grounding) -> frozenset[str]:
    read = comparison.read
    container = grounding.catalog.get(read.container)
    if container is None or read.path is None:
        return frozenset()
    found = {v for path in _with_items(read.path) if (f := container.get(path)) for v in f.values if isinstance(v, str)}
    found.update(
        w.stored
        for w in grounding.witnesses
        if w.container == read.container
        and w.path in _with_items(read.path)
        and not w.is_key
        and isinstance(w.stored, str)
    )
    return frozenset(found)


def _with_items(path: Path) -> tuple[Path, ...]:
    return path, path / ITEMS


def _replaced(node: Any, key: str, old: Any, new: Any, *, inside: bool = False) -> Any:
    if isinstance(node, Mapping):
        entries = cast("Mapping[str, Any]", node)
        return {k: _replaced(v, key, old, new, inside=inside or k == key) for k, v in entries.items()}
    if isinstance(node, list | tuple):
        return [_replaced(v, key, old, new, inside=inside) for v in cast("list[Any]", node)]
    return new if inside and type(node) is type(old) and node == old else node
