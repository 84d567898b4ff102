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
from groundql.solvers.local_focus import counted_container

_RESTRICTED: Final = re.compile(
    r"\bhow many [\w ]+? (?:have|has|with|without|whose|uses?|contains?|lists?|belong|are (?!there))\b", re.IGNORECASE
)


async def counted_gate(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a program over one container where the question asks in so many words how many of another there are."""
    program, counted = candidate.program, counted_container(grounding)
    if not isinstance(program, MqlProgram) or counted is None or program.container == counted:
        return ()
    message = f"the question counts {counted}, but the program reads {program.container}"
    return (Finding(Code.NOT_ANSWERED, message, nearest=(counted,)),)


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
