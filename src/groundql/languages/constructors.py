"""The constructors that shells and drivers write values with: `ObjectId(...)`, `ISODate(...)`, `re.compile(...)`."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bson import DBRef, MaxKey, MinKey

from groundql.languages import ejson
from groundql.languages.instants import Instant, from_parts, in_utc, instant, milliseconds, read_instant
from groundql.languages.syntax import names


@dataclass(frozen=True, slots=True)
class Given:
    """What a constructor was called with. `now` is the moment that counts as the present."""

    name: str
    arguments: list[Any]
    keywords: Mapping[str, Any]
    is_new: bool
    now: dt.datetime

    def only(self, *names: str) -> list[Any]:
        """Return the arguments, those given by keyword included.

        Raises: ValueError when there are more than `names`, or a keyword is not among them.
        """
        values = list(self.arguments)
        if len(values) > len(names) or set(self.keywords) - set(names[len(values) :]):
            raise ValueError(f"{self.name} takes {', '.join(names) or 'nothing'}")
        for name in names[len(values) :]:
            if name not in self.keywords:
                break
            values.append(self.keywords[name])
        return values

    def one(self) -> Any:
        """Return the one argument.

        Raises: ValueError when there is none or more.
        """
        if len(self.arguments) != 1 or self.keywords:
            raise ValueError(f"{self.name} takes one value")
        return self.arguments[0]


Constructor = Callable[[Given], Any]


def _date(given: Given) -> Instant:
    if not given.is_new and given.name == "Date":
        raise ValueError("Date(...) without new gives text: write new Date(...) or ISODate(...)")
    values = given.only("year", "month", "day", "hour", "minute", "second", "millisecond")
    if not values:
        return in_utc(given.now)
    if len(values) > 1:
        return from_parts(values, 0)
    value = values[0]
    return value if is_instant(value) else ejson.read_date(value)


def is_instant(value: Any) -> bool:
    """Tell whether a value is a date."""
    return isinstance(value, Instant)


def _python_datetime(given: Given) -> Instant:
    keywords = dict(given.keywords)
    zone = keywords.pop("tzinfo", None)
    names = ("year", "month", "day", "hour", "minute", "second", "microsecond")
    values = list(given.arguments)
    if len(values) == 8 and zone is None:
        zone = values.pop()
    try:
        filled = dict(zip(names, values, strict=False)) | keywords
        return in_utc(dt.datetime(**filled, tzinfo=zone))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"datetime: {error}") from None


def _timedelta(given: Given) -> dt.timedelta:
    try:
        return dt.timedelta(*given.arguments, **given.keywords)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"timedelta: {error}") from None


def _object_id(given: Given) -> Any:
    if not given.arguments:
        raise ValueError("ObjectId() makes a new id each time: write the 24 digits of a stored one")
    return ejson.read_object_id(given.one())


def _binary_data(given: Given) -> Any:
    subtype, text = given.only("subtype", "data")
    return ejson.read_binary(text, subtype)


def _hex_data(given: Given) -> Any:
    subtype, text = given.only("subtype", "data")
    return ejson.binary(bytes.fromhex(text), subtype)


def _binary(given: Given) -> Any:
    values = given.only("data", "subtype")
    data, subtype = (values[0] if values else None), (values[1] if len(values) > 1 else 0)
    if isinstance(data, str):
        return ejson.read_binary(data, subtype)
    if not isinstance(data, bytes):
        raise ValueError("Binary takes bytes, or base64 text")
    return ejson.binary(data, subtype)


def _timestamp(given: Given) -> Any:
    values = given.only("t", "i")
    if len(values) == 1 and isinstance(values[0], dict):
        parts = cast("dict[str, Any]", values[0])
        values = [parts.get("t"), parts.get("i")]
    if len(values) != 2:
        raise ValueError("Timestamp takes seconds and an increment")
    return ejson.read_timestamp(*values)


def _regex(given: Given) -> Any:
    values = given.only("pattern", "flags")
    return ejson.read_regex(*(values or [None]))


_PYTHON_FLAGS: Final = {
    "IGNORECASE": "i", "I": "i", "MULTILINE": "m", "M": "m", "DOTALL": "s", "S": "s", "VERBOSE": "x", "X": "x",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of Python's `re` module, as letters."""

    letters: str


def _python_regex(given: Given) -> Any:
    values = given.only("pattern", "flags")
    flags = values[1] if len(values) > 1 else Flags("")
    letters = flags.letters if isinstance(flags, Flags) else flags
    return ejson.read_regex(values[0] if values else None, "" if letters == 0 else letters)


def _reference(given: Given) -> DBRef:
    values = given.only("collection", "id")
    if len(values) != 2 or not isinstance(values[0], str):
        raise ValueError("DBRef takes a collection's name and an id; another database is not read")
    return DBRef(values[0], values[1])


