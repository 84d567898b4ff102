"""A path that the sample did not show may still exist: ask the database before calling it wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from groundql.checking.asking import PROBE_LIMITS, ask_rows
from groundql.core.answer import Candidate, Grounding
from groundql.core.catalog import Container
from groundql.core.finding import Code, Finding
from groundql.core.path import ENTRIES
from groundql.core.ports import Env
from groundql.core.program import MqlProgram, Read, ReadStatus
from groundql.core.rows import Limits

LOOK: Final = Limits(rows=1, elapsed_s=5.0, read_bytes=PROBE_LIMITS.read_bytes)


async def confirm_absent(
    findings: Sequence[Finding], candidate: Candidate, grounding: Grounding, env: Env
) -> Sequence[Finding]:
    """Drop each finding about an unseen path that some document does hold; soften it when that cannot be looked up."""
    confirmed: list[Finding] = []
    for finding in findings:
        read = _doubtful(finding, candidate, grounding)
        if read is None:
            confirmed.append(finding)
            continue
        found = await _occurs(read, env)
        if not found:
            confirmed.append(replace(finding, blocking=finding.blocking and found is not None))
    return confirmed


def _doubtful(finding: Finding, candidate: Candidate, grounding: Grounding) -> Read | None:
    """The read behind a finding that only a sample supports."""
    if finding.code is not Code.UNKNOWN_PATH:
        return None
    for read in candidate.claims.reads:
        if read.status is ReadStatus.ABSENT and read.text == finding.path and read.place.stage == finding.place.stage:
            container = grounding.catalog.get(read.container)
            return read if container is not None and _is_sampled(container) and read.path is not None else None
    return None


def _is_sampled(container: Container) -> bool:
    return not container.is_exhaustive


async def _occurs(read: Read, env: Env) -> bool | None:
    """Whether any document holds the path; None when it cannot be asked as a dotted name."""
    if read.path is None or ENTRIES in read.path.steps:
        return None
    look = MqlProgram(
        read.container, ({"$match": {read.path.dotted: {"$exists": True}}}, {"$limit": 1}, {"$project": {"_id": 1}})
    )
    rows = await ask_rows(look, env, LOOK)
    return None if rows is None else bool(rows)
