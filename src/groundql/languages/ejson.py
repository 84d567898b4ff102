"""MongoDB Extended JSON inside decoded documents: markers such as `{"$oid": ...}` to BSON values.

Only documents that are exactly a marker change. Operators stay operators, `{"$regex": ..., "$options": ...}` among
them, which is a condition on a field in every position where it can stand.
Source: the MongoDB Extended JSON specification, versions 1 and 2.
"""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.binary import UuidRepresentation

from groundql.languages.instants import Instant, instant, read_instant

_LONG: Final = range(-(2**63), 2**63)
_INT: Final = range(-(2**31), 2**31)


def decode(value: Any) -> Any:
    """Turn the markers inside decoded JSON into BSON values.

    Raises: ValueError for a marker whose content does not fit; RecursionError never within `MAX_DEPTH` levels.
    """
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return decode_document({key: decode(item) for key, item in mapping.items()})
    if isinstance(value, list | tuple):
        return [decode(item) for item in cast("Sequence[Any]", value)]
    return value


def decode_document(document: dict[str, Any]) -> Any:
    """Return the BSON value that a document stands for, or the document itself. Its own values are decoded already.

    Raises: ValueError for a marker whose content does not fit.
    """
    if not 1 <= len(document) <= 2:
        return document
    name = next(iter(document))
    read = _MARKERS.get(name)
    if read is not None and len(document) == 1:
        return read(document[name])
    if set(document) == {"$binary", "$type"} and isinstance(document["$binary"], str):
        return read_binary(document["$binary"], document["$type"])
    if "$code" in document and set(document) <= {"$code", "$scope"}:
        raise ValueError("JavaScript code is not read: a query is data")
    return document


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} takes text, not {type(value).__name__}")
    return value


def read_object_id(value: Any) -> ObjectId:
    """Read an ObjectId of 24 hexadecimal digits.

    Raises: ValueError for anything else.
    """
    text = str(value)
    if not re.fullmatch(r"[0-9a-fA-F]{24}", text, re.ASCII):
        raise ValueError(f"an ObjectId is 24 hexadecimal digits, not {text[:40]!r}")
    return ObjectId(text)


def read_long(value: Any) -> Int64:
    """Read a 64-bit integer.

    Raises: ValueError for what is none.
    """
    return Int64(_whole(value, _LONG, "a 64-bit integer"))


def read_int(value: Any) -> int:
    """Read a 32-bit integer.

    Raises: ValueError for what is none.
    """
    return _whole(value, _INT, "a 32-bit integer")


def _whole(value: Any, bounds: range, noun: str) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d{1,30}\s*", value, re.ASCII):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or int(value) not in bounds:
        raise ValueError(f"{str(value)[:40]!r} is not {noun}")
    return int(value)


def read_double(value: Any) -> float:
    """Read a double.

    Raises: ValueError for what is none.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is not a number") from None


def read_decimal(value: Any) -> Decimal128:
    """Read a decimal, exactly.

    Raises: ValueError for what is none.
    """
    try:
        return Decimal128(str(value))
    except (ArithmeticError, ValueError):
        raise ValueError(f"{str(value)[:40]!r} is not a decimal number") from None


def read_date(value: Any) -> Instant:
    """Read a date: ISO 8601 text, or milliseconds since 1970.

    Raises: ValueError for what is none.
    """
    if isinstance(value, str):
        return read_instant(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a date is text or milliseconds, not {type(value).__name__}")
    return instant(value)


def read_uuid(value: Any) -> Binary:
    """Read a UUID as the binary it is stored as.

    Raises: ValueError for what is none.
    """
    try:
        return Binary.from_uuid(uuid.UUID(_text(value, "a UUID")), UuidRepresentation.STANDARD)
    except ValueError:
        raise ValueError(f"{str(value)[:40]!r} is not a UUID") from None


def read_binary(text: Any, subtype: Any) -> Binary | bytes:
    """Read base64 with a subtype (a number, or hexadecimal text).

    Raises: ValueError for what is none.
    """
    try:
        data = base64.b64decode(_text(text, "binary data"), validate=True)
    except binascii.Error:
        raise ValueError("the binary data is not base64") from None
    return binary(data, subtype)


def binary(data: bytes, subtype: Any) -> Binary | bytes:
    """Return binary data as the driver does: plain bytes for subtype 0.

    Raises: ValueError for a subtype that is none.
    """
    try:
        number = int(subtype, 16) if isinstance(subtype, str) else int(subtype)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number <= 255:
        raise ValueError(f"{subtype!r} is not a binary subtype")
    return data if number == 0 else Binary(data, number)


def read_timestamp(seconds: Any, increment: Any) -> Timestamp:
    """Read a timestamp of seconds and an increment, each an unsigned 32-bit integer.

    Raises: ValueError for what is none.
    """
    unsigned = range(2**32)
    return Timestamp(_whole(seconds, unsigned, "a timestamp's time"), _whole(increment, unsigned, "an increment"))


_FLAGS: Final = "imsx"
_IDLE_FLAGS: Final = "gyud"
"""What JavaScript writes and a stored pattern has no use for."""


def read_regex(pattern: Any, flags: Any = "") -> Regex[str]:
    """Build a regular expression from its pattern and flags.

    Raises: ValueError for flags that MongoDB does not know.
    """
    wanted = _text(flags, "regular expression flags")
    for flag in wanted:
        if flag not in _FLAGS + _IDLE_FLAGS:
            raise ValueError(f"{flag!r} is not a regular expression flag: use {', '.join(_FLAGS)}")
    text = _text(pattern, "a regular expression")
    if "\0" in text:
        raise ValueError("a regular expression cannot hold a NUL character")
    return Regex(text, "".join(flag for flag in _FLAGS if flag in wanted))


def _part(value: Any, *names: str) -> list[Any]:
    if not isinstance(value, Mapping) or set(cast("Mapping[str, Any]", value)) != set(names):
        raise ValueError(f"expected a document with {' and '.join(names)}")
    return [cast("Mapping[str, Any]", value)[name] for name in names]


def _no_value(value: Any) -> Any:
    raise ValueError("undefined is not a value that is stored: use null, or $exists")


def _no_pointer(value: Any) -> Any:
    raise ValueError("a database pointer is not read")


_MARKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "$oid": read_object_id,
    "$date": read_date,
    "$numberLong": read_long,
    "$numberInt": read_int,
    "$numberDouble": read_double,
    "$numberDecimal": read_decimal,
    "$uuid": read_uuid,
    "$binary": lambda value: read_binary(*_part(value, "base64", "subType")),
    "$timestamp": lambda value: read_timestamp(*_part(value, "t", "i")),
    "$regularExpression": lambda value: read_regex(*_part(value, "pattern", "options")),
    "$minKey": lambda value: MinKey(),
    "$maxKey": lambda value: MaxKey(),
    "$symbol": lambda value: _text(value, "a symbol"),
    "$undefined": _no_value,
    "$dbPointer": _no_pointer,
}
