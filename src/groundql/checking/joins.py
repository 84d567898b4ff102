"""The join gate: a join must follow an edge that the data shows, between fields of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groundql.checking.asking import ask_rows
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, NUMBERS, Kind
from groundql.core.path import ENTRIES, ITEMS
from groundql.core.ports import Env
from groundql.core.program import JoinClaim, MqlProgram, ReadStatus

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
        found.extend([kinds] if kinds else await _edge_findings(join, env))
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


async def _edge_findings(join: JoinClaim, env: Env) -> list[Finding]:
    local, foreign = join.local, join.foreign
    if local is None or foreign is None or local.path is None or foreign.path is None:
        return []
    if local.status is not ReadStatus.STORED or foreign.status is not ReadStatus.STORED:
        return []
    if ENTRIES in local.path.steps or ENTRIES in foreign.path.steps:
        return []
    hits = await _look_up(join, local.path.dotted, foreign.path.dotted, env)
    if hits is None or not hits.asked:
        return []
    return _judge(join, hits)


def _judge(join: JoinClaim, hits: Hits) -> list[Finding]:
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
    if mean <= 1:
        return []
    evidence = f"{mean:.1f} matches for each of {hits.found} values found"
    return [
        Finding(Code.JOIN_FANS_OUT, f"the join from {name} repeats rows", join.place, evidence=evidence, blocking=False)
    ]


async def _look_up(join: JoinClaim, local: str, foreign: str, env: Env) -> Hits | None:
    values = await ask_rows(
        MqlProgram(
            join.container,
            (
                {"$match": {local: {"$nin": [None, []]}}},
                {"$limit": 5000},
                *({"$unwind": f"${name}"} for name in _unwound(join)),
                {"$group": {"_id": f"${local}"}},
                {"$sort": {"_id": 1}},
                {"$limit": LOOKED_UP},
            ),
        ),
        env,
    )
    if values is None:
        return None
    wanted = [row["_id"] for row in values if row.get("_id") is not None]
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


def _unwound(join: JoinClaim) -> list[str]:
    """The arrays on the way to the local value, itself included: a join looks into each of their items."""
    path = join.local.path if join.local else None
    if path is None:
        return []
    arrays = [p.parent.dotted for p in (*path.ancestors(), path) if p.last is ITEMS]
    return list(dict.fromkeys([*arrays, path.dotted]))
