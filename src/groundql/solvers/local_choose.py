"""Answer only where two readings in different forms came to the same rows; else abstain and show both.

Rows are compared by their values: names and order of columns do not matter, the order of rows only where the question
asks for one. Where one reading merely has further columns, they agree on what both hold; the one with as many columns
as the question asks for is taken, and without such words the narrower one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.ports import Choice, Env
from groundql.solvers.choose import NOTHING_USABLE, asks_for_order, canonical, rank

SMALL_MODEL: Final = "a small model's answer: a compact query and a pipeline, drafted apart, came to the same rows"
_RETURN: Final = re.compile(r"\b(?:return|show|give|list|display|output)\b\s+(?:me\s+)?([^.?!]*)", re.IGNORECASE)
_PARTS: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s+along with\s+|\s+together with\s+", re.IGNORECASE)


async def agreeing_forms(candidates: Sequence[Candidate], grounding: Grounding, env: Env, /) -> Choice:
    """Choose a clean candidate whose rows a clean candidate of another form has too."""
    clean = rank([c for c in candidates if c.is_clean])
    pairs = [
        (one, other)
        for n, one in enumerate(clean)
        for other in clean[n + 1 :]
        if one.form != other.form and same_answer(one, other, grounding.question)
    ]
    if pairs and all(same_answer(pairs[0][0], one, grounding.question) for one, _ in pairs):
        return Choice(_narrower(pairs[0], grounding.question), SMALL_MODEL)
    if pairs:
        return Choice(None, "drafts agree on more than one answer", abstains=True)
    if not clean:
        return Choice(None, NOTHING_USABLE)
    return Choice(None, _difference(clean), abstains=True)


def same_answer(one: Candidate, other: Candidate, question: Question) -> bool:
    """Tell whether two results say the same, one of them perhaps in more columns."""
    if one.rows is None or other.rows is None or len(one.rows) != len(other.rows):
        return False
    first, second = _values(one), _values(other)
    if _width(first) > _width(second):
        first, second = second, first
    if asks_for_order(question):
        return all(_holds(wide, narrow) for narrow, wide in zip(first, second, strict=True))
    return _match(first, second)


def _values(candidate: Candidate) -> list[Counter[str]]:
    """Each row as the multiset of its values; a column without a value is no value."""
    assert candidate.rows is not None
    return [_row(record) for record in candidate.rows.records]


def _row(record: Mapping[str, Any]) -> Counter[str]:
    return Counter(json.dumps(canonical(v), sort_keys=True) for v in _leaves(record) if v is not None)


def _leaves(record: Mapping[str, Any]) -> Iterator[Any]:
    """The values of a row; those of a record within it stand for themselves, as `{"codes": {"iata": ...}}` does."""
    for value in record.values():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, Any]", value))
        else:
            yield value


def _width(rows: Sequence[Counter[str]]) -> int:
    return max((row.total() for row in rows), default=0)


def _holds(wide: Counter[str], narrow: Counter[str]) -> bool:
    return wide.total() > 0 and not narrow - wide if narrow else not wide


def _match(narrow: Sequence[Counter[str]], wide: Sequence[Counter[str]]) -> bool:
    """Pair rows one to one, each wide one holding its narrow one; equal rows are paired off first."""
    left = Counter(frozenset(row.items()) for row in wide)
    rest: list[Counter[str]] = []
    for row in narrow:
        key = frozenset(row.items())
        if left[key]:
            left[key] -= 1
        else:
            rest.append(row)
    free = [Counter(dict(key)) for key in left.elements()]
    for row in rest:
        found = next((n for n, other in enumerate(free) if _holds(other, row)), None)
        if found is None:
            return False
        free.pop(found)
    return True


def _narrower(pair: tuple[Candidate, Candidate], question: Question) -> Candidate:
    asked = asked_columns(question.text)
    widths = [len(c.rows.columns) if c.rows else 0 for c in pair]
    if widths[0] == widths[1]:
        return pair[0]
    if asked in widths:
        return pair[widths.index(asked)]
    return pair[widths.index(min(widths))]


def asked_columns(question: str) -> int:
    """Count the columns that the question lists after "return", "show" or the like; 0 where it lists none."""
    found = _RETURN.findall(question)
    return len([part for part in _PARTS.split(found[-1]) if part.strip()]) if found else 0


def _difference(clean: Sequence[Candidate]) -> str:
    by_form: dict[str, Candidate] = {}
    for candidate in sorted(clean, key=lambda c: c.attempt):
        by_form.setdefault(candidate.form, candidate)
    told = [f"the {form} gives {_told(c)}" for form, c in by_form.items()]
    if len(told) == 1:
        other = "pipeline" if clean[0].form == "query" else "query"
        return f"{told[0]}; no {other} passed its checks, so nothing stands beside it"
    return "two readings of the question differ: " + ", ".join(told)


def _told(candidate: Candidate) -> str:
    rows = candidate.rows
    if rows is None or not rows.records:
        return "no rows"
    if len(rows) == 1:
        return "1 row: " + ", ".join(f"{k} = {_short(v)}" for k, v in list(rows.records[0].items())[:3])
    return (
        f"{len(rows)} rows of {len(rows.columns)} column(s), first {_short(next(iter(rows.records[0].values()), None))}"
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
