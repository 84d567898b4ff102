from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from groundql.core.answer import Answer, Candidate, Grounding, Outcome, Question
from groundql.core.catalog import Catalog
from groundql.core.chat import ModelRequest
from groundql.core.ports import Env
from groundql.core.program import MqlProgram, Program
from groundql.databases.memory import MemoryDatabase
from groundql.errors import ModelCutOff, ModelRefused, ProgramRejected
from groundql.llm.scripted import Line, Scripted
from groundql.solvers.local import LOCAL
from groundql.solvers.local_checks import counted_gate, unfiltered_gate
from groundql.solvers.local_draft import stable_messages
from tiny_catalog import container_of

HEROES = tuple({"_id": n, "name": f"Hero {n}", "side": ("good", "bad")[n % 3 == 0], "age": 20 + n} for n in range(9))
CATALOG = Catalog("comics", (container_of("heroes", HEROES),))
COUNT_GOOD = {
    "container": "heroes",
    "filters": [{"path": "side", "op": "eq", "value": "good"}],
    "metrics": [{"op": "count"}],
}
SIX = {"container": "heroes", "pipeline": [{"$match": {"side": "good"}}, {"$count": "n"}]}
BAD = {"container": "heroes", "pipeline": [{"$match": {"colour": "good"}}, {"$count": "n"}]}
THREE_QUERY = {**COUNT_GOOD, "filters": [{"path": "side", "op": "eq", "value": "bad"}]}
THREE = {"container": "heroes", "pipeline": [{"$match": {"side": "bad"}}, {"$count": "n"}]}


class Grounded:
    async def ground(self, question: Question, /) -> Grounding:
        return Grounding(question, CATALOG)


def matched(program: Program) -> Iterable[Mapping[str, Any]]:
    """A database that can only match equal values and count."""
    assert isinstance(program, MqlProgram)
    rows: list[dict[str, Any]] = [dict(r) for r in HEROES]
    for stage in program.stages:
        operator, body = next(iter(stage.items()))
        if operator == "$match":
            rows = [r for r in rows if all(r.get(k) == v for k, v in body.items())]
        elif operator == "$count":
            rows = [{body: len(rows)}]
        else:
            raise ProgramRejected(f"no {operator} here")
    return rows


async def asked(question: str, *lines: Line | Mapping[str, Any]) -> tuple[Answer, Scripted]:
    model = Scripted([json.dumps(line) if isinstance(line, Mapping) else line for line in lines])
    env = Env(MemoryDatabase({"heroes": HEROES}, matched), model, Grounded())
    return await LOCAL(Question(question), env), model


@pytest.mark.anyio
async def test_a_query_and_a_pipeline_that_agree_are_answered():
    answer, _ = await asked("How many heroes are on the good side?", COUNT_GOOD, SIX)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.rows is not None
    assert list(answer.rows.records[0].values()) == [6]
    assert "small model" in answer.evidence.agreement


@pytest.mark.anyio
async def test_a_query_and_a_pipeline_that_differ_are_both_shown():
    answer, _ = await asked("How many heroes are on the good side?", COUNT_GOOD, THREE, COUNT_GOOD, THREE)
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.rows is None
    assert {c.form for c in answer.candidates} == {"query", "pipeline"}
    assert "= 6" in answer.diagnosis
    assert "= 3" in answer.diagnosis


@pytest.mark.anyio
async def test_both_drafts_share_one_prompt_up_to_the_last_line():
    _, model = await asked("How many heroes are on the good side?", COUNT_GOOD, SIX)
    first, second = (r.messages for r in model.requests)
    assert first[:-1] == second[:-1]
    assert first[-1].text.rpartition("\n")[0] == second[-1].text.rpartition("\n")[0]
    assert first[-1].text != second[-1].text


@pytest.mark.anyio
async def test_the_beginning_of_the_prompt_does_not_depend_on_the_question():
    prompts = [(await asked(q, COUNT_GOOD, SIX))[1].requests[0].messages[:-1] for q in ("How many?", "Which are bad?")]
    assert prompts[0] == prompts[1] == stable_messages(CATALOG)


