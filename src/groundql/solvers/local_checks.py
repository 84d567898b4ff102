"""What a small model's draft is checked for besides the gates that every draft passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundql.checking.probes import null_column_probe
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.solvers.local_focus import counted_container


async def counted_gate(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a program over one container where the question asks in so many words how many of another there are."""
    program, counted = candidate.program, counted_container(grounding)
    if not isinstance(program, MqlProgram) or counted is None or program.container == counted:
        return ()
    message = f"the question counts {counted}, but the program reads {program.container}"
    return (Finding(Code.NOT_ANSWERED, message, nearest=(counted,)),)


async def empty_column_probe(candidate: Candidate, grounding: Grounding, env: Env, /) -> Sequence[Finding]:
    """Block a result with a column that holds nothing: a small model has then read the wrong path."""
    return [replace(f, blocking=True) for f in await null_column_probe(candidate, grounding, env)]
