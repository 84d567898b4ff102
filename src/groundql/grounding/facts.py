"""What was found in the data for one question, and how its numbers and dates are to be read: the end of a card."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from groundql.core.answer import Grounding
from groundql.core.catalog import Witness
from groundql.grounding.fence import clean, fence_key, fence_name, fence_value
from groundql.grounding.lines import path_text
from groundql.grounding.numerals import NumberTerm, limit_of, thresholds_of
from groundql.grounding.tokens import count_tokens

_SIGNS = {"$gte": ">=", "$gt": ">", "$lte": "<=", "$lt": "<", "$eq": "="}


def facts_text(grounding: Grounding, budget_tokens: int) -> str:
    """Return the facts of a question within a budget: what it insists on first, the least sure left out."""
    lines: list[str] = []
    used = 0
    for line in (*_numbers(grounding.question.text), *_dates(grounding), *_missing(grounding), *_found(grounding)):
        cost = count_tokens(line) + 1
        if used + cost <= budget_tokens:
            lines.append(line)
            used += cost
    return "\n".join(lines)


def _found(grounding: Grounding) -> Iterator[str]:
    """One line a term: where it is stored and how."""
    ordered = sorted(grounding.witnesses, key=lambda w: (not w.hard, w.distance > 0))
    for _, group in groupby(ordered, key=lambda w: (w.hard, w.term)):
        witnesses = tuple(group)
        yield f"{_said(witnesses[0])}: " + "; ".join(_place(forms) for forms in _by_form(witnesses))


def _by_form(witnesses: tuple[Witness, ...]) -> Iterator[tuple[Witness, ...]]:
    """Witnesses of the same stored form together, in the order given."""
    forms: dict[tuple[str, bool], list[Witness]] = {}
    for witness in witnesses:
        forms.setdefault((repr(witness.stored), witness.is_key), []).append(witness)
    return (tuple(group) for group in forms.values())


def _said(witness: Witness) -> str:
    term = fence_value(clean(witness.term, 80), 80)
    return f"{term} is stored" if witness.hard else f"{term} may be"


def _place(witnesses: tuple[Witness, ...]) -> str:
    first = witnesses[0]
    stored = fence_key(str(first.stored)) if first.is_key else fence_value(first.stored, 60)
    what = f"key {stored} of" if first.is_key else f"{stored} at"
    more = f" (and {first.places - len(witnesses)} more places)" if first.places > len(witnesses) + 2 else ""
    return f"{what} " + ", ".join(f"{fence_name(w.container)} {path_text(w.path)}" for w in witnesses) + more


def _missing(grounding: Grounding) -> Iterator[str]:
    for term in grounding.missing_terms:
        yield f"{fence_value(clean(term, 80), 80)} was looked for and is stored nowhere"


def _dates(grounding: Grounding) -> Iterator[str]:
    for said, resolved in grounding.dates.items():
        yield f"date {fence_value(clean(said, 60), 60)}: {clean(resolved, 160)}"


def _numbers(question: str) -> Iterator[str]:
    limit = limit_of(question)
    if limit is not None and not limit.implied:
        yield f"rows wanted: {limit.number} ({clean(limit.text, 60)})"
    bounds = tuple(_bound(number) for number in thresholds_of(question))
    if bounds:
        yield "bounds: " + "; ".join(bounds)


def _bound(number: NumberTerm) -> str:
    shown = f"{number.number:g}" if number.number < 1e6 else str(number.number)
    return f"{clean(number.text, 60)} means {_SIGNS[number.operator]} {shown}"
