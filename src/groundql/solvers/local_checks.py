"""What a small model's draft is checked for besides the gates that every draft passes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from groundql.checking.probes import null_column_probe
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.grounding.fence import fence_name
from groundql.solvers.local_counts import (
    counted_container,
    counted_words,
    holding_container,
    names_one_document,
    plain_count,
)

_RESTRICTED: Final = re.compile(
    r"\bhow many [\w ]+? (?:have|has|with|without|whose|uses?|contains?|lists?|belong|are (?!there))\b", re.IGNORECASE
)


async def counted_gate(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a program that counts something else than the question does in so many words.

    That is a program over another container than the one that is counted, or that holds what is counted; and a plain
    count of one named document where the question counts what it has.
    """
    program = candidate.program
    counted = counted_container(grounding) or holding_container(grounding)
    if not isinstance(program, MqlProgram):
        return ()
    if counted is not None and program.container != counted:
        message = f"the question counts in {fence_name(counted)}, but the program reads {fence_name(program.container)}"
        return (Finding(Code.NOT_ANSWERED, message, nearest=(counted,)),)
    if _counts_one_document(program, grounding):
        message = "the question counts what one document has, but the program counts that document"
        return (Finding(Code.NOT_ANSWERED, message),)
    return ()


def _counts_one_document(program: MqlProgram, grounding: Grounding) -> bool:
    container, said = grounding.catalog.get(program.container), counted_words(grounding.question.text)
    before = plain_count(program)
    if container is None or not said or before is None or counted_container(grounding) == container.name:
        return False
    return holding_container(grounding) == container.name and names_one_document(before, container)


async def unfiltered_gate(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a plain count of everything where the question counts only what has, is or does something."""
    program = candidate.program
    if not isinstance(program, MqlProgram) or not _RESTRICTED.search(grounding.question.text):
        return ()
    counts = [next(iter(stage), "") for stage in program.stages]
    if not counts or counts[0] not in ("$count", "$group") or "$match" in counts or _has_keys(program):
        return ()
    return (Finding(Code.NOT_ANSWERED, "the question restricts what it counts, but the program counts everything"),)


def _has_keys(program: MqlProgram) -> bool:
    """Tell whether a first `$group` tells groups apart or looks at values, so that it is no plain count."""
    group = program.stages[0].get("$group")
    return isinstance(group, Mapping) and "$" in str({k: v for k, v in group.items() if v != {"$sum": 1}})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


async def empty_column_probe(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a result with a column that holds nothing: a small model has then read the wrong path."""
    return [replace(f, blocking=True) for f in await null_column_probe(candidate, grounding, env)]


async def misplaced_probe(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a result without rows whose program looks for a value where it was not found, when it is stored elsewhere.

    Two drafts of one small model make the same mistake, and then agree on nothing.
    """
    if candidate.rows is None or candidate.rows.records:
        return ()
    wrong = [f for f in candidate.findings if f.code is Code.VALUE_ELSEWHERE and not f.blocking]
    return [replace(f, code=Code.NOT_ANSWERED, blocking=True) for f in wrong[:1]]
