"""Do the words of a question give every constant that its gold rests on?"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any, Final

from groundql.bench.audit.constants import Constant, Role, constants_of, is_told, replaced, without
from groundql.bench.audit.ground import Ground
from groundql.bench.audit.remark import Check, Level, Remark
from groundql.bench.audit.spoken import is_spoken
from groundql.core.program import Read
from groundql.languages.flow.literals import as_number, is_pattern

_PRESENCE_WORDS = """present missing null absent none unknown exists available unavailable recorded empty n/a na yes no
    true false y n t f undefined known"""
PRESENCE: Final = frozenset(_PRESENCE_WORDS.split())
"""Words by which data says that something is there or not; a question says "with" or "without"."""
_TRIVIAL: Final = frozenset({0.0, 1.0, -1.0})
"""Numbers that a program needs to count, to pick the first or the last, or to start from."""
_MOST_PROBES: Final = 40
_SENTINEL: Final = "\u2400"


async def constant_remarks(ground: Ground) -> list[Remark]:
    """Name the constants that change the answer and that the question does not state."""
    remarks: list[Remark] = []
    for constant in list(_unstated(ground))[:_MOST_PROBES]:
        if await _matters(constant, ground) and not await _is_said(constant, ground):
            remarks.append(_remark(constant))
    return [*remarks, *await _key_remarks(ground)]


def _unstated(ground: Ground) -> Iterator[Constant]:
    seen: set[tuple[Any, Role, str]] = set()
    for constant in constants_of(ground.program.stages):
        mark = (repr(constant.value), constant.role, constant.beside)
        if mark not in seen and is_told(constant.value) and not _is_stated(constant, ground):
            seen.add(mark)
            yield constant


def _is_stated(constant: Constant, ground: Ground) -> bool:
    value, stated = constant.value, ground.stated
    number = as_number(value)
    if number is not None:
        return _is_number_stated(number, constant, ground)
    if isinstance(value, dt.datetime):
        return stated.has_date(value)
    if is_pattern(value) or constant.operator == "$regex":
        words = re.findall(r"[^\W\d_]{2,}|\d+", re.sub(r"\\[a-zA-Z]", " ", str(getattr(value, "pattern", value))))
        return not words or any(stated.has_word(w.casefold()) or stated.has_text(w) for w in words)
    if constant.role is not Role.SHOWN and value.casefold() in PRESENCE:
        return True
    moment = _moment(value)
    return stated.has_text(value) or (moment is not None and stated.has_date(moment))


def _is_number_stated(number: float, constant: Constant, ground: Ground) -> bool:
    if constant.role is Role.LIMIT:
        return (constant.operator == "$slice" and number in _TRIVIAL) or number in _limits(ground)
    if number in _TRIVIAL:
        return True
    return ground.stated.has_number(number) or ground.stated.has_number(-number)


def _limits(ground: Ground) -> frozenset[float]:
    singular = frozenset({1.0}) if ground.stated.is_ordered else frozenset[float]()
    return ground.stated.numbers | singular


def _moment(text: str) -> dt.datetime | None:
    if not re.match(r"\d{4}-\d\d", text):
        return None
    try:
        return dt.datetime.fromisoformat(text if len(text) > 7 else f"{text}-01").replace(tzinfo=None)
    except ValueError:
        return None


async def _matters(constant: Constant, ground: Ground) -> bool:
    """Tell whether the answer rests on a constant: without its condition, or with another value, rows differ."""
    stages = ground.program.stages
    if constant.role in (Role.CONDITION, Role.LIMIT):
        if constant.role is Role.LIMIT and constant.operator not in ("$limit", "$skip"):
            return await ground.differs(replaced(stages, constant.pointer, 1_000_000))
        variant = _without_stage(stages, constant) if constant.role is Role.LIMIT else without(stages, constant.pointer)
        return variant is None or await ground.differs(variant)
    return await ground.differs(replaced(stages, constant.pointer, _other(constant)))


def _without_stage(stages: tuple[Any, ...], constant: Constant) -> tuple[Any, ...] | None:
    if len(constant.pointer) != 2:
        return None
    return (*stages[: constant.stage], *stages[constant.stage + 1 :])


def _other(constant: Constant) -> Any:
    number = as_number(constant.value)
    if number is None:
        moved = isinstance(constant.value, dt.datetime)
        return constant.value + dt.timedelta(days=36_525) if moved else f"{_SENTINEL}{constant.value}"
    if constant.role is Role.DIGITS:
        return 12
    return constant.value * 1000 + 7


async def _is_said(constant: Constant, ground: Ground) -> bool:
    return (
        isinstance(constant.value, str) and constant.role is not Role.SHOWN and await is_spoken(constant.value, ground)
    )


def _remark(constant: Constant) -> Remark:
    shown = repr(constant.value) if not isinstance(constant.value, dt.datetime) else constant.value.isoformat()
    where = f" ({constant.beside})" if constant.role is Role.CONDITION and constant.beside else ""
    match constant.role:
        case Role.LIMIT:
            message, check = f"the limit of {shown} is not stated", Check.LIMIT
        case Role.SHOWN:
            message, check = f"the output {shown} is not stated", Check.LABEL
        case Role.DIGITS:
            message, check = f"rounding to {shown} digits is not stated", Check.CONSTANT
        case Role.FACTOR:
            message, check = f"the number {shown} in arithmetic is not stated", Check.CONSTANT
        case _:
            message, check = f"the value {shown}{where} is not stated", Check.CONSTANT
    return Remark(check, Level.UNDECIDED, message, constant.stage)


async def _key_remarks(ground: Ground) -> list[Remark]:
    """Name the keys of maps that a gold picks and the question does not name."""
    remarks: list[Remark] = []
    for read in _key_reads(ground):
        for key in read.keys:
            if not (ground.stated.has_text(key) or key.casefold() in PRESENCE or await is_spoken(key, ground)):
                message = f"the key {key!r} in {read.text!r} is not stated"
                remarks.append(Remark(Check.CONSTANT, Level.UNDECIDED, message, read.place.stage))
    return remarks


def _key_reads(ground: Ground) -> Iterator[Read]:
    seen: set[tuple[str, ...]] = set()
    for read in ground.claims.stored_reads():
        if read.keys and read.keys not in seen:
            seen.add(read.keys)
            yield read
