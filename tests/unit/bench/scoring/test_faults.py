"""Each fault of the published evaluator: tend-v1 reproduces it, strict judges right."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from groundql.bench.case import CaseId, Gold
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.judging import Bench
from groundql.bench.scoring.ties import KEYS
from groundql.bench.verdict import STRICT, TEND_V1, Bucket, Verdict
from groundql.core.program import MqlProgram, Program
from groundql.databases.memory import MemoryDatabase

pytestmark = pytest.mark.anyio
Records = Sequence[dict[str, Any]]
CASE = CaseId("shop", 1)
Answers = Callable[[MqlProgram], Records]


async def verdicts(gold: str, prediction: str, answers: Answers) -> tuple[Verdict, Verdict]:
    def answer(program: Program) -> Records:
        assert isinstance(program, MqlProgram)
        return answers(program)

    bench = Bench(MemoryDatabase(answers=answer), Gold(CASE, gold, "?"))
    judged = await bench.judge(Prediction(id=CASE, solver="s", mql=prediction))
    return judged.verdicts[TEND_V1], judged.verdicts[STRICT]


def call(*stages: dict[str, Any]) -> str:
    return f"db.c.aggregate({json.dumps(stages)})"


async def compared(gold: Records, predicted: Records, *stages: dict[str, Any]) -> tuple[Bucket, Bucket]:
    """Judge rows against rows; `stages` are the gold's."""
    other = {"$match": {"is": "the prediction"}}

    def answers(program: MqlProgram) -> Records:
        return predicted if other in program.stages else gold

    tend, strict = await verdicts(call(*stages), call(other, *stages), answers)
    return tend.bucket, strict.bucket


async def test_values_that_stand_under_each_others_names_are_not_correct() -> None:
    tend, strict = await compared([{"home": 2, "away": 1}], [{"home": 1, "away": 2}])
    assert (tend, strict) == (Bucket.CORRECT, Bucket.VALUE_MISMATCH)


async def test_one_column_map_holds_for_all_rows() -> None:
    gold, predicted = [{"a": 1, "b": 2}, {"a": 3, "b": 4}], [{"x": 2, "y": 1}, {"x": 3, "y": 4}]
    tend, strict = await compared(gold, predicted)
    assert (tend, strict) == (Bucket.CORRECT, Bucket.VALUE_MISMATCH)


async def test_guessing_around_a_single_value_is_not_correct() -> None:
    tend, strict = await compared([{"n": 42}], [{"a": 41, "b": 42, "c": 43}])
    assert (tend, strict) == (Bucket.CORRECT, Bucket.VALUE_MISMATCH)


@pytest.mark.parametrize(("gold", "predicted"), [(1, 0.9999999999999999), (899644.5000000002, 899644.4999999999)])
async def test_a_sum_in_another_order_is_correct(gold: float, predicted: float) -> None:
    tend, strict = await compared([{"n": gold}], [{"n": predicted}])
    assert (tend, strict) == (Bucket.VALUE_MISMATCH, Bucket.CORRECT)


async def test_rows_with_equal_sort_keys_may_be_exchanged() -> None:
    rows = [{"k": "a", "n": 9}, {"k": "b", "n": 9}, {"k": "c", "n": 3}]
    other = {"$match": {"is": "the prediction"}}

    def answers(program: MqlProgram) -> Records:
        if other in program.stages:
            return [rows[1], rows[0], rows[2]]
        return [{**row, KEYS: [row["n"]]} for row in rows] if KEYS in str(program.stages) else rows

    tend, strict = await verdicts(call({"$sort": {"n": -1}}), call(other, {"$sort": {"n": -1}}), answers)
    assert (tend.bucket, strict.bucket) == (Bucket.ORDER_ONLY, Bucket.CORRECT)


async def test_a_tie_at_the_limit_may_fall_either_way() -> None:
    rows = [{"k": "a", "n": 9}, {"k": "b", "n": 5}, {"k": "c", "n": 5}, {"k": "d", "n": 1}]
    other = {"$match": {"is": "the prediction"}}
    cut = ({"$sort": {"n": -1}}, {"$limit": 2})

    def answers(program: MqlProgram) -> Records:
        if other in program.stages:
            return [rows[0], rows[2]]
        return [{**row, KEYS: [row["n"]]} for row in rows] if KEYS in str(program.stages) else rows[:2]

    tend, strict = await verdicts(call(*cut), call(other, *cut), answers)
    assert (tend.bucket, strict.bucket) == (Bucket.VALUE_MISMATCH, Bucket.CORRECT)


