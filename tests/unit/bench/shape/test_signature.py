from __future__ import annotations

import pytest

from groundql.bench.shape.signature import ordered_signature, signature, skeleton, skeleton_summary
from groundql.core.program import MqlProgram, Stage


def program(*stages: Stage, container: str = "c") -> MqlProgram:
    return MqlProgram(container, stages)


def test_a_signature_is_the_published_one() -> None:
    stages = ({"$match": {"a": {"$gte": 1}}}, {"$limit": 8})
    # the SHA-256 of {"collection":"c","pipeline":[{"$match":{"a":{"$gte":1}}},{"$limit":8}]}
    assert signature(program(*stages)) == "533360dc809e45dcda977259acb2363d636949d2926abf11fe9789b8f9732d7e"


def test_the_order_of_keys_and_the_thirteenth_decimal_do_not_count() -> None:
    one = program({"$match": {"a": 0.1, "b": 1}})
    assert signature(one) == signature(program({"$match": {"b": 1, "a": 0.1 + 1e-14}}))
    assert signature(one) != signature(program({"$match": {"b": 1, "a": 0.1001}}))
    assert signature(one) != signature(program({"$match": {"a": 0.1, "b": 1}}, container="d"))


def test_two_sort_orders_share_the_published_signature_but_not_the_ordered_one() -> None:
    one, other = program({"$sort": {"a": 1, "b": 1}}), program({"$sort": {"b": 1, "a": 1}})
    assert signature(one) == signature(other)
    assert ordered_signature(one) != ordered_signature(other)


@pytest.mark.parametrize(
    ("stage", "other"),
    [
        ({"$match": {"a": "x"}}, {"$match": {"other": "y"}}),
        ({"$project": {"a": "$b.c", "d": 1}}, {"$project": {"z": "$y", "x": 0}}),
        ({"$project": {"d": 1, "a": "$b"}}, {"$project": {"a": "$b", "d": 1}}),
    ],
)
def test_names_and_constants_are_no_part_of_a_skeleton(stage: Stage, other: Stage) -> None:
    assert skeleton(program(stage)) == skeleton(program(other, container="elsewhere"))


@pytest.mark.parametrize(
    "other",
    [
        {"$group": {"_id": "$a", "n": {"$avg": 1}}},
        {"$group": {"_id": "$a", "n": {"$sum": "$b"}}},
        {"$group": {"_id": "$a", "n": {"$sum": 1}, "m": {"$sum": 1}}},
        {"$group": {"_id": None, "n": {"$sum": 1}}},
        {"$group": {"_id": ["$a"], "n": {"$sum": 1}}},
    ],
)
def test_operators_arities_and_kinds_of_leaves_make_another_skeleton(other: Stage) -> None:
    assert skeleton(program({"$group": {"_id": "$a", "n": {"$sum": 1}}})) != skeleton(program(other))


def test_a_summary_names_the_root_operators() -> None:
    assert skeleton_summary(program({"$match": {}}, {"$limit": 1})) == "$match>$limit"
