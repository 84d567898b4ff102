"""Small questions that gates and probes put to the database, bounded and failing open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from groundql.core.budget import Usage
from groundql.core.finding import Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.errors import DatabaseError
from groundql.languages.safety import admit

PROBE_LIMITS: Final = Limits(rows=200, elapsed_s=8.0, read_bytes=2_000_000)


async def ask_rows(program: MqlProgram, env: Env, limits: Limits = PROBE_LIMITS) -> Sequence[Mapping[str, Any]] | None:
    """Run a probe's own program; None when it cannot run, so that a check never fails because its probe did.

    Answers are remembered in `env.memory` for the span of one question.
    """
    mark = f"probe:{program!r}"
    if mark not in env.memory:
        env.memory[mark] = await _run(program, env, limits)
    return env.memory[mark]


async def _run(program: MqlProgram, env: Env, limits: Limits) -> Sequence[Mapping[str, Any]] | None:
    admitted = admit(program)
    if isinstance(admitted, Finding):
        return None
    try:
        rows = await env.database.execute(admitted, limits)
    except DatabaseError as error:
        env.trace.add("probe_failed", container=program.container, error=error.code)
        return None
    env.meter.add(Usage(database_s=rows.elapsed_s))
    env.trace.add("probe", container=program.container, elapsed_s=rows.elapsed_s)
    return rows.records


async def count_rows(program: MqlProgram, stages: int, env: Env) -> int | None:
    """Count the rows that leave the first `stages` stages; None when that cannot be measured."""
    prefix = MqlProgram(program.container, (*program.stages[:stages], {"$count": "n"}))
    rows = await ask_rows(prefix, env)
    return None if rows is None else (int(rows[0]["n"]) if rows else 0)