async def test_a_row_that_is_not_tied_at_the_limit_is_wrong() -> None:
    rows = [{"k": "a", "n": 9}, {"k": "b", "n": 5}, {"k": "c", "n": 5}, {"k": "d", "n": 1}]
    other = {"$match": {"is": "the prediction"}}
    cut = ({"$sort": {"n": -1}}, {"$limit": 2})

    def answers(program: MqlProgram) -> Records:
        if other in program.stages:
            return [rows[0], rows[3]]
        return [{**row, KEYS: [row["n"]]} for row in rows] if KEYS in str(program.stages) else rows[:2]

    _, strict = await verdicts(call(*cut), call(other, *cut), answers)
    assert strict.bucket is Bucket.VALUE_MISMATCH


async def test_a_sort_before_a_root_group_decides_no_order() -> None:
    rows = [{"_id": "a", "n": 1}, {"_id": "b", "n": 2}]
    tend, strict = await compared(rows, rows[::-1], {"$sort": {"k": 1}}, {"$group": {"_id": "$k"}})
    assert (tend, strict) == (Bucket.ORDER_ONLY, Bucket.CORRECT)


async def test_sorting_by_count_decides_an_order() -> None:
    rows = [{"_id": "a", "count": 2}, {"_id": "b", "count": 1}]
    tend, strict = await compared(rows, rows[::-1], {"$sortByCount": "$k"})
    assert (tend, strict) == (Bucket.CORRECT, Bucket.ORDER_ONLY)


async def test_a_thousand_equal_rows_are_judged() -> None:
    rows = [{"n": 1}] * 1000
    tend, strict = await compared(rows, rows)
    assert (tend, strict) == (Bucket.NO_SUBMISSION, Bucket.CORRECT)


async def test_null_and_missing_are_the_same_in_a_row_both_ways() -> None:
    short, long = [{"a": 1}], [{"a": 1, "b": None}]
    assert await compared(short, long) == (Bucket.CORRECT, Bucket.CORRECT)
    assert await compared(long, short) == (Bucket.VALUE_MISMATCH, Bucket.CORRECT)


async def test_a_bracket_inside_a_text_is_read() -> None:
    text = call({"$match": {"a": "x]y"}})
    tend, strict = await verdicts(text, text, lambda program: [{"n": 1}])
    assert (tend.bucket, strict.bucket) == (Bucket.INVALID, Bucket.CORRECT)


async def test_a_limit_behind_the_call_is_read() -> None:
    def answers(program: MqlProgram) -> Records:
        return [{"n": i} for i in range(5 if {"$limit": 5} in program.stages else 9)]

    tend, strict = await verdicts("db.c.aggregate([])", "db.c.aggregate([]).limit(5)", answers)
    assert (tend.bucket, strict.bucket) == (Bucket.CORRECT, Bucket.ROW_SUBSET)


@pytest.mark.parametrize("stage", [{"$project": {"t": "$sample.type"}}, {"$match": {"a": "$out of stock"}}])
async def test_data_that_is_called_like_an_operator_is_data(stage: dict[str, Any]) -> None:
    tend, strict = await verdicts(call(stage), call(stage), lambda program: [{"n": 1}])
    assert (tend.bucket, strict.bucket) == (Bucket.INVALID, Bucket.CORRECT)


@pytest.mark.parametrize("stage", [{"$match": {"$sampleRate": 0.5}}, {"$set": {"t": "$$CLUSTER_TIME"}}])
async def test_operators_that_the_published_list_lacks_are_not_called_forbidden_there(stage: dict[str, Any]) -> None:
    tend, _ = await verdicts("db.c.aggregate([])", call(stage), lambda program: [{"n": 1}])
    assert tend.bucket is not Bucket.INVALID


async def test_a_helper_column_does_not_hide_that_only_the_order_is_wrong() -> None:
    gold = [{"k": "a", "n": 1}, {"k": "b", "n": 2}]
    predicted = [{"k": "b", "n": 2, "h": 7}, {"k": "a", "n": 1, "h": 8}]
    tend, strict = await compared(gold, predicted, {"$sort": {"n": 1}})
    assert (tend, strict) == (Bucket.VALUE_MISMATCH, Bucket.ORDER_ONLY)


async def test_sets_are_compared_as_sets() -> None:
    group = {"$group": {"_id": "$k", "tags": {"$addToSet": "$t"}}}
    tend, strict = await compared([{"_id": 1, "tags": ["x", "y"]}], [{"_id": 1, "tags": ["y", "x"]}], group)
    assert (tend, strict) == (Bucket.VALUE_MISMATCH, Bucket.CORRECT)


async def test_other_arrays_keep_their_order() -> None:
    group = {"$group": {"_id": "$k", "tags": {"$push": "$t"}}}
    _, strict = await compared([{"_id": 1, "tags": ["x", "y"]}], [{"_id": 1, "tags": ["y", "x"]}], group)
    assert strict is Bucket.VALUE_MISMATCH
