"""What must hold for every two results: golds are right, order and names count as stated, work is bounded."""

from __future__ import annotations

import ast
import datetime as dt
import inspect
import math
from collections.abc import Sequence
from itertools import permutations
from types import ModuleType
from typing import Any

import pytest
from bson import Decimal128, Int64, ObjectId
from hypothesis import given, settings
from hypothesis import strategies as st

from groundql.bench.scoring import columns, flow, matching, overrun, strict, tend_v1
from groundql.bench.scoring.canonical import Numbering, Row
from groundql.bench.scoring.flow import Steps
from groundql.bench.scoring.matching import fits, match_in_any_order
from groundql.bench.scoring.strict import Wanted
from groundql.bench.verdict import Bucket

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**40), 2**40).map(Int64),
    st.floats(),
    st.sampled_from(["", "a", "b", "$a", "é"]),
    st.decimals(-(10**9), 10**9, places=3).map(lambda d: Decimal128(d)),
    st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2100, 1, 1)),
    st.just(ObjectId("64b000000000000000000001")),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
RECORDS = st.dictionaries(st.sampled_from(["_id", "a", "b", "c"]), VALUES, max_size=4)
RESULTS = st.lists(RECORDS, max_size=6)
ROWS = st.lists(st.lists(st.integers(0, 3), max_size=4).map(lambda row: tuple(sorted(row))), max_size=6)
BETAS = st.sampled_from([0, 1, 2, 3, math.inf])


@settings(max_examples=60)
@given(RESULTS, st.booleans())
def test_a_gold_is_right_by_itself(rows: list[dict[str, Any]], ordered: bool) -> None:
    verdict = tend_v1.judge(rows, rows, ordered=ordered)
    assert (verdict.bucket, verdict.exf1) == (Bucket.CORRECT, 1.0)
    verdict = strict.judge(Wanted.of(rows, ordered=ordered), rows)
    assert (verdict.bucket, verdict.exf1) == (Bucket.CORRECT, 1.0)


@settings(max_examples=60)
@given(RESULTS, st.randoms())
def test_without_order_any_order_is_right(rows: list[dict[str, Any]], chance: Any) -> None:
    shuffled = rows[:]
    chance.shuffle(shuffled)
    assert tend_v1.judge(rows, shuffled, ordered=False).bucket is Bucket.CORRECT
    assert strict.judge(Wanted.of(rows, ordered=False), shuffled).bucket is Bucket.CORRECT


@settings(max_examples=60)
@given(RESULTS)
def test_other_names_are_right_by_both(rows: list[dict[str, Any]]) -> None:
    renamed = [{f"x{name}": value for name, value in row.items()} for row in rows]
    assert tend_v1.judge(rows, renamed, ordered=True).bucket is Bucket.CORRECT
    assert strict.judge(Wanted.of(rows, ordered=True), renamed).bucket is Bucket.CORRECT


@settings(max_examples=60)
@given(RESULTS, RESULTS, st.booleans())
def test_without_surplus_a_match_holds_both_ways(
    one: list[dict[str, Any]], other: list[dict[str, Any]], ordered: bool
) -> None:
    numbering = Numbering()
    left, right = numbering.rows(one), numbering.rows(other)
    assert tend_v1.is_match(left, right, ordered=ordered, beta=0) == tend_v1.is_match(
        right, left, ordered=ordered, beta=0
    )
    first, second = (strict.judge(Wanted.of(a, ordered=ordered), b, beta=0) for a, b in ((one, other), (other, one)))
    assert first.is_correct == second.is_correct


@settings(max_examples=60)
@given(RESULTS, RESULTS)
def test_the_graded_figure_is_a_share_and_symmetric_under_tend_v1(
    one: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    there = tend_v1.judge(one, other, ordered=True).exf1
    assert there == tend_v1.judge(other, one, ordered=True).exf1
    assert 0.0 <= there <= 1.0
    assert 0.0 <= strict.judge(Wanted.of(one, ordered=True), other).exf1 <= 1.0


@settings(max_examples=60)
@given(RESULTS, RESULTS)
def test_what_is_right_in_order_is_right_without(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    if tend_v1.judge(one, other, ordered=True).is_correct:
        assert tend_v1.judge(one, other, ordered=False).is_correct
    if strict.judge(Wanted.of(one, ordered=True), other).is_correct:
        assert strict.judge(Wanted.of(one, ordered=False), other).is_correct


@given(ROWS, ROWS, BETAS, BETAS)
def test_more_surplus_never_unmakes_a_match(gold: list[Row], predicted: list[Row], beta: float, other: float) -> None:
    low, high = sorted((beta, other))
    if match_in_any_order(gold, predicted, low):
        assert match_in_any_order(gold, predicted, high)


@given(ROWS, st.data(), BETAS)
def test_a_match_is_found_exactly_where_some_pairing_of_all_rows_fits(
    gold: list[Row], data: st.DataObject, beta: float
) -> None:
    gold = gold[:4]
    more = st.lists(st.integers(0, 3), max_size=3)
    grown = [tuple(sorted((*row, *data.draw(more)))) for row in gold]
    predicted = data.draw(st.permutations(grown)) if data.draw(st.booleans()) else data.draw(ROWS)
    fitting = len(gold) == len(predicted) and any(
        all(fits(g, p, beta) for g, p in zip(gold, order, strict=True)) for order in permutations(predicted)
    )
    assert match_in_any_order(gold, predicted, beta) == fitting


def worst_case(rows: int) -> tuple[list[Row], list[Row]]:
    """Rows that each fit many others, but whose last one needs all others to move on."""
    gold = [(0, i + 1) for i in range(rows - 1)] + [(0,)]
    predicted = [tuple(sorted((0, i + 1, (i + 1) % rows + 1))) for i in range(rows)]
    return gold, predicted


def dense(rows: int) -> tuple[list[Row], list[Row]]:
    """Rows that all differ and all fit all."""
    return [(0,)] * rows, [tuple(sorted((0, i + 1, i + 2))) for i in range(rows)]


def halves(rows: int) -> tuple[list[Row], list[Row]]:
    """Rows that differ, half of which fit all and half of which fit two."""
    wide = [(0,)] * (rows // 2)
    return wide + [(0, i) for i in range(1, rows - len(wide) + 1)], [
        tuple(sorted((0, i, i % rows + 1))) for i in range(1, rows + 1)
    ]


@pytest.mark.parametrize("build", [worst_case, dense, halves])
@pytest.mark.parametrize("rows", [100, 400, 1200])
def test_matching_takes_at_most_so_many_steps(build: Any, rows: int) -> None:
    gold, predicted = build(rows)
    steps = Steps()
    match_in_any_order(gold, predicted, 2, steps)
    assert steps.count <= rows**2.5
    steps = Steps()
    overrun.overruns(gold, predicted, 2, rows, steps)
    assert steps.count <= rows**2.5 + rows**2 + rows


def functions(module: ModuleType) -> Sequence[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("module", [matching, flow, overrun, columns])
def test_nothing_that_compares_rows_recurses(module: ModuleType) -> None:
    for function in functions(module):
        called = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for node in ast.walk(function)
            if isinstance(node, ast.Call)
        }
        assert function.name not in called, function.name
