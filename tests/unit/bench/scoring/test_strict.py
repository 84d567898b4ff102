from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from bson import DatetimeMS, Decimal128, Int64

from groundql.bench.scoring.columns import Cells, Pairing, Part, Search
from groundql.bench.scoring.forms import Forms
from groundql.bench.scoring.strict import Wanted, judge
from groundql.bench.verdict import Bucket

Records = list[dict[str, Any]]
A, B, C = {"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "c", "n": 3}
DAY = dt.datetime(2020, 1, 2)


def bucket(gold: Records, predicted: Records, *, ordered: bool = False) -> Bucket:
    return judge(Wanted.of(gold, ordered=ordered), predicted).bucket


EQUAL = {
    "an integer and a whole float": (5, 5.0),
    "an integer and a decimal": (5, Decimal128("5.00")),
    "decimals of other precision": (Decimal128("1.0"), Decimal128("1.00")),
    "a 64-bit integer": (Int64(2**40), float(2**40)),
    "what is left where a sum cancels out": (0, 5.5e-17),
    "NaN": (float("nan"), Decimal128("NaN")),
    "infinity": (float("inf"), Decimal128("Infinity")),
    "a date in another form": (DAY, DatetimeMS(DAY)),
    "the keys of nested objects": ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}),
}
DIFFERENT = {
    "true and 1": (True, 1),
    "neighbouring large integers": (10_000_000_001, 10_000_000_002),
    "a difference in the eighth digit": (1.0000000, 1.0000001),
    "a number and its text": (1, "1"),
    "a date and its text": (DAY, "2020-01-02"),
    "a null inside an object": ({"a": 1, "b": None}, {"a": 1}),
    "arrays in another order": ([1, 2], [2, 1]),
    "an item more": ([1], [1, 1]),
}


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
def test_these_values_are_the_same(one: Any, other: Any) -> None:
    assert bucket([{"v": one}], [{"v": other}]) is Bucket.CORRECT
    assert bucket([{"v": other}], [{"v": one}]) is Bucket.CORRECT


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_these_values_are_not_the_same(one: Any, other: Any) -> None:
    assert bucket([{"v": one}], [{"v": other}]) is Bucket.VALUE_MISMATCH
    assert bucket([{"v": other}], [{"v": one}]) is Bucket.VALUE_MISMATCH


def test_names_need_not_agree() -> None:
    verdict = judge(Wanted.of([A, B], ordered=True), [{"name": "a", "total": 1}, {"name": "b", "total": 2}])
    assert verdict.bucket is Bucket.CORRECT
    assert verdict.detail == "columns: k as name, n as total"


def test_an_id_may_answer_to_any_name() -> None:
    assert bucket([{"_id": "a", "n": 1}], [{"_id": 7, "k": "a", "n": 1}]) is Bucket.CORRECT


def test_a_name_that_only_the_prediction_uses_for_another_value_is_free() -> None:
    assert bucket([{"value": 5, "count": 3}], [{"count": 5, "n": 3}]) is Bucket.CORRECT


def test_three_columns_that_both_name_alike_are_not_rotated() -> None:
    assert bucket([{"a": 1, "b": 2, "c": 3}], [{"a": 2, "b": 3, "c": 1}]) is Bucket.VALUE_MISMATCH


def test_no_two_gold_columns_answer_to_the_same_predicted_one() -> None:
    assert bucket([{"a": 1, "b": 1}], [{"x": 1, "y": 2}]) is Bucket.VALUE_MISMATCH


def test_columns_that_agree_one_by_one_must_agree_row_by_row() -> None:
    gold = [{"a": 1, "b": 1}, {"a": 2, "b": 2}]
    assert bucket(gold, [{"a": 1, "b": 2}, {"a": 2, "b": 1}]) is Bucket.VALUE_MISMATCH


def test_two_columns_more_are_allowed_and_three_are_not() -> None:
    assert bucket([A], [{**A, "x": 8, "y": 9}]) is Bucket.CORRECT
    assert bucket([A], [{**A, "x": 8, "y": 9, "z": 7}]) is Bucket.VALUE_MISMATCH


def test_a_column_too_few_is_wrong() -> None:
    verdict = judge(Wanted.of([A], ordered=False), [{"k": "a"}])
    assert (verdict.bucket, verdict.detail) == (Bucket.VALUE_MISMATCH, "1 of 2 columns")


def test_a_column_without_any_value_does_not_count() -> None:
    assert bucket([{"_id": None, "n": 1}], [{"total": 1}]) is Bucket.CORRECT


@pytest.mark.parametrize(
    ("predicted", "expected", "exf1"),
    [
        ([A, B, C], Bucket.CORRECT, 1.0),
        ([C, B, A], Bucket.ORDER_ONLY, 1.0),
        ([A, C], Bucket.ROW_SUBSET, 0.8),
        ([A, B, C, A], Bucket.ROW_SUPERSET, 0.857143),
        ([{**A, "h": 1}, {**B, "h": 2}], Bucket.ROW_SUBSET, 0.8),
        ([A, B, {"k": "d", "n": 4}], Bucket.VALUE_MISMATCH, 0.666667),
        ([], Bucket.EMPTY, 0.0),
    ],
)
def test_a_result_falls_into_its_bucket(predicted: Records, expected: Bucket, exf1: float) -> None:
    verdict = judge(Wanted.of([A, B, C], ordered=True), predicted)
    assert (verdict.bucket, verdict.exf1) == (expected, exf1)


def test_an_empty_gold_wants_nothing() -> None:
    assert bucket([], []) is Bucket.CORRECT
    assert bucket([], [A]) is Bucket.ROW_SUPERSET


def test_the_search_gives_up_at_its_bound() -> None:
    # every column looks like every other by itself, so only whole rows tell them apart
    rows = [{f"c{j}": (i >> j) & 1 for j in range(8)} for i in range(256)]
    others = [{f"d{j}": row[f"c{(j * 3) % 8}"] for j in range(8)} for row in rows]
    cells = Cells(Forms.over([*rows, *others]))
    gold, given = cells.table(rows), cells.table(others)
    pairing = Pairing(gold, dict.fromkeys(gold.columns, given.columns), given)
    assert Search(pairing, [Part(range(256), range(256))]).find() is not None
    search = Search(pairing, [Part(range(256), range(256))], bound=1)
    assert search.find() is None
