"""Dates in a question, resolved to explicit ranges against a given day and time zone.

Conventions, shown to the user with every answer: weeks begin on Monday; "last month" is the whole calendar month before
this one; "past 7 days" are the seven days up to and including today; "this year" runs from its first day to its last.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from groundql.errors import InputError
from groundql.grounding.number_words import text_number
from groundql.grounding.spans import SEPARATED_DATE

Days = tuple[dt.date, dt.date]
"""First day and the day after the last."""

_MONTHS: Final = {
    name: i + 1
    for i, names in enumerate(
        (
            ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
            ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"), ("october", "oct"),
            ("november", "nov"), ("december", "dec"),
        )
    )
    for name in names
}  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "last": 4}
_MONTH: Final = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_YEAR: Final = r"(?P<year>1[5-9]\d\d|20\d\d|21\d\d)"
_COUNT: Final = r"(?P<count>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirty|sixty|ninety)"
_SPAN: Final = r"(?P<unit>day|week|month|quarter|year|decade)"


@dataclass(frozen=True, slots=True)
class DateAsk:
    """A date or span of days that a question names.

    Shape: `start` is the first day, `end` the day after the last; `relative` says that it hangs on today's date.
    `start_utc` and `end_utc` are the same bounds as moments, by the question's time zone.
    """

    text: str
    start: dt.date
    end: dt.date
    relative: bool
    at: tuple[int, int]
    start_utc: dt.datetime
    end_utc: dt.datetime

    def __str__(self) -> str:
        last = self.end - dt.timedelta(days=1)
        days = f"{self.start}" if last == self.start else f"{self.start} to {last} (both included)"
        return f"{days}; as UTC moments >= {_moment(self.start_utc)} and < {_moment(self.end_utc)}"

    @property
    def forms(self) -> tuple[str, ...]:
        """The usual written forms of a single day, month or year, to be looked up in the data."""
        start, days = self.start, (self.end - self.start).days
        if days == 1:
            patterns = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%B %d, %Y")
        elif start.day == 1 and 28 <= days <= 31:
            patterns = ("%Y-%m", "%Y/%m", "%Y%m", "%m/%Y", "%B %Y", "%b %Y")
        elif start.day == start.month == 1 and 365 <= days <= 366:
            patterns = ("%Y",)
        else:
            return ()
        return tuple(start.strftime(pattern) for pattern in patterns)


def dates_of(text: str, today: dt.date, time_zone: str = "UTC") -> tuple[DateAsk, ...]:
    """Return the dates and spans that a text names, without overlaps, in order of appearance.

    A bare year is no date here: it may be a key, a number or part of a name.
    Raises: InputError when the time zone is unknown.
    """
    zone = zone_of(time_zone)
    found: list[DateAsk] = []
    taken: list[tuple[int, int]] = []
    for match, days, relative in _candidates(text, today):
        if any(a < match.end() and match.start() < b for a, b in taken):
            continue
        taken.append(match.span())
        if days is None:
            continue
        bounds = (_midnight(days[0], zone), _midnight(days[1], zone))
        found.append(DateAsk(match[0].strip(), *days, relative, match.span(), *bounds))
    return tuple(sorted(found, key=lambda ask: ask.at))


def today_in(time_zone: str) -> dt.date:
    """Return the current day in a time zone.

    Raises: InputError when the time zone is unknown.
    """
    return dt.datetime.now(zone_of(time_zone)).date()


def zone_of(name: str) -> dt.tzinfo:
    """Return the time zone of an IANA name.

    Raises: InputError when there is no such zone.
    """
    if name.upper() in {"UTC", "Z", "GMT"}:
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(f"unknown time zone {name!r}", hint="use an IANA name such as Europe/Berlin, or UTC") from None


def _candidates(text: str, today: dt.date) -> Iterator[tuple[re.Match[str], Days | None, bool]]:
    """Every stretch that reads like a date, longest forms first; None for one that is no day ("30 February")."""
    for pattern, relative, resolve in _RULES:
        for match in pattern.finditer(text):
            try:
                yield match, resolve(match, today), relative
            except (ValueError, OverflowError):
                yield match, None, relative


def _separated(match: re.Match[str], today: dt.date) -> Days | None:
    parts = [int(p) for p in re.findall(r"\d+", match[0])[:3]]
    if parts[0] > 999:
        return _month(parts[0], parts[1]) if len(parts) == 2 or len(match[0]) < 8 else _day(dt.date(*parts[:3]))
    first, second, year = parts
    if first > 12 or match[0][2:3] == "." or match[0][1:2] == ".":
        return _day(dt.date(year, second, first))
    return _day(dt.date(year, first, second)) if second > 12 or first == second else None


def _day_month_year(match: re.Match[str], today: dt.date) -> Days:
    return _day(dt.date(int(match["year"]), _MONTHS[match["month"].casefold()], int(match["day"])))


def _month_year(match: re.Match[str], today: dt.date) -> Days:
    return _month(int(match["year"]), _MONTHS[match["month"].casefold()])


def _part_of_year(match: re.Match[str], today: dt.date) -> Days:
    groups = match.groupdict()
    year = int(groups.get("year") or today.year)
    size = 3 if (groups.get("part") or "q")[0].casefold() == "q" else 6
    number = int(groups["number"]) if (groups["number"] or "").isdigit() else _ORDINALS[groups["number"].casefold()]
    number = min(number, 12 // size)
    return dt.date(year, 1 + size * (number - 1), 1), _shift(dt.date(year, 1, 1), size * number)


def _decade(match: re.Match[str], today: dt.date) -> Days:
    start = int(match["decade"])
    start += (1900 if start >= 20 else 2000) if start < 100 else 0
    return dt.date(start, 1, 1), dt.date(start + 10, 1, 1)


def _named_day(match: re.Match[str], today: dt.date) -> Days:
    offset = {"yesterday": -1, "today": 0, "tomorrow": 1}
    return _day(today + dt.timedelta(days=offset[match[0].casefold()]))


def _unit_span(match: re.Match[str], today: dt.date) -> Days:
    which, unit = match["which"].casefold(), match["unit"].casefold()
    step = {"last": -1, "previous": -1, "past": -1, "prior": -1, "next": 1, "coming": 1}.get(which, 0)
    if which == "past":
        return _back(today, 1, unit)
    if unit in {"day", "week"}:
        start = today - dt.timedelta(days=today.weekday() if unit == "week" else 0)
        length = dt.timedelta(days=7 if unit == "week" else 1)
        return start + step * length, start + (step + 1) * length
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
    year = today.year // 10 * 10 if unit == "decade" else today.year
    start = dt.date(year, 1 + (today.month - 1) // months * months if months < 12 else 1, 1)
    return _shift(start, step * months), _shift(start, (step + 1) * months)


def _last_count(match: re.Match[str], today: dt.date) -> Days:
    return _back(today, int(text_number(match["count"])), match["unit"].casefold())


def _ago(match: re.Match[str], today: dt.date) -> Days:
    count = 1 if match["count"].casefold() in {"a", "an"} else int(text_number(match["count"]))
    return _day(_minus(today, count, match["unit"].casefold()))


def _to_date(match: re.Match[str], today: dt.date) -> Days:
    unit = "year" if "year" in match[0].casefold() or "ytd" in match[0].casefold() else "month"
    return dt.date(today.year, 1 if unit == "year" else today.month, 1), today + dt.timedelta(days=1)


def _weekday(match: re.Match[str], today: dt.date) -> Days:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"].casefold())) % 7 or 7
    return _day(today - dt.timedelta(days=back))


def _back(today: dt.date, count: int, unit: str) -> Days:
    end = today + dt.timedelta(days=1)
    return _minus(end, count, unit), end


def _minus(day: dt.date, count: int, unit: str) -> dt.date:
    if unit in {"day", "week"}:
        return day - dt.timedelta(days=count * (7 if unit == "week" else 1))
    return _shift(day, -count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit])


def _shift(day: dt.date, months: int) -> dt.date:
    """The same day some months on, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = (dt.date(year + month // 11, (month + 1) % 12 + 1, 1) - dt.timedelta(days=1)).day
    return dt.date(year, month + 1, min(day.day, last))


def _month(year: int, month: int) -> Days:
    start = dt.date(year, month, 1)
    return start, _shift(start, 1)


def _day(day: dt.date) -> Days:
    return day, day + dt.timedelta(days=1)


def _midnight(day: dt.date, zone: dt.tzinfo) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), tzinfo=zone).astimezone(dt.UTC)


