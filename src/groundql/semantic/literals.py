"""Values in a query: checked when it is read, and brought to the kind that is stored when it is compiled."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bson import Decimal128, Int64, ObjectId
from bson.errors import BSONError
from bson.json_util import object_hook

from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.errors import InputError

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TEXT_OPS: Final = frozenset({"contains", "starts_with", "matches"})
_RANGE_OPS: Final = frozenset({"gt", "gte", "lt", "lte"})


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time from `start` up to, not including, `end`: what a date without a time of day stands for."""

    start: dt.datetime
    end: dt.datetime


def check_value(op: str, value: object, kinds: frozenset[Kind], where: str) -> Any:
    """Refuse a value that an operation cannot use; unwrap Extended JSON.

    Raises: InputError.
    """
    value = _unwrap(value)
    if op in ("in", "not_in", "between"):
        if not isinstance(value, list | tuple):
            raise InputError(f"filter on {where}: op {op!r} needs a list of values")
        items = tuple(cast("list[object]", value))
        if op == "between" and len(items) != 2:
            raise InputError(f"filter on {where}: 'between' needs [low, high], not {len(items)} values")
        if not items:
            raise InputError(f"filter on {where}: op {op!r} needs at least one value")
        for item in items:
            _refuse_nested(item, where)
        return items
    _refuse_nested(value, where)
    if op in _TEXT_OPS:
        if not isinstance(value, str):
            raise InputError(f"filter on {where}: op {op!r} needs text; for numbers use eq, gt or between")
        if not kinds & {Kind.STRING} and kinds - NOTHING:
            raise InputError(f"filter on {where}: it holds no text, so {op!r} cannot match; use eq, gt, lt or between")
        if op == "matches":
            _check_pattern(value, where)
    if op in _RANGE_OPS and (value is None or isinstance(value, bool)):
        raise InputError(f"filter on {where}: op {op!r} needs a number, text or date; for null use is_null or missing")
    return value


def _check_pattern(value: str, where: str) -> None:
    try:
        re.compile(value)
    except re.error as error:
        raise InputError(f"filter on {where}: {value!r} is no regular expression ({error})") from error


def _refuse_nested(value: object, where: str) -> None:
    if isinstance(value, list | tuple | Mapping):
        raise InputError(f"filter on {where}: a value is text, a number, true, false, null or a date; not {value!r}")


def _unwrap(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_unwrap(item) for item in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    given = cast("Mapping[str, Any]", value)
    try:
        return object_hook(dict(given)) if any(k.startswith("$") for k in given) else given
    except (ValueError, TypeError, BSONError):
        return given


def to_stored(value: Any, kinds: frozenset[Kind]) -> Any:
    """Bring a value to the one kind that is stored where it can only mean that; a date becomes a `Span`."""
    stored = kinds - NOTHING - {Kind.OBJECT, Kind.ARRAY}
    if isinstance(value, str):
        return _from_text(value, stored)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and stored == frozenset({Kind.STRING}):
        return _as_text(value)
    if isinstance(value, float) and Kind.DECIMAL in stored and Kind.DOUBLE not in stored:
        return Decimal128(repr(value))
    if isinstance(value, int) and Kind.DATE in stored and not stored & NUMBERS and 1000 <= value <= 9999:
        return _span(str(value)) or value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    return Int64(value) if isinstance(value, int) and not -(2**31) <= value < 2**31 else value


def _from_text(value: str, stored: frozenset[Kind]) -> Any:
    if Kind.STRING in stored or not stored:
        return value
    if stored <= NUMBERS and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        return to_stored(int(value) if re.fullmatch(r"[+-]?\d+", value.strip()) else number, stored)
    if stored == frozenset({Kind.BOOL}) and value.lower() in ("true", "false", "yes", "no"):
        return value.lower() in ("true", "yes")
    if Kind.DATE in stored:
        return _span(value) or _moment(value) or value
    if Kind.OBJECT_ID in stored and ObjectId.is_valid(value):
        return ObjectId(value)
    return value


def _as_text(value: float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _span(text: str) -> Span | None:
    """Read a year, month or day as the stretch of time it is."""
    found = _DATE.fullmatch(text.strip())
    if not found:
        return None
    year, month, day = (int(part) if part else 0 for part in found.groups())
    try:
        start = dt.datetime(year, month or 1, day or 1, tzinfo=dt.UTC)
        if day:
            return Span(start, start + dt.timedelta(days=1))
        if month:
            return Span(start, start.replace(year=year + month // 12, month=month % 12 + 1))
        return Span(start, start.replace(year=year + 1))
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
