"""Turn source values into stored ones, as relaxed Extended JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from bson import ObjectId

from groundql.errors import LoadError

_TRUE: Final = frozenset({"true", "yes", "1", "t", "y"})
_FALSE: Final = frozenset({"false", "no", "0", "f", "n"})


def typed(value: Any, kind: str, place: str) -> Any:
    """Give a value its type.

    Raises: LoadError naming the place, when it cannot be one.
    """
    try:
        return _MAKERS[kind](value)
    except (ValueError, TypeError, InvalidOperation, OverflowError):
        raise LoadError(
            f"{place}: {value!r} is no {kind}", hint="mend the source, or give the field another type"
        ) from None


def to_date(text: Any) -> dict[str, Any]:
    """Write a calendar day, or an ISO instant, as a relaxed EJSON date in UTC; a number is a day of 1 January."""
    given = f"{text}-01-01" if isinstance(text, int) else str(text).replace(".000Z", "Z")
    instant = given if "T" in given else f"{given}T00:00:00Z"
    moment = dt.datetime.fromisoformat(instant.replace("Z", "+00:00"))
    if instant >= "1970":
        return {"$date": instant}
    # Relaxed EJSON writes what lies before 1970 as milliseconds.
    since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return {"$date": {"$numberLong": str(since // dt.timedelta(milliseconds=1))}}


def _number(value: Any) -> int | float:
    number = float(value)
    return int(number) if number.is_integer() else number


def _bool(value: Any) -> bool:
    word = str(value).strip().casefold()
    if word not in _TRUE | _FALSE:
        raise ValueError(word)
    return word in _TRUE


_MAKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "text": str,
    "int": int,
    "number": _number,
    "decimal": lambda value: {"$numberDecimal": str(Decimal(str(value)))},
    "bool": _bool,
    "date": to_date,
    "object_id": lambda value: {"$oid": str(ObjectId(str(value)))},
}
