"""Rerun churn: how much of a figure changes when the same tasks are asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from groundql.bench.case import CaseId
from groundql.bench.scoring.figures import last_of_each
from groundql.bench.verdict import PROTOCOLS, Scored

Told = Mapping[tuple[str, int], Mapping[CaseId, Scored]]


def churn(scored: Iterable[Scored]) -> list[dict[str, Any]]:
    """Compare every two repeats of each solver.

    Shape: per solver and protocol the repeats, the tasks each pair shares (`pairs`, added up), the shares of them whose
    correctness and whose bucket changed, how many tasks flipped at least once, and the lowest and highest accuracy.
    """
    by_repeat: dict[tuple[str, int], dict[CaseId, Scored]] = {}
    for one in last_of_each(scored):
        by_repeat.setdefault((one.solver, one.repeat), {})[one.id] = one
    solvers = dict.fromkeys(solver for solver, _ in by_repeat)
    return [
        _row(solver, protocol, {repeat: found for (name, repeat), found in by_repeat.items() if name == solver})
        for solver in solvers
        for protocol in PROTOCOLS
        if sum(name == solver for name, _ in by_repeat) > 1
    ]


def _row(solver: str, protocol: str, repeats: Mapping[int, Mapping[CaseId, Scored]]) -> dict[str, Any]:
    pairs = [
        (case, first[case].verdicts[protocol], second[case].verdicts[protocol])
        for first, second in combinations(repeats.values(), 2)
        for case in first
        if case in second
    ]
    flipped = [case for case, one, other in pairs if one.is_correct != other.is_correct]
    moved = sum(one.bucket != other.bucket for _, one, other in pairs)
    accuracy = [sum(s.verdicts[protocol].is_correct for s in found.values()) / len(found) for found in repeats.values()]
    of = max(len(pairs), 1)
    return {
        "system": solver, "protocol": protocol, "repeats": len(repeats), "pairs": len(pairs),
        "flipped_share": round(len(flipped) / of, 4), "bucket_changed_share": round(moved / of, 4),
        "tasks_flipped": len(set(flipped)),
        "lowest_exc": round(min(accuracy), 4), "highest_exc": round(max(accuracy), 4),
    }  # fmt: skip
