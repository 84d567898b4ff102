"""Alignment gates: pure functions from claims and grounding to findings; no syntax here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

from groundql.checking.absence import confirm_absent, holds
from groundql.checking.contradictions import contradiction_findings
from groundql.checking.kinds import kind_findings
from groundql.checking.nearest import nearest_names
from groundql.checking.operands import operand_findings
from groundql.checking.paths import path_findings
from groundql.checking.patterns import pattern_findings
from groundql.checking.presence import presence_findings
from groundql.checking.ranges import range_findings
from groundql.checking.shapes import shape_findings
from groundql.checking.values import Doubt, unused_findings, value_doubts, value_findings
from groundql.checking.variants import variant_findings
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.ports import Check, Env
from groundql.core.program import Claims, Place
from groundql.grounding.terms import LimitAsk, NumberTerm, limits_of, thresholds_of

Rule: TypeAlias = Callable[[Claims, Grounding], Sequence[Finding]]
WHOLE: Final = Place(-1)
KIND_RULES: Final[tuple[Rule, ...]] = (kind_findings, operand_findings, shape_findings)
STORED_RULES: Final[tuple[Rule, ...]] = (
    pattern_findings,
    range_findings,
    presence_findings,
    contradiction_findings,
    variant_findings,
)
"""Rules on what all the stored values have in common: they ask the database nothing."""
MOST_ASKED: Final = 8
"""Lookups of values for one program: beyond these a doubt that only the database could settle is not told."""


def lift(rule: Rule) -> Check:
    """Turn a pure rule into a check step."""

    async def check(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
        return rule(candidate.claims, grounding)

    check.__name__ = rule.__name__.replace("findings", "gate")
    return check


def container_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the containers that do not exist."""
    known = grounding.catalog.by_name
    return [
        Finding(
            Code.UNKNOWN_CONTAINER,
            f"there is no collection {name!r}",
            path=name,
            nearest=nearest_names(name, known),
        )
        for name in sorted(claims.containers)
        if name not in known
    ]


def number_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the thresholds of the question that stand nowhere in the program."""
    said = _numbers_said(claims)
    return [
        Finding(
            Code.NUMBER_UNUSED,
            f"the question says {term.text!r}, but {_plain(term.number)} stands nowhere in the program",
            evidence="the question's own words",
            nearest=(_plain(term.number),),
            blocking=False,
        )
        for term in _thresholds(grounding.question.text)
        if not _is_said(term, said)
    ]


def limit_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Compare the number of rows the question asks for with the program's limits."""
    asks = [ask for ask in _limits(grounding.question.text) if not ask.implied]
    kept = {*claims.numbers, *(count for _, count in claims.limits)}
    if not asks or any(ask.number in kept for ask in asks):
        return []
    return [_limit_finding(asks[0], claims)]


@lru_cache(maxsize=64)
def _thresholds(question: str) -> tuple[NumberTerm, ...]:
    """A question's thresholds: every draft for it is checked against the same ones."""
    return tuple(thresholds_of(question))


@lru_cache(maxsize=64)
def _limits(question: str) -> tuple[LimitAsk, ...]:
    return tuple(limits_of(question))


def _limit_finding(ask: LimitAsk, claims: Claims) -> Finding:
    if not claims.limits:
        message = f"the question asks for {ask.text!r}, but the program has no $limit"
        return Finding(Code.LIMIT_MISSING, message, nearest=(str(ask.number),), blocking=False)
    place, count = claims.limits[-1]
    message = f"the question asks for {ask.text!r}, but the program keeps {count} rows"
    return Finding(Code.LIMIT_DIFFERS, message, place, nearest=(str(ask.number),), blocking=False)


def _numbers_said(claims: Claims) -> frozenset[float]:
    said = set(claims.numbers) | {float(count) for _, count in claims.limits}
    for text in (*claims.texts, *(c.read.key for c in claims.comparisons), *(r.key for r in claims.reads)):
        said.update(_numbers_in(text))
    for comparison in claims.comparisons:
        said.update(_date_numbers(comparison.value))
    return frozenset(said)


def _numbers_in(text: str) -> Iterable[float]:
    digits = "".join(c if c.isdigit() or c == "." else " " for c in text)
    for word in digits.split():
        try:
            yield float(word.strip("."))
        except ValueError:
            continue


def _date_numbers(value: Any) -> Iterable[float]:
    if isinstance(value, dt.datetime):
        # "before 2011" is rightly written as a bound at the year's edge, on either side
        yield from (
            float(value.year),
            float(value.year - 1),
            float(value.year + 1),
            float(value.month),
            float(value.day),
        )
    elif isinstance(value, list | tuple):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _date_numbers(item)


def _is_said(term: NumberTerm, said: frozenset[float]) -> bool:
    # "at least n items" may be written as the existence of item number n - 1
    same = (*term.accepts, term.number - 1, term.number + 1, -term.number)
    return any(abs(s - n) <= 1e-9 * max(1.0, abs(n)) for n in same for s in said)


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


async def path_gate(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Check containers and paths; what only a sample says to be absent is looked up first."""
    found = path_findings(candidate.claims, grounding)
    return [
        *container_findings(candidate.claims, grounding),
        *await confirm_absent(found, candidate, grounding, env),
    ]


async def value_gate(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Check literals against the stored values; what a list does not prove, or what would block, is looked up first."""
    claims = candidate.claims
    return [
        *await _settled(value_doubts(claims, grounding), env),
        *unused_findings(claims, grounding),
        *(f for rule in STORED_RULES for f in rule(claims, grounding)),
    ]


async def _settled(doubts: Sequence[Doubt], env: Env) -> list[Finding]:
    """Keep what the database agrees with; where it cannot be asked, only what a complete list says, and softened."""
    settled: list[Finding] = []
    asked = 0
    for doubt in doubts:
        if doubt.is_proven and not doubt.finding.blocking:
            settled.append(doubt.finding)
            continue
        asked += 1
        found = await holds(doubt.container, doubt.look, env) if asked <= MOST_ASKED else None
        if found is False:
            settled.append(doubt.finding)
        elif found is None and doubt.is_proven:
            settled.append(replace(doubt.finding, blocking=False))
    return settled


def all_kind_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Check literals, operands and arrays against the stored kinds."""
    return [f for rule in KIND_RULES for f in rule(claims, grounding)]


kind_gate = lift(all_kind_findings)
number_gate = lift(number_findings)
limit_gate = lift(limit_findings)
RULES: Final[tuple[Rule, ...]] = (
    container_findings,
    path_findings,
    *KIND_RULES,
    value_findings,
    *STORED_RULES,
    number_findings,
    limit_findings,
)
"""Every rule that needs no database."""
