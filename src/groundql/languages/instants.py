"""Dates as shells, drivers and EJSON write them, to what BSON stores: milliseconds, in UTC."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final, TypeAlias

from bson import DatetimeMS

Instant: TypeAlias = dt.datetime | DatetimeMS
"""Naive, in UTC, as the driver returns it; beyond the years 1 to 9999 the bare milliseconds."""

EPOCH: Final = dt.datetime(1970, 1, 1)
_MOST_MS: Final = 8_640_000_000_000_000
"""The furthest that a JavaScript date reaches, either way."""
_MS: Final = dt.timedelta(milliseconds=1)


def instant(ms: float) -> Instant:
    """Return the date that many milliseconds after 1970.

    Raises: ValueError beyond what a date can hold.
    """
    if not -_MOST_MS <= ms <= _MOST_MS:  # also refuses NaN
        raise ValueError(f"{ms} milliseconds is beyond what a date can hold")
    try:
        return EPOCH + dt.timedelta(milliseconds=int(ms))
    except OverflowError:
        return DatetimeMS(int(ms))


def milliseconds(value: Instant) -> int:
    """Return the milliseconds between 1970 and a date; a finer fraction is cut off, as BSON does."""
    return int(value) if isinstance(value, DatetimeMS) else (in_utc(value) - EPOCH) // _MS


def in_utc(value: dt.datetime) -> dt.datetime:
    """Return a date naive in UTC with whole milliseconds; a naive one is taken to be in UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def read_instant(text: str) -> Instant:
    """Read an ISO 8601 date; without an offset it is in UTC.

    Raises: ValueError for anything else.
    """
    plain = text.strip()
    if re.fullmatch(r"\d{4}", plain, re.ASCII):
        plain += "-01-01"
    elif re.fullmatch(r"\d{4}-\d\d", plain, re.ASCII):
        plain += "-01"
    try:
        return in_utc(dt.datetime.fromisoformat(plain))
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is not a date: write it as 2024-01-31 or 2024-01-31T12:00:00Z") from None


def from_parts(parts: list[Any], first_month: int) -> Instant:
    """Return the date of year, month, day, hour, minute, second and a fraction, in UTC.

    JavaScript counts months from 0 and lets parts run over (month 12 is January of the next year).

    Raises: ValueError for parts that are no whole numbers, or out of range.
    """
    if not 1 <= len(parts) <= 7 or not all(isinstance(p, int) and abs(p) < 10**9 for p in parts):
        raise ValueError("a date takes a year, a month, a day and so on, as whole numbers")
    year, month, day, *rest = [*parts, *[first_month, 1, 0, 0, 0, 0][len(parts) - 1 :]]
    months = year * 12 + month - first_month
    hours, minutes, seconds, fraction = rest
    try:
        return in_utc(
            dt.datetime(months // 12, months % 12 + 1, 1)
            + dt.timedelta(days=day - 1, hours=hours, minutes=minutes, seconds=seconds, milliseconds=fraction)
        )
    except (ValueError, OverflowError):
        raise ValueError("the date is out of range") from None
