"""What a small model's draft is checked for besides the gates, and the one short turn it gets to mend a draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from groundql.checking.probes import null_column_probe
from groundql.core.answer import Candidate, Grounding
from groundql.core.chat import Message
from groundql.core.finding import Code, Finding
from groundql.core.ports import Dialogue, Env
from groundql.core.program import MqlProgram
from groundql.grounding.fence import clean
from groundql.languages.read import write
from groundql.solvers.local_focus import counted_container
from groundql.solvers.prompting import fill

MOST_PROBLEMS: Final = 2
_WIDTH: Final = 240


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


async def brief_repair(
    dialogue: Dialogue, candidate: Candidate, said: str, grounding: Grounding, env: Env, /
) -> Dialogue:
    """Append the draft and what is wrong with it, in few words."""
    reply = said or (write(candidate.program, "ejson") if candidate.program else "{}")
    found = candidate.blocking or candidate.findings
    problems = "\n".join(f"- {clean(str(f), _WIDTH)}" for f in found[:MOST_PROBLEMS])
    mended = fill("local/repair", problems=problems, form=candidate.form)
    return (*dialogue, Message("assistant", reply), Message("user", mended))
