from __future__ import annotations

from typing import Any

import pytest

from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.catalog import Catalog
from groundql.core.finding import Code, Finding
from groundql.core.ports import Choice
from groundql.core.program import MqlProgram
from groundql.core.rows import Rows
from groundql.solvers.local_choose import agreeing_forms, asked_columns


def reading(form: str, *records: dict[str, Any], findings: tuple[Finding, ...] = ()) -> Candidate:
    return Candidate(MqlProgram("c", ()), rows=Rows(records), form=form, findings=findings)


async def choose(question: str, *candidates: Candidate) -> Choice:
    grounding = Grounding(Question(question), Catalog("d", ()))
    return await agreeing_forms(candidates, grounding, None)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_two_forms_with_the_same_rows_are_an_answer_whatever_the_columns_are_called():
    choice = await choose(
        "How many are there per kind?",
        reading("query", {"kind": "a", "count": 2}, {"kind": "b", "count": 1}),
        reading("pipeline", {"n": 1.0, "_id": "b"}, {"n": 2.0, "_id": "a"}),
    )
    assert choice.winner is not None
    assert "small model" in choice.reason


@pytest.mark.anyio
async def test_readings_that_differ_are_both_shown_and_none_is_chosen():
    choice = await choose("How many?", reading("query", {"count": 2}), reading("pipeline", {"count": 3}))
    assert choice.winner is None
    assert choice.abstains
    assert "count = 2" in choice.reason
    assert "count = 3" in choice.reason


@pytest.mark.anyio
async def test_two_readings_of_one_form_do_not_confirm_each_other():
    choice = await choose("How many?", reading("query", {"count": 2}), reading("query", {"count": 2}))
    assert choice.winner is None


@pytest.mark.anyio
async def test_where_one_form_alone_passed_it_is_shown_and_no_difference_is_claimed():
    blocked = reading("pipeline", {"count": 2}, findings=(Finding(Code.NOT_ANSWERED, "no"),))
    choice = await choose("How many?", reading("query", {"count": 2}), blocked)
    assert (
        choice.reason == "the query gives 1 row: count = 2; no pipeline passed its checks, so nothing stands beside it"
    )


@pytest.mark.anyio
async def test_agreement_on_two_different_answers_decides_nothing():
    drafts = [reading(form, {"count": n}) for form in ("query", "pipeline") for n in (2, 3)]
    choice = await choose("How many?", *drafts)
    assert choice.abstains
    assert "more than one answer" in choice.reason


@pytest.mark.anyio
async def test_a_blocked_reading_confirms_nothing():
    blocked = reading("pipeline", {"count": 2}, findings=(Finding(Code.VALUE_UNUSED, "unused"),))
    choice = await choose("How many?", reading("query", {"count": 2}), blocked)
    assert choice.winner is None
    assert choice.abstains


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "columns"),
    [("Which cities are large?", {"n"}), ("Which cities are large? Return name and population.", {"n", "p"})],
)
async def test_surplus_columns_agree_and_the_question_decides_which_are_shown(question: str, columns: set[str]):
    narrow = reading("query", {"n": "x"}, {"n": "y"})
    wide = reading("pipeline", {"n": "y", "p": 2}, {"n": "x", "p": 1})
    choice = await choose(question, narrow, wide)
    assert choice.winner is not None
    assert choice.winner.rows is not None
    assert set(choice.winner.rows.columns) == columns


@pytest.mark.anyio
async def test_the_order_of_rows_counts_where_the_question_asks_for_one():
    one, other = reading("query", {"n": "x"}, {"n": "y"}), reading("pipeline", {"n": "y"}, {"n": "x"})
    assert (await choose("Which names are there?", one, other)).winner is not None
    assert (await choose("Which names are there, sorted by size?", one, other)).abstains


@pytest.mark.anyio
async def test_a_surplus_column_does_not_hide_a_different_value():
    choice = await choose("Which?", reading("query", {"n": "x"}), reading("pipeline", {"n": "y", "p": 2}))
    assert choice.abstains


@pytest.mark.anyio
async def test_a_value_within_a_record_is_the_same_value():
    nested = reading("pipeline", {"n": "x", "codes": {"iata": "LCY"}})
    assert (await choose("Which?", reading("query", {"n": "x", "iata": "LCY"}), nested)).winner is not None


@pytest.mark.anyio
async def test_more_rows_are_a_different_answer():
    choice = await choose("Which?", reading("query", {"n": "x"}), reading("pipeline", {"n": "x"}, {"n": "x"}))
    assert choice.abstains


@pytest.mark.anyio
async def test_nothing_usable_is_a_failure_and_no_abstention():
    choice = await choose("Which?", Candidate(None, form="query"))
    assert choice.winner is None
    assert not choice.abstains


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("Which heroes? Return name and height.", 2),
        ("Show me the name, the height, and the weight.", 3),
        ("Return the time zone and the number of airports.", 2),
        ("How many?", 0),
    ],
)
def test_asked_columns_are_counted(question: str, count: int):
    assert asked_columns(question) == count