def _ordered(given: Given) -> dict[str, Any]:
    values = given.arguments
    if not values:
        return dict(given.keywords)
    if len(values) == 1 and isinstance(values[0], dict):
        return {**cast("dict[str, Any]", values[0]), **given.keywords}
    pairs = cast("list[Any]", values[0] if isinstance(values[0], list) else [])
    if not pairs or not all(isinstance(p, list) and len(cast("list[Any]", p)) == 2 for p in pairs):
        raise ValueError(f"{given.name} takes pairs of a name and a value")
    return {str(name): value for name, value in pairs}


def _code(given: Given) -> Any:
    raise ValueError("JavaScript code is not read: a query is data")


def _plain_date(given: Given) -> Any:
    raise ValueError("a date without a time is not stored: write datetime(year, month, day)")


def _number(given: Given) -> Any:
    value = ejson.read_double(given.one())
    return int(value) if math.isfinite(value) and value.is_integer() else value


def _now(given: Given) -> Instant:
    return in_utc(given.now)


def _date_utc(given: Given) -> int:
    return milliseconds(from_parts(given.arguments, 0))


_BY_NAMES: Final[Mapping[str, Constructor]] = {
    "ISODate Date": _date,
    "Date.now": lambda given: milliseconds(in_utc(given.now)),
    "Date.UTC": _date_utc,
    "Date.parse": lambda given: milliseconds(ejson.read_date(given.one())),
    "ObjectId ObjectId.createFromHexString": _object_id,
    "NumberLong Long Int64 Long.fromString Long.fromNumber Long.fromInt": lambda given: ejson.read_long(given.one()),
    "NumberInt Int32": lambda given: ejson.read_int(given.one()),
    "NumberDecimal Decimal128 Decimal128.fromString": lambda given: ejson.read_decimal(given.one()),
    "Double float parseFloat": lambda given: ejson.read_double(given.one()),
    "Number": _number,
    "int parseInt": lambda given: ejson.read_long(given.one()) + 0,
    "str String BSONSymbol Symbol": lambda given: str(given.one()),
    "UUID UUID.createFromHexString": lambda given: ejson.read_uuid(
        str(given.one()) if isinstance(given.one(), uuid.UUID) else given.one()
    ),
    "BinData": _binary_data,
    "HexData": _hex_data,
    "Binary Binary.createFromBase64": _binary,
    "Binary.from_uuid": lambda given: given.one(),
    "Timestamp": _timestamp,
    "MinKey": lambda given: MinKey(),
    "MaxKey": lambda given: MaxKey(),
    "RegExp BSONRegExp Regex": _regex,
    "re.compile": _python_regex,
    "DBRef": _reference,
    "SON OrderedDict dict": _ordered,
    "Code": _code,
    "date": _plain_date,
    "datetime": _python_datetime,
    "datetime.now datetime.utcnow datetime.today": _now,
    "datetime.fromisoformat": lambda given: read_instant(str(given.one())),
    "datetime.fromtimestamp datetime.utcfromtimestamp": lambda given: instant(given.only("t", "tz")[0] * 1000),
    "timedelta": _timedelta,
    "DatetimeMS": lambda given: instant(given.one()),
}

CONSTRUCTORS: Final[Mapping[str, Constructor]] = {
    name: build for names, build in _BY_NAMES.items() for name in names.split()
}

VALUES: Final[Mapping[str, Any]] = {
    "True": True,
    "False": False,
    "None": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "math.nan": math.nan,
    "math.inf": math.inf,
    "MinKey": MinKey(),
    "MaxKey": MaxKey(),
    "timezone.utc": dt.UTC,
    "datetime.UTC": dt.UTC,
    "UTC": dt.UTC,
    "pymongo.ASCENDING": 1,
    "ASCENDING": 1,
    "pymongo.DESCENDING": -1,
    "DESCENDING": -1,
    "UUID_SUBTYPE": 4,
    **{f"re.{name}": Flags(letters) for name, letters in _PYTHON_FLAGS.items()},
    "re.U": Flags(""),
    "re.UNICODE": Flags(""),
}
"""Names that stand for a value by themselves."""

_MODULES: Final = names("""
    bson objectid int64 decimal128 datetime dt uuid timestamp binary regex min_key max_key son dbref
    collections BSON mongodb datetime_ms mongoose Types mongo
""")


def lookup(table: Mapping[str, Any], dotted: str) -> Any:
    """Find a dotted name in a table, with or without the modules before it; None where there is nothing."""
    while True:
        if dotted in table:
            return table[dotted]
        head, dot, rest = dotted.partition(".")
        if not dot or head not in _MODULES:
            return None
        dotted = rest
