"""What tasks of a suite must not share: programs, too many skeletons alike, questions; and the form of questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from groundql.bench.audit.remark import Check, Level, Remark
from groundql.bench.case import CaseId, Gold
from groundql.bench.scoring.forbidden import token_in
from groundql.bench.shape.signature import signature, skeleton
from groundql.core.program import MqlProgram
from groundql.grounding.words import fold

MOST_ALIKE: Final = 16
"""Tasks of one database that may share a skeleton. Source: release rules of TEND"""
_LEAST_ENGLISH: Final = 0.85
"""The share of ASCII among a question's letters: it may quote a name in another script, not be written in one."""


def across_remarks(golds: Mapping[CaseId, tuple[Gold, MqlProgram | None]]) -> dict[CaseId, list[Remark]]:
    """Hold the tasks of a suite against each other."""
    remarks: dict[CaseId, list[Remark]] = defaultdict(list)
    known = {case: (gold, program) for case, (gold, program) in golds.items() if program is not None}
    for case, first in _repeated((c, (c.database, signature(p))) for c, (_, p) in known.items()):
        remarks[case].append(Remark(Check.DUPLICATE, Level.ERROR, f"its program is also that of {first.record_id}"))
    for case, first in _repeated((c, (c.database, fold(g.nlq).strip(" ?.!"))) for c, (g, _) in golds.items()):
        remarks[case].append(Remark(Check.QUESTION, Level.ERROR, f"its question is also that of {first.record_id}"))
    families = Counter((c.database, skeleton(p)) for c, (_, p) in known.items())
    for case, (_, program) in known.items():
        size = families[case.database, skeleton(program)]
        if size > MOST_ALIKE:
            message = f"{size} tasks of this database share its skeleton, {MOST_ALIKE} may"
            remarks[case].append(Remark(Check.SKELETON, Level.ERROR, message))
    return remarks


def form_remarks(gold: Gold, program: MqlProgram | None) -> list[Remark]:
    """Look at a task's question and text alone."""
    remarks: list[Remark] = []
    for name, text in (("question", gold.nlq), ("colloquial question", gold.colloquial)):
        letters = [c for c in text if c.isalpha()]
        if letters and sum(c.isascii() for c in letters) / len(letters) < _LEAST_ENGLISH:
            remarks.append(Remark(Check.LANGUAGE, Level.ERROR, f"its {name} is not written in English"))
    token = token_in(gold.mql, program or MqlProgram("", ()))
    if token:
        remarks.append(Remark(Check.FORBIDDEN, Level.ERROR, f"{token} is forbidden in a gold"))
    return remarks


def _repeated(marked: Iterable[tuple[CaseId, Hashable]]) -> Iterable[tuple[CaseId, CaseId]]:
    first: dict[Hashable, CaseId] = {}
    for case, mark in marked:
        if mark in first:
            yield case, first[mark]
        else:
            first[mark] = case
