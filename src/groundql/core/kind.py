"""The kinds of stored values, by MongoDB's type aliases; other engines map onto them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a stored value is. `missing` is the absence of the field, not a value."""

    MISSING = "missing"
    NULL = "null"
    BOOL = "bool"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OBJECT_ID = "objectId"
    BINARY = "binData"
    REGEX = "regex"
    OBJECT = "object"
    ARRAY = "array"
    JAVASCRIPT = "javascript"
    MIN_KEY = "minKey"
    MAX_KEY = "maxKey"
    OTHER = "other"


NUMBERS: Final = frozenset({Kind.INT, Kind.LONG, Kind.DOUBLE, Kind.DECIMAL})
NOTHING: Final = frozenset({Kind.MISSING, Kind.NULL})
EVERY: Final = frozenset(Kind)