def _moment(moment: dt.datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _rule(
    pattern: str, relative: bool, resolve: Callable[[re.Match[str], dt.date], Days | None]
) -> tuple[re.Pattern[str], bool, Callable[[re.Match[str], dt.date], Days | None]]:
    return re.compile(pattern, re.IGNORECASE), relative, resolve


_RULES: Final = (
    (SEPARATED_DATE, False, _separated),
    _rule(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b", False, _day_month_year),
    _rule(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}\b", False, _day_month_year),
    _rule(rf"\b{_MONTH}(?:\s+of)?,?\s+{_YEAR}\b", False, _month_year),
    _rule(rf"\b(?P<part>Q|H)(?P<number>[1-4])(?:\s+(?:of\s+)?|[-/]){_YEAR}\b", False, _part_of_year),
    _rule(rf"\b{_YEAR}[\s-]*(?P<part>Q|H)(?P<number>[1-4])\b", False, _part_of_year),
    _rule(
        rf"\b(?P<number>first|second|third|fourth|last|[1-4](?:st|nd|rd|th))\s+(?P<part>quarter|half)\s+of\s+{_YEAR}\b",
        False,
        _part_of_year,
    ),
    _rule(r"\b(?P<part>Q)(?P<number>[1-4])\b", True, _part_of_year),
    _rule(r"(?<![\w'])(?:the\s+)?'?(?P<decade>(?:1[5-9]|20)\d0|[2-9]0)'?s\b", False, _decade),
    _rule(r"\b(?:yesterday|today|tomorrow)\b", True, _named_day),
    _rule(r"\b(?:year|month)[\s-]to[\s-]date\b|\bytd\b|\bso\s+far\s+this\s+(?:year|month)\b", True, _to_date),
    _rule(rf"\b(?:last|past|previous|prior|trailing)\s+{_COUNT}\s+{_SPAN}s?\b", True, _last_count),
    _rule(rf"\b(?P<count>an?|\d{{1,3}}|two|three|four|five|six|seven|ten|twelve)\s+{_SPAN}s?\s+ago\b", True, _ago),
    _rule(rf"\b(?P<which>last|past|previous|prior|this|current|next|coming)\s+{_SPAN}\b", True, _unit_span),
    _rule(r"\blast\s+(?P<weekday>" + "|".join(_WEEKDAYS) + r")\b", True, _weekday),
)
