"""What was not seen may still exist, in a document not sampled or written since: ask before calling it wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from groundql.checking.asking import PROBE_LIMITS, ask_rows
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.path import ENTRIES, ITEMS
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
    name = _dotted(read)
    return await holds(read.container, None if name is None else {name: {"$exists": True}}, env)


def look_for(read: Read, values: Sequence[Any], *, of_keys: bool = False) -> Mapping[str, Any] | None:
    """Write the condition that finds any of the values where a read looks: among a map's keys, for a read of these.

    Shape: None where no dotted name reaches the place.
    """
    name = _dotted(read)
    if name is None:
        return None
    if not of_keys:
        return {name: {"$in": [*values]}}
    keys = [v for v in values if isinstance(v, str) and _is_reachable(v)]
    return {"$or": [{f"{name}.{key}": {"$exists": True}} for key in keys]} if len(keys) == len(values) else None


def _dotted(read: Read) -> str | None:
    """The dotted name of a read's stored place, its map keys as the program names them."""
    if read.path is None:
        return None
    keys = iter(read.keys)
    steps = [next(keys, None) if step is ENTRIES else step for step in read.path.steps if step is not ITEMS]
    names = [step for step in steps if isinstance(step, str) and _is_reachable(step)]
    return ".".join(names) if names and len(names) == len(steps) else None


def _is_reachable(name: str) -> bool:
    """Whether a dotted name can hold this name as one of its steps."""
    return bool(name) and "." not in name and not name.startswith("$")


async def holds(container: str, look: Mapping[str, Any] | None, env: Env) -> bool | None:
    """Whether any document meets a condition; None when it cannot be asked."""
    if look is None:
        return None
    rows = await ask_rows(MqlProgram(container, ({"$match": look}, {"$limit": 1}, {"$project": {"_id": 1}})), env, LOOK)
    return None if rows is None else bool(rows)
