from __future__ import annotations

from typing import Any

import pytest

from groundql.bench.scoring.order import is_order_sensitive
from groundql.bench.scoring.tend_v1 import Rules, judge
from groundql.bench.verdict import Bucket

Records = list[dict[str, Any]]
A, B, C = {"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "c", "n": 3}
BUCKETS: dict[str, tuple[Records, Records, bool, Bucket, float]] = {
    "the same": ([A, B], [A, B], True, Bucket.CORRECT, 1.0),
    "other names": ([A], [{"x": 1, "y": "a"}], True, Bucket.CORRECT, 1.0),
    "a helper column": ([A, B], [{**A, "h": 7}, {**B, "h": 8}], True, Bucket.CORRECT, 0.0),
    "three helper columns": ([A], [{**A, "h": 7, "i": 8, "j": 9}], True, Bucket.VALUE_MISMATCH, 0.0),
    "both empty": ([], [], True, Bucket.CORRECT, 1.0),
    "nothing where rows were wanted": ([A], [], True, Bucket.EMPTY, 0.0),
    "rows where nothing was wanted": ([], [A], True, Bucket.ROW_SUPERSET, 0.0),
    "another order where order counts": ([A, B], [B, A], True, Bucket.ORDER_ONLY, 1.0),
    "another order where it does not": ([A, B], [B, A], False, Bucket.CORRECT, 1.0),
    "a row too few": ([A, B], [B], False, Bucket.ROW_SUBSET, 0.666667),
    "a row too many": ([A], [A, B], False, Bucket.ROW_SUPERSET, 0.666667),
    "the same row once too often": ([A, A], [A, A, A], False, Bucket.ROW_SUPERSET, 0.8),
    "one row of two wrong": ([A, B], [A, C], False, Bucket.VALUE_MISMATCH, 0.5),
    "a value missing": ([A], [{"k": "a"}], False, Bucket.VALUE_MISMATCH, 0.0),
    "a row too few and a helper column": ([A, B], [{**A, "h": 7}], False, Bucket.VALUE_MISMATCH, 0.0),
}


@pytest.mark.parametrize(("gold", "predicted", "ordered", "bucket", "exf1"), BUCKETS.values(), ids=BUCKETS)
def test_a_result_falls_into_its_bucket(
    gold: Records, predicted: Records, ordered: bool, bucket: Bucket, exf1: float
) -> None:
    verdict = judge(gold, predicted, ordered=ordered)
    assert (verdict.bucket, verdict.exf1) == (bucket, exf1)


def test_with_the_row_cap_more_rows_than_the_gold_are_a_bucket_of_their_own() -> None:
    verdict = judge([A], [A, B, C], ordered=False, rules=Rules(row_cap=True))
    assert (verdict.bucket, verdict.exf1) == (Bucket.ROW_COUNT_EXCEEDED, 0.666667)


def test_the_row_cap_changes_nothing_else() -> None:
    assert judge([A, B], [A], ordered=False, rules=Rules(row_cap=True)).bucket is Bucket.ROW_SUBSET


@pytest.mark.parametrize("operator", ["$sort", "$limit", "$skip", "$setWindowFields"])
def test_a_root_stage_that_orders_makes_order_count_wherever_it_stands(operator: str) -> None:
    assert is_order_sensitive([{operator: {}}, {"$group": {"_id": None}}])


@pytest.mark.parametrize("operator", ["$sortByCount", "$bucket", "$fill", "$facet", "$group", "$match"])
def test_no_other_stage_makes_order_count(operator: str) -> None:
    assert not is_order_sensitive([{operator: {"pipeline": [{"$sort": {"a": 1}}]}}])
