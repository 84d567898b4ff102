from __future__ import annotations

import pytest

from groundql.bench.shape.complexity import aggregation_depth, complexity, join_depth
from groundql.bench.shape.operators import families_of, longest_reference, operators_of, root_stages
from groundql.bench.shape.transfer import TransferLevel, transfer_level
from groundql.core.program import MqlProgram, Stage


def program(*stages: Stage) -> MqlProgram:
    return MqlProgram("c", stages)


def test_operators_are_counted_at_any_depth_and_paths_are_not_operators() -> None:
    found = operators_of(program({"$match": {"$or": [{"a": {"$gt": 1}}, {"b": {"$gt": "$x"}}]}}))
    assert found == {"$match": 1, "$or": 1, "$gt": 2}


def test_root_stages_keep_their_order() -> None:
    assert root_stages(program({"$match": {}}, {"$group": {"_id": None}})) == ("$match", "$group")


def test_families_are_named_by_their_operators() -> None:
    assert families_of(program({"$project": {"m": {"$objectToArray": "$m"}}}, {"$unwind": "$m"})) == {
        "dynamic_key",
        "array",
    }
    assert families_of(program({"$match": {}})) == frozenset()


def test_the_longest_reference_counts_names_and_leaves_variables_out() -> None:
    assert longest_reference(program({"$project": {"x": "$a.b.c", "y": "$$this.a.b.c.d", "z": "a.b.c.d"}})) == 3
    assert longest_reference(program({"$match": {"a": 1}})) == 0


def test_the_complexity_score_is_the_published_sum() -> None:
    stages = (
        {"$lookup": {"from": "d", "localField": "a", "foreignField": "b", "as": "x"}},
        {"$unwind": "$x"},
        {"$project": {"m": {"$objectToArray": "$x.m"}}},
        {"$group": {"_id": "$m", "n": {"$sum": 1}}},
    )
    # four stages, six operators, an unwind and a group, one heavy and one nested operator
    assert complexity(program(*stages)) == pytest.approx(4 + 6 * 0.35 + 2 * 1.25 + 2.0 + 0.8)


@pytest.mark.parametrize(("count", "depth"), [(0, "0"), (1, "1"), (2, "2"), (3, "3+"), (4, "3+")])
def test_joins_are_counted_up_to_three(count: int, depth: str) -> None:
    assert join_depth(program(*({"$unionWith": "d"} for _ in range(count)))) == depth


def test_aggregation_depth_is_by_stages_once_something_is_grouped() -> None:
    group: Stage = {"$group": {"_id": "$a"}}
    assert aggregation_depth(program(*({"$match": {}} for _ in range(9)))) == "shallow"
    assert aggregation_depth(program({"$match": {}}, {"$match": {}}, {"$match": {}}, group)) == "medium"
    assert aggregation_depth(program({"$match": {}}, {"$match": {}}, {"$match": {}}, {"$match": {}}, group)) == "deep"


MAP: Stage = {"$project": {"m": {"$objectToArray": "$m"}}}
GUARDED: Stage = {"$project": {"m": {"$objectToArray": {"$ifNull": ["$m", {}]}}}}
UNWIND: Stage = {"$unwind": "$m"}
GROUP: Stage = {"$group": {"_id": "$m"}}
FILTER: Stage = {"$project": {"m": {"$filter": {"input": "$m", "cond": True}}}}
UNION: Stage = {"$project": {"m": {"$setUnion": [{"$objectToArray": "$m"}, []]}}}
GUARD: Stage = {"$project": {"m": {"$ifNull": ["$m", 0]}}}


@pytest.mark.parametrize(
    ("stages", "level"),
    [
        ((UNWIND, GROUP), TransferLevel.WEAK),
        ((UNWIND, GROUP, GUARD), TransferLevel.WEAK),
        ((UNWIND, GROUP, FILTER), TransferLevel.MEDIUM),
        ((UNWIND, GROUP, MAP), TransferLevel.MEDIUM),
        ((GUARDED,), TransferLevel.STRONG),
        ((UNION,), TransferLevel.STRONG),
        ((MAP,), TransferLevel.MEDIUM),
        ((GUARD,), TransferLevel.MEDIUM),
        ((GROUP,), TransferLevel.WEAK),
    ],
)
def test_the_first_rule_that_applies_gives_the_level(stages: tuple[Stage, ...], level: TransferLevel) -> None:
    assert transfer_level(program(*stages)) is level


def test_metadata_lifts_a_single_strong_operator() -> None:
    assert transfer_level(program(MAP), is_verified=True) is TransferLevel.STRONG
    assert transfer_level(program(GUARD), is_verified=True) is TransferLevel.MEDIUM
