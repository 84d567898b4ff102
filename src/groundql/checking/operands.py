"""The operand rule: what an operator is given must be of a kind that it takes.

Source: MongoDB manual 8.x, "Aggregation Operators": each of these refuses the whole program at the first document that
gives it another kind, or quietly counts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from groundql.checking.values import is_either
from groundql.checking.wording import kind_names
from groundql.core.answer import Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.program import Claims, Read, ReadStatus

INSTANTS: Final = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.OBJECT_ID})
ARRAYS: Final = frozenset({Kind.ARRAY})
TEXTS: Final = frozenset({Kind.STRING})


@dataclass(frozen=True, slots=True)
class Taken:
    """What an operator takes: the kinds, their name in a sentence, and by the stored kind what to write instead."""

    kinds: frozenset[Kind]
    name: str
    instead: Mapping[Kind, str]


_DATE: Final = Taken(
    INSTANTS,
    "a date",
    {
        Kind.ARRAY: "$unwind it, or $map over its items",
        Kind.STRING: '{{"$dateFromString": {{"dateString": "{field}"}}}}, or a comparison of its text',
        **dict.fromkeys(NUMBERS, '{{"$toDate": "{field}"}} for milliseconds, or the number itself for a year'),
    },
)
_ARRAY: Final = Taken(
    ARRAYS,
    "an array",
    {Kind.OBJECT: '{{"$objectToArray": "{field}"}}', Kind.STRING: "$strLenCP or $split for a text"},
)
_OBJECT: Final = Taken(frozenset({Kind.OBJECT}), "an object", {Kind.ARRAY: "$unwind it, or $map over its items"})
_TEXT: Final = Taken(TEXTS, "a text", dict.fromkeys(EVERY - TEXTS, '{{"$toString": "{field}"}}'))
_NUMBER: Final = Taken(
    NUMBERS, "a number", {Kind.STRING: '{{"$toDouble": "{field}"}}', Kind.ARRAY: "$sum or $size for an array"}
)
_NUMBER_OR_DATE: Final = Taken(NUMBERS | {Kind.DATE}, "a number or a date", _NUMBER.instead)

_DATE_PARTS: Final = (
    "year month week hour minute second millisecond dayOfMonth dayOfWeek dayOfYear isoWeek isoWeekYear isoDayOfWeek"
)
_DATE_ARGUMENTS: Final = (
    "dateToString.date dateToParts.date dateTrunc.date dateAdd.startDate dateSubtract.startDate dateDiff.startDate "
    "dateDiff.endDate"
)
TAKES: Final[Mapping[str, Taken]] = {
    **dict.fromkeys(_DATE_PARTS.split(), _DATE),
    **dict.fromkeys((f"{part}.date" for part in _DATE_PARTS.split()), _DATE),
    **dict.fromkeys(_DATE_ARGUMENTS.split(), _DATE),
    **dict.fromkeys(
        ["size", "filter.input", "map.input", "reduce.input", "sortArray.input", "reverseArray", "concatArrays"], _ARRAY
    ),
    **dict.fromkeys(["arrayElemAt", "slice"], _ARRAY),
    "objectToArray": _OBJECT,
    **dict.fromkeys(["concat", "strLenCP", "strLenBytes", "split"], _TEXT),
    **dict.fromkeys(["multiply", "divide", "mod", "abs", "ceil", "floor", "sqrt", "round", "trunc"], _NUMBER),
    **dict.fromkeys(["add", "subtract"], _NUMBER_OR_DATE),
}
"""What each operator takes, by its name and that of its argument."""
ONLY_FIRST: Final = frozenset({"arrayElemAt", "slice", "split", "round", "trunc"})
"""Operators whose further arguments are of another kind than the first."""
OPERAND: Final = re.compile(r"\$(\w+)(?:\[(\d+)\]|\.(\w+))?$")


def operand_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the stored fields that an operator cannot work on."""
    return [f for read in claims.reads if (f := _finding(read)) is not None]


def _finding(read: Read) -> Finding | None:
    held = read.kinds - NOTHING
    if read.status is not ReadStatus.STORED or not held or read.kinds == EVERY or Kind.OTHER in held:
        return None
    operator, taken = _taken(read.place.pointer)
    # a branch may be the very one that asks for the kind first
    if taken is None or held & taken.kinds or is_either(read.place):
        return None
    field = read.text if read.text.startswith("$") else f"${read.text}"
    instead = next((taken.instead[k] for k in sorted(held) if k in taken.instead), "")
    return Finding(
        Code.WRONG_OPERAND,
        f"{operator} takes {taken.name}, and {read.text!r} holds none: the program fails when it runs",
        read.place,
        path=read.text,
        evidence=f"stored as {kind_names(held)}",
        nearest=(instead.format(field=field),) if instead else (),
        blocking=False,
    )


def _taken(pointer: str) -> tuple[str, Taken | None]:
    """The operator that a place is the argument of, and what it takes there."""
    found = OPERAND.search(pointer)
    if found is None:
        return "", None
    name, position, argument = found.groups()
    if name in ONLY_FIRST and position not in (None, "0"):
        return "", None
    return f"${name}", TAKES.get(f"{name}.{argument}" if argument else name)
