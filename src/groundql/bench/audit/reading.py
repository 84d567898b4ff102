"""Does a gold read what is stored: every path at its stage's input, every container, every kind?"""

from __future__ import annotations

from typing import Final

from groundql.bench.audit.ground import Ground
from groundql.bench.audit.remark import Check, Level, Remark
from groundql.checking.gates import container_findings
from groundql.checking.kinds import kind_findings
from groundql.checking.paths import path_findings
from groundql.core.finding import Code, Finding
from groundql.core.program import Read, ReadStatus

_MISSING: Final = frozenset({Code.UNKNOWN_PATH, Code.DROPPED_PATH, Code.EARLY_PATH, Code.KEY_AS_FIELD})


async def reading_remarks(ground: Ground) -> list[Remark]:
    """Name what a gold reads and is not there, and what it compares or adds up although the kinds forbid it."""
    claims, grounding = ground.claims, ground.grounding
    remarks = [_of(f, Check.CONTAINER, Level.ERROR) for f in container_findings(claims, grounding)]
    for finding in path_findings(claims, grounding):
        if finding.blocking or finding.code not in _MISSING:
            stored = finding.code is Code.UNKNOWN_PATH and await _is_stored(finding, ground)
            if not stored:
                remarks.append(_of(finding, Check.PATH, Level.ERROR if finding.blocking else Level.NOTE))
    for finding in kind_findings(claims, grounding):
        remarks.append(_of(finding, Check.KIND, Level.UNDECIDED))
    return remarks


def _of(finding: Finding, check: Check, level: Level) -> Remark:
    evidence = f" ({finding.evidence})" if finding.evidence else ""
    return Remark(check, level, f"{finding.message}{evidence}", finding.place.stage)


async def _is_stored(finding: Finding, ground: Ground) -> bool:
    """Ask the data itself: a catalog made from a sample may not have seen a rare path."""
    read = next((r for r in ground.claims.reads if r.text == finding.path and r.place == finding.place), None)
    container = ground.grounding.catalog.get(read.container) if read else None
    if read is None or container is None or container.is_exhaustive:
        return False
    ran = await ground.run([{"$match": {_dotted(read): {"$exists": True}}}, {"$limit": 1}], container.name)
    return bool(ran.records)


def _dotted(read: Read) -> str:
    assert read.status is ReadStatus.ABSENT
    return read.path.dotted if read.path is not None else read.text.lstrip("$")
