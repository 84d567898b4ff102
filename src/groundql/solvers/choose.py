"""Choosing in result space: attempts that came to the same rows stand together."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bson import Decimal128, json_util

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.counted import counted
from groundql.core.ports import Choice, Env

ORDER_WORDS: Final = re.compile(
    r"\b(sort|sorted|order|ordered|rank|ranked|ranking|ascending|descending|alphabetical\w*|top|bottom|first|last|highest"
    r"|lowest|largest|smallest|most|least|earliest|latest|newest|oldest)\b",
    re.IGNORECASE,
)
SIGNIFICANT_DIGITS: Final = 9
"""Numbers that agree this far are the same: sums differ in their last bits by the order of addition."""


def asks_for_order(question: Question) -> bool:
    """Tell whether the question's wording makes the order of rows part of the answer."""
    return bool(ORDER_WORDS.search(question.text))


def canonical(value: Any) -> Any:
    """Bring a value to a form in which equal answers are equal, whatever number type holds them."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal128):
        value = float(value.to_decimal())
    if isinstance(value, int | float):
        number = float(value)
        return "NaN" if math.isnan(number) else float(f"{number:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(k): canonical(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [canonical(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return json.loads(json_util.dumps(value))


def row_key(record: Mapping[str, Any]) -> str:
    """A row as the multiset of its values: attempts may name and order their columns as they like."""
    return json.dumps(sorted(json.dumps(canonical(v), sort_keys=True) for v in record.values()))


def result_key(candidate: Candidate, *, ordered: bool) -> str:
    """The mark by which results are the same."""
    if candidate.rows is None:
        return ""
    keys = [row_key(record) for record in candidate.rows.records]
    return json.dumps(keys if ordered else sorted(keys))


def rank(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Order candidates best first: executed, nothing blocking, non-empty, fewest findings, latest round."""
    return sorted(candidates, key=_weight)


def _weight(candidate: Candidate) -> tuple[int, int, int, int, int]:
    rows = candidate.rows
    return (
        0 if rows is not None else 1,
        len(candidate.blocking),
        0 if rows is not None and rows.records else 1,
        len(candidate.findings),
        -candidate.round,
    )


def agree(candidates: Sequence[Candidate]) -> bool:
    """Tell whether at least two attempts came cleanly to the same non-empty rows, and none to other ones."""
    keys = {result_key(c, ordered=False) for c in candidates}
    return len(candidates) > 1 and len(keys) == 1 and all(c.is_clean and c.rows and c.rows.records for c in candidates)


def clusters(candidates: Sequence[Candidate], question: Question) -> list[list[Candidate]]:
    """Group executed candidates by their result, the largest group first.

    Empty results come last whatever their number, for nothing is the easiest thing to agree on; ties go to the
    fewest findings, then the earliest attempt.
    """
    ordered = asks_for_order(question)
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.is_clean:
            groups.setdefault(result_key(candidate, ordered=ordered), []).append(candidate)
    return sorted(groups.values(), key=_group_weight)


def _group_weight(group: Sequence[Candidate]) -> tuple[int, int, int, int]:
    rows = group[0].rows
    empty = 0 if rows is not None and rows.records else 1
    return empty, -len(group), min(len(c.findings) for c in group), min(c.attempt for c in group)


NOTHING_USABLE: Final = "no candidate passed its checks"


async def fewest_findings(candidates: Sequence[Candidate], grounding: Grounding, env: Env) -> Choice:
    """Choose the single best candidate, without a vote."""
    clean = [c for c in candidates if c.is_clean]
    return Choice(rank(clean)[0]) if clean else Choice(None, NOTHING_USABLE)


async def largest_cluster(candidates: Sequence[Candidate], grounding: Grounding, env: Env) -> Choice:
    """Choose from the largest group of equal results."""
    groups = clusters(candidates, grounding.question)
    if not groups:
        return Choice(None, NOTHING_USABLE)
    return Choice(rank(groups[0])[0], vote_text(groups, len(candidates)))


async def handed_in(candidates: Sequence[Candidate], grounding: Grounding, env: Env) -> Choice:
    """Hand in what was drafted last, whether it ran or not: a baseline does not judge its own program."""
    drafted = [c for c in candidates if c.program is not None]
    return Choice(drafted[-1], "handed in as drafted") if drafted else Choice(None, NOTHING_USABLE)


async def voted_or_handed_in(candidates: Sequence[Candidate], grounding: Grounding, env: Env) -> Choice:
    """Choose from the largest group of equal results; where nothing ran, hand in the first draft."""
    choice = await largest_cluster(candidates, grounding, env)
    return choice if choice.winner is not None else await handed_in(candidates[:1], grounding, env)


def vote_text(groups: Sequence[Sequence[Candidate]], attempts: int) -> str:
    """Say how the vote fell."""
    if attempts == 1:
        return "one attempt"
    if len(groups) == 1:
        return f"{len(groups[0])} of {attempts} attempts, independent of each other, came to these rows"
    against = len(groups) - 1
    others = counted(against, "other result")
    return f"{len(groups[0])} of {attempts} attempts came to these rows; {others} stood against them"
