from __future__ import annotations

from typing import Any

import pytest

from groundql.bench.scoring.order import decided_order
from groundql.bench.scoring.ties import BEYOND, KEYS, read_ties, tie_probe
from groundql.core.program import MqlProgram

SORT, LIMIT = {"$sort": {"n": -1, "a.b": 1}}, {"$limit": 2}
CARRIED = {"$set": {KEYS: [{"$ifNull": ["$n", None]}, {"$ifNull": ["$a.b", None]}]}}
WIDE = {"$limit": 2 + BEYOND}


def probe(*stages: Any) -> list[Any] | None:
    found = tie_probe(MqlProgram("c", stages))
    return None if found is None else list(found.stages)


def test_the_probe_carries_the_keys_and_moves_the_limit_out() -> None:
    assert probe(SORT, LIMIT) == [SORT, CARRIED, WIDE]


def test_a_projection_lets_the_keys_through() -> None:
    assert probe(SORT, LIMIT, {"$project": {"_id": 0, "k": 1}}) == [
        SORT, CARRIED, WIDE, {"$project": {"_id": 0, "k": 1, KEYS: 1}},
    ]  # fmt: skip


def test_an_exclusion_is_left_as_it_is() -> None:
    assert probe(SORT, {"$project": {"_id": 0}}) == [SORT, CARRIED, {"$project": {"_id": 0}}]


def test_a_projection_of_the_id_alone_is_an_inclusion() -> None:
    assert probe(SORT, {"$project": {"_id": 1}}) == [SORT, CARRIED, {"$project": {"_id": 1, KEYS: 1}}]


def test_a_new_root_takes_the_keys_along() -> None:
    merged = {"$mergeObjects": ["$o", {KEYS: f"${KEYS}"}]}
    assert probe(SORT, {"$replaceRoot": {"newRoot": "$o"}}) == [SORT, CARRIED, {"$replaceRoot": {"newRoot": merged}}]
    assert probe(SORT, {"$replaceWith": "$o"}) == [SORT, CARRIED, {"$replaceWith": merged}]


def test_a_limit_behind_which_rows_multiply_stays() -> None:
    assert probe(SORT, LIMIT, {"$unwind": "$x"}) == [SORT, CARRIED, LIMIT, {"$unwind": "$x"}]


def test_a_limit_without_order_may_keep_any_rows() -> None:
    assert probe({"$match": {}}, LIMIT) == [{"$set": {KEYS: []}}, {"$match": {}}, WIDE]


@pytest.mark.parametrize(
    "stages",
    [
        [{"$match": {"a": 1}}],
        [SORT, LIMIT, {"$group": {"_id": "$k"}}],
        [{"$sort": {"score": {"$meta": "textScore"}}}],
        [{"$sort": {"a.0": 1}}],
        [SORT, {"$redact": "$$KEEP"}],
    ],
)
def test_there_is_no_probe_where_nothing_is_decided_or_it_cannot_be_followed(stages: list[Any]) -> None:
    assert probe(*stages) is None


def test_the_last_sort_that_still_holds_decides() -> None:
    assert decided_order([{"$sort": {"a": 1}}, {"$group": {}}, SORT, {"$project": {}}]).keys == ("n", "a.b")
    assert not decided_order([SORT, {"$group": {}}]).is_ordered
    assert not decided_order([SORT, {"$setWindowFields": {}}]).is_ordered


def keyed(*pairs: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"k": k, KEYS: [n]} for k, n in pairs]


def test_runs_of_equal_keys_are_ties() -> None:
    ties = read_ties([{"k": k} for k in "abc"], keyed(("a", 9), ("b", 9), ("c", 1)), ordered=True)
    assert ties is not None
    assert (ties.blocks, ties.pool) == ((2, 1), ())


def test_keys_that_differ_by_the_noise_of_a_sum_are_tied() -> None:
    ties = read_ties([{"k": "a"}, {"k": "b"}], keyed(("a", 0.1 + 0.2), ("b", 0.3)), ordered=True)
    assert ties is not None
    assert ties.blocks == (2,)


def test_a_tie_that_goes_on_beyond_the_limit_is_a_pool() -> None:
    ties = read_ties([{"k": "a"}, {"k": "b"}], keyed(("a", 9), ("b", 5), ("c", 5), ("d", 1)), ordered=True)
    assert ties is not None
    assert (ties.blocks, list(ties.pool)) == ((1, 1), [{"k": "b"}, {"k": "c"}])


def test_rows_that_are_not_the_golds_show_no_ties() -> None:
    assert read_ties([{"k": "a"}, {"k": "b"}], keyed(("a", 9), ("x", 1)), ordered=True) is None
    assert read_ties([{"k": "a"}], [{"k": "a"}], ordered=True) is None
    assert read_ties([{"k": "a"}, {"k": "b"}], keyed(("a", 9)), ordered=True) is None
