"""The contradiction rule: two conditions on one field that no value meets together, so that no row is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Final, cast

from groundql.checking.values import comparison_decides
from groundql.checking.wording import shown
from groundql.core.answer import Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import Kind
from groundql.core.path import ITEMS
from groundql.core.program import Claims, Comparison, ReadStatus

MOST_PAIRED: Final = 40
"""Conditions that are set against one another: a person's filter has a handful."""
CHOOSING: Final = frozenset({"$eq", "$in"})


def contradiction_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the pairs of equalities on one field that exclude each other."""
    choices = [c for c in claims.comparisons if _is_plain_choice(c, claims)][:MOST_PAIRED]
    return [_finding(a, b) for a, b in combinations(choices, 2) if _excludes(a, b)]


def _is_plain_choice(comparison: Comparison, claims: Claims) -> bool:
    """Whether a comparison says which one value a document holds: in an array, two may hold at once."""
    read = comparison.read
    return (
        comparison.operator in CHOOSING
        and comparison_decides(comparison)
        and comparison.place.pointer.startswith("$match")
        and read.status is ReadStatus.STORED
        and read.path is not None
        and ITEMS not in read.path.steps
        and Kind.ARRAY not in read.kinds
        and all(isinstance(value, str | bool | int | float) for value in _values(comparison))
        and "$unionWith" not in claims.operators
    )


def _values(comparison: Comparison) -> Sequence[Any]:
    value = comparison.value
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def _excludes(first: Comparison, second: Comparison) -> bool:
    one, other = first.read, second.read
    if (one.text, one.container, one.path, one.keys) != (other.text, other.container, other.path, other.keys):
        return False
    return not set(_marked(_values(first))) & set(_marked(_values(second)))


def _marked(values: Sequence[Any]) -> Iterable[tuple[bool, Any]]:
    """Values that are equal where the engine takes them for equal: 1 and 1.0, but not 1 and true."""
    return ((isinstance(v, bool), v) for v in values)


def _finding(first: Comparison, second: Comparison) -> Finding:
    return Finding(
        Code.CONTRADICTION,
        f"{second.read.text!r} cannot be {shown(second.value)} and {shown(first.value)} at once, so no row is left",
        second.place,
        path=second.read.text,
        evidence=f"{first.place} asks for {shown(first.value)}",
        nearest=(f'{{"{second.read.text}": {{"$in": [...]}}}} for either',),
        blocking=False,
    )
