"""The form gate: let the engine read a program without letting it see a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from groundql.checking.classify import classify
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.errors import DatabaseError, ProgramRejected
from groundql.languages.safety import admit

NOWHERE: Final = "groundql_no_such_collection"
LOOK: Final = Limits(rows=1, elapsed_s=5.0)


async def form_gate(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Send the stages to a collection that does not exist: the engine refuses a wrong form before it reads anything."""
    if not isinstance(candidate.program, MqlProgram):
        return []
    admitted = admit(replace(candidate.program, container=NOWHERE))
    if isinstance(admitted, Finding):
        return []
    try:
        await env.database.execute(admitted, LOOK)
    except ProgramRejected as error:
        return [classify(error)]
    except DatabaseError as error:
        env.trace.add("probe_failed", container=NOWHERE, error=error.code)
    return []
