"""What was not seen may still exist, in a document not sampled or written since: ask before calling it wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from groundql.checking.asking import PROBE_LIMITS, ask_rows
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.path import ENTRIES
from groundql.core.ports import Env
from groundql.core.program import Comparison, MqlProgram, Read, ReadStatus
from groundql.core.rows import Limits

LOOK: Final = Limits(rows=1, elapsed_s=5.0, read_bytes=PROBE_LIMITS.read_bytes)


async def confirm_absent(
    findings: Sequence[Finding], candidate: Candidate, grounding: Grounding, env: Env
) -> Sequence[Finding]:
    """Drop each finding about an unseen path that some document does hold; soften it when that cannot be looked up."""
    confirmed: list[Finding] = []
    for finding in findings:
        read = _doubtful(finding, candidate)
        if read is None:
            confirmed.append(finding)
            continue
        found = await _occurs(read, env)
        if not found:
            confirmed.append(replace(finding, blocking=finding.blocking and found is not None))
    return confirmed


def _doubtful(finding: Finding, candidate: Candidate) -> Read | None:
    """The read behind a blocking finding that the database can confirm."""
    if finding.code is not Code.UNKNOWN_PATH:
        return None
    for read in candidate.claims.reads:
        if read.status is ReadStatus.ABSENT and read.text == finding.path and read.place.stage == finding.place.stage:
            return read if finding.blocking and read.path is not None else None
    return None


async def _occurs(read: Read, env: Env) -> bool | None:
    """Whether any document holds the path; None when it cannot be asked as a dotted name."""
    if read.path is None or ENTRIES in read.path.steps:
        return None
    look = MqlProgram(
        read.container, ({"$match": {read.path.dotted: {"$exists": True}}}, {"$limit": 1}, {"$project": {"_id": 1}})
    )
    rows = await ask_rows(look, env, LOOK)
    return None if rows is None else bool(rows)


async def confirm_values(
    findings: Sequence[Finding], candidate: Candidate, grounding: Grounding, env: Env
) -> Sequence[Finding]:
    """Drop each finding about a value that some document does hold at the path it is compared with."""
    confirmed: list[Finding] = []
    for finding in findings:
        comparison = _doubtful_value(finding, candidate)
        found = await _holds(comparison, env) if comparison is not None else False
        if not found:
            confirmed.append(replace(finding, blocking=finding.blocking and found is not None))
    return confirmed


VALUE_CODES: Final = frozenset({Code.VALUE_ABSENT, Code.VALUE_ELSEWHERE, Code.STORED_FORM})


def _doubtful_value(finding: Finding, candidate: Candidate) -> Comparison | None:
    if finding.code not in VALUE_CODES or not finding.blocking:
        return None
    at = (finding.place, finding.path)
    return next((c for c in candidate.claims.comparisons if (c.place, c.read.text) == at), None)


async def _holds(comparison: Comparison, env: Env) -> bool | None:
    """Whether any document holds what is compared; None when it cannot be asked as a dotted name."""
    path, value = comparison.read.path, comparison.value
    if path is None or ENTRIES in path.steps:
        return None
    values: list[Any] = [*cast("list[Any]", value)] if isinstance(value, list | tuple) else [value]
    look = MqlProgram(
        comparison.read.container,
        ({"$match": {path.dotted: {"$in": values}}}, {"$limit": 1}, {"$project": {"_id": 1}}),
    )
    rows = await ask_rows(look, env, LOOK)
    return None if rows is None else bool(rows)
