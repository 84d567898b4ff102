"""Constants in a program: their kinds, their types, and which parts of a program are constant."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from bson import (
    Binary,
    Code,
    DBRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)

from groundql.core.kind import Kind
from groundql.languages.flow.types import BLANK, EMPTY, Type, array_of, computed, record, unite_all

_KINDS: Final[tuple[tuple[type | tuple[type, ...], Kind], ...]] = (
    (bool, Kind.BOOL),
    (Int64, Kind.LONG),
    (float, Kind.DOUBLE),
    (Code, Kind.JAVASCRIPT),
    (str, Kind.STRING),
    (dt.datetime, Kind.DATE),
    (Decimal128, Kind.DECIMAL),
    (ObjectId, Kind.OBJECT_ID),
    (Timestamp, Kind.TIMESTAMP),
    ((Regex, re.Pattern), Kind.REGEX),
    (MinKey, Kind.MIN_KEY),
    (MaxKey, Kind.MAX_KEY),
    ((Binary, bytes), Kind.BINARY),
    ((Mapping, DBRef), Kind.OBJECT),
    ((list, tuple), Kind.ARRAY),
)


LITERALS: Final = ("$literal", "$const")
"""Operators that take their argument as it stands."""


def kind_of(value: object) -> Kind:
    """Tell the kind of a BSON value."""
    if value is None:
        return Kind.NULL
    for classes, kind in _KINDS:
        if isinstance(value, classes):
            return kind
    if isinstance(value, int):
        return Kind.INT if -(2**31) <= value < 2**31 else Kind.LONG
    return Kind.OTHER


def as_object(value: Any) -> Mapping[str, Any] | None:
    """Return an object with names as text, or None for anything else."""
    if value.__class__ is not dict and not isinstance(value, Mapping):
        return None
    mapping = cast("Mapping[Any, Any]", value)
    if all(isinstance(name, str) for name in mapping):
        return cast("Mapping[str, Any]", mapping)
    return {str(name): part for name, part in mapping.items()}


def as_list(value: Any) -> list[Any] | None:
    """Return an array's items, or None for anything else."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else None


def as_number(value: Any) -> float | None:
    """Return a number as a float, or None for anything else; a boolean is none."""
    if isinstance(value, Decimal128):
        return float(value.to_decimal())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def is_switch(value: Any) -> bool:
    """Tell whether a value turns a field on or off in a projection."""
    return isinstance(value, bool) or as_number(value) is not None


def is_pattern(value: Any) -> bool:
    """Tell whether a value is a regular expression."""
    return isinstance(value, (Regex, re.Pattern))


def with_options(pattern: Any, conditions: Mapping[str, Any]) -> Any:
    """Return a pattern with the `$options` that stand beside it; anything else as it is."""
    options = conditions.get("$options")
    text = pattern.pattern if is_pattern(pattern) else pattern
    return Regex(text, options) if isinstance(options, str) and isinstance(text, str) else pattern


def operator_of(value: Any) -> str:
    """Return the operator of an expression object, or the empty text for anything else."""
    spec = as_object(value)
    if not spec:
        return ""
    name = next(iter(spec))
    return name if name.startswith("$") and name != "$" else ""


def is_constant(value: Any, depth: int = 64) -> bool:
    """Tell whether an expression is a literal all the way down."""
    if isinstance(value, str):
        return not value.startswith("$")
    if depth == 0:
        return False
    items = as_list(value)
    if items is not None:
        return all(is_constant(item, depth - 1) for item in items)
    spec = as_object(value)
    if spec is None:
        return True
    if operator_of(spec) in LITERALS:
        return True
    return not any(name.startswith("$") for name in spec) and all(is_constant(v, depth - 1) for v in spec.values())


def constant(value: Any) -> Any:
    """Return what a constant expression stands for."""
    spec = as_object(value)
    if spec is not None:
        name = operator_of(spec)
        return spec[name] if name in LITERALS else {name: constant(v) for name, v in spec.items()}
    items = as_list(value)
    return [constant(item) for item in items] if items is not None else value


def literal_type(value: Any, depth: int = 64) -> Type:
    """Return the type of a constant."""
    items = as_list(value)
    if items is not None:
        return array_of(unite_all(literal_type(item, depth - 1) for item in items)) if depth and items else EMPTY
    spec = as_object(value)
    if spec is not None and not spec:
        return BLANK
    if spec is not None and depth:
        return record({name: literal_type(part, depth - 1) for name, part in spec.items()})
    return computed({kind_of(value)})