@pytest.mark.anyio
async def test_a_question_that_is_an_example_is_left_out_of_its_own_prompt():
    question = next(m.text for m in stable_messages(CATALOG) if m.role == "user").splitlines()[0].removeprefix("Q: ")
    _, model = await asked(question, COUNT_GOOD, SIX)
    shown = [m.text for m in model.requests[0].messages]
    assert sum(question in text for text in shown) == 1
    assert question in shown[-1]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "line",
    [
        "I think the answer is six.",
        '{"container": "heroes", "metrics": [{"op": "sum", "path": "height"}]}',
        ModelRefused("no"),
        ModelCutOff("too long"),
    ],
)
async def test_one_form_alone_is_never_an_answer(line: Line):
    model = Scripted(lambda request: line if _is_query(request) else json.dumps(SIX))
    env = Env(MemoryDatabase({"heroes": HEROES}, matched), model, Grounded())
    answer = await LOCAL(Question("How many heroes are on the good side?"), env)
    assert answer.outcome is Outcome.ABSTAINED
    assert "nothing stands beside it" in answer.diagnosis


def _is_query(request: ModelRequest) -> bool:
    assert request.schema is not None
    return "pipeline" not in request.schema["properties"]


@pytest.mark.anyio
async def test_a_pipeline_that_would_write_is_never_run():
    writing = {"container": "heroes", "pipeline": [{"$match": {"$where": "sleep(1)"}}, {"$count": "n"}]}
    answer, _ = await asked("How many heroes are on the good side?", COUNT_GOOD, writing, COUNT_GOOD, writing)
    assert answer.outcome is not Outcome.ANSWERED
    assert all(c.rows is None for c in answer.candidates if c.form == "pipeline")


@pytest.mark.anyio
async def test_a_second_draft_of_each_form_is_asked_for_only_where_the_first_two_differ():
    agreed, model = await asked("How many heroes are on the good side?", COUNT_GOOD, SIX)
    assert len(model.requests) == 2
    answer, model = await asked("How many heroes are on the good side?", COUNT_GOOD, THREE, THREE_QUERY, SIX)
    assert agreed.outcome is Outcome.ANSWERED
    assert [r.temperature > 0 for r in model.requests] == [False, False, True, True]
    assert answer.outcome is Outcome.ABSTAINED


@pytest.mark.anyio
async def test_a_second_pipeline_that_agrees_with_the_first_query_is_an_answer():
    answer, _ = await asked("How many heroes are on the good side?", COUNT_GOOD, BAD, COUNT_GOOD, SIX)
    assert answer.outcome is Outcome.ANSWERED


@pytest.mark.anyio
async def test_a_count_of_another_container_than_the_question_names_is_blocked():
    catalog = Catalog("comics", (*CATALOG.containers, container_of("cities", [{"_id": 1, "name": "Metropolis"}])))
    program = MqlProgram("cities", ({"$count": "n"},))
    for question, findings in (("In how many heroes is it?", 1), ("How many cities?", 0), ("Which heroes?", 0)):
        grounding = Grounding(Question(question), catalog)
        assert len(await counted_gate(Candidate(program), grounding, None)) == findings  # type: ignore[arg-type]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "stage", "blocked"),
    [
        ("How many heroes have powers?", {"$count": "n"}, True),
        ("How many heroes have powers?", {"$group": {"_id": None, "n": {"$sum": 1}}}, True),
        ("How many heroes have powers?", {"$match": {"age": 1}}, False),
        ("How many heroes does each side have?", {"$group": {"_id": "$side", "n": {"$sum": 1}}}, False),
        ("How many heroes are there?", {"$count": "n"}, False),
    ],
)
async def test_a_count_of_everything_does_not_answer_a_restricted_question(question: str, stage: Any, blocked: bool):
    grounding = Grounding(Question(question), CATALOG)
    found = await unfiltered_gate(Candidate(MqlProgram("heroes", (stage,))), grounding, None)  # type: ignore[arg-type]
    assert bool(found) is blocked
