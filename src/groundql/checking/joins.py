"""The join gate: a join must follow an edge that the data shows, between fields of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from groundql.checking.asking import ask_rows
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.path import ENTRIES
from groundql.core.ports import Env
from groundql.core.program import JoinClaim, MqlProgram, Program, ReadStatus

LOOKED_UP: Final = 50
"""Distinct local values looked up: an edge that holds for a tenth of them is missed once in two hundred."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What looking values up on the other side came to. Units: distinct values, matching documents."""

    asked: int
    found: int
    documents: int


async def join_gate(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Check each join's kinds, then look up a few stored values on the other side."""
    found: list[Finding] = []
    for join in candidate.claims.joins:
        kinds = _kind_finding(join)
        found.extend([kinds] if kinds else await _edge_findings(join, candidate.program, env))
    return found


def _kind_finding(join: JoinClaim) -> Finding | None:
    if join.local is None or join.foreign is None:
        return None
    left, right = _class(join.local.kinds), _class(join.foreign.kinds)
    if not left or not right or left & right:
        return None
    return Finding(
        Code.JOIN_KINDS,
        f"{join.local.text!r} and {join.to_container}.{join.foreign.text} hold different kinds, so nothing matches",
        join.place,
        path=join.local.text,
        evidence=f"{_names(left)} against {_names(right)}",
        blocking=join.local.status is ReadStatus.STORED and join.foreign.status is ReadStatus.STORED,
    )


def _class(kinds: frozenset[Kind]) -> frozenset[Kind]:
    if kinds == EVERY or Kind.ARRAY in kinds or Kind.OTHER in kinds:
        return frozenset()
    held = kinds - NOTHING
    return (held - NUMBERS) | {Kind.DOUBLE} if held & NUMBERS else held


def _names(kinds: frozenset[Kind]) -> str:
    return ", ".join(sorted(k.value for k in kinds))


async def _edge_findings(join: JoinClaim, program: Program | None, env: Env) -> list[Finding]:
    local, foreign = join.local, join.foreign
    if local is None or foreign is None or foreign.path is None or not isinstance(program, MqlProgram):
        return []
    if foreign.status is not ReadStatus.STORED or ENTRIES in foreign.path.steps or not _is_root(join, program):
        return []
    hits = await _look_up(join, program, local.text.lstrip("$"), foreign.path.dotted, env)
    if hits is None or not hits.asked:
        return []
    return _judge(join, hits, is_unwound=_is_unwound(join, program))


def _is_unwound(join: JoinClaim, program: MqlProgram) -> bool:
    """Whether a later stage makes a row of each match; matches that stay in their array repeat nothing."""
    name = f"${program.stages[join.place.stage]['$lookup'].get('as')}"
    later = [stage.get("$unwind") for stage in program.stages[join.place.stage + 1 :]]
    return any(name in (cast("Mapping[str, Any]", u).get("path") if isinstance(u, Mapping) else u,) for u in later)


def _is_root(join: JoinClaim, program: MqlProgram) -> bool:
    """Whether the join stands in the program itself: what reaches one in a nested pipeline cannot be sampled alone."""
    if join.local is None or not 0 <= join.place.stage < len(program.stages):
        return False
    body: Any = program.stages[join.place.stage].get("$lookup")
    return isinstance(body, Mapping) and cast("Mapping[str, Any]", body).get("localField") == join.local.text


def _judge(join: JoinClaim, hits: Hits, *, is_unwound: bool) -> list[Finding]:
    name = f"{join.container} to {join.to_container}"
    if not hits.found:
        return [
            Finding(
                Code.JOIN_UNWITNESSED,
                f"the join from {name} matches nothing",
                join.place,
                path=join.local.text if join.local else "",
                evidence=f"none of {hits.asked} distinct local values exists on the other side",
                # all values looked up: proof; a part of them: a strong hint
                blocking=hits.asked < LOOKED_UP,
            )
        ]
    mean = hits.documents / hits.found
    if mean <= 1 or not is_unwound:
        return []
    evidence = f"{mean:.1f} matches for each of {hits.found} values found"
    return [
        Finding(Code.JOIN_FANS_OUT, f"the join from {name} repeats rows", join.place, evidence=evidence, blocking=False)
    ]


async def _look_up(join: JoinClaim, program: MqlProgram, local: str, foreign: str, env: Env) -> Hits | None:
    """Take the values that reach the join where it stands, and count them on the other side."""
    values = await ask_rows(
        MqlProgram(
            program.container,
            (
                *program.stages[: join.place.stage],
                {"$limit": 5000},
                {"$project": {"_id": 0, "v": f"${local}"}},
                # a join looks into an array's items, also where the array lies further up the path
                {"$unwind": "$v"},
                {"$unwind": "$v"},
                {"$match": {"v": {"$ne": None}}},
                {"$group": {"_id": "$v"}},
                {"$sort": {"_id": 1}},
                {"$limit": LOOKED_UP},
            ),
        ),
        env,
    )
    if values is None:
        return None
    wanted = [row["_id"] for row in values]
    counted = await ask_rows(
        MqlProgram(
            join.to_container,
            (
                {"$match": {foreign: {"$in": wanted}}},
                {"$limit": 5000},
                {"$group": {"_id": f"${foreign}", "n": {"$sum": 1}}},
            ),
        ),
        env,
    )
    if counted is None:
        return None
    return Hits(len(wanted), min(len(counted), len(wanted)), sum(row["n"] for row in counted))
