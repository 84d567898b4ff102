"""How much a program does: the published complexity score, and how deep it joins and aggregates."""

from __future__ import annotations

from typing import Final

from groundql.bench.shape.operators import JOINING, operators_of, root_stages
from groundql.core.program import MqlProgram

_TURNING: Final = ("$unwind", "$group")
_HEAVY: Final = frozenset({"$lookup", "$facet", "$graphLookup", "$setWindowFields", "$unionWith"})
_NESTED: Final = frozenset({"$objectToArray", "$filter", "$map", "$reduce", "$setUnion", "$setIntersection"})
_AGGREGATING: Final = frozenset({"$group", "$bucket", "$bucketAuto", "$facet", "$setWindowFields", "$sortByCount"})
_MEDIUM_STAGES: Final = 4
_MANY_JOINS: Final = 3


def complexity(program: MqlProgram) -> float:
    """Score a program: its stages, its distinct operators, and more for those that turn documents around.

    Source: TEND, README of the release, `complexity_score`
    """
    stages, used = root_stages(program), operators_of(program).keys()
    return (
        len(stages)
        + 0.35 * len(used)
        + 1.25 * sum(stage in _TURNING for stage in stages)
        + 2.0 * len(_HEAVY & used)
        + 0.8 * len(_NESTED & used)
    )


def join_depth(program: MqlProgram) -> str:
    """Count the joins among the root stages; three and more are one class."""
    joins = sum(stage in JOINING for stage in root_stages(program))
    return f"{_MANY_JOINS}+" if joins >= _MANY_JOINS else str(joins)


def aggregation_depth(program: MqlProgram) -> str:
    """Class a program: shallow without grouping; else medium with up to four stages, deep with more."""
    stages = root_stages(program)
    if not _AGGREGATING & set(stages):
        return "shallow"
    return "medium" if len(stages) <= _MEDIUM_STAGES else "deep"
