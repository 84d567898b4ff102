from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from groundql.bench.running.budget import Spending
from groundql.bench.running.plan import tasks_of
from groundql.bench.running.runner import Reason
from groundql.core.answer import Answer, Outcome, Question
from groundql.core.budget import Budget, Usage
from groundql.core.chat import ModelReply, ModelRequest
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.databases.memory import MemoryDatabase
from groundql.errors import (
    BudgetExhausted,
    DatabaseUnreachable,
    GroundQLError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
    ModelUnset,
)
from groundql.languages.mongosh import parse_program
from groundql.languages.safety import admit
from groundql.solvers.recipes import SOLVERS
from unit.bench.running.doubles import HEROES, REPLY, Hosts, Probe, case, one_call, run, scripted, tasks


def passing(text: str) -> ModelUnavailable:
    error = ModelUnavailable(text)
    error.retryable = True
    return error


def raising(*errors: BaseException | None) -> Any:
    """Act by raising each error once, in turn; None and what comes after the last do nothing."""
    left = list(errors)

    async def act(_: Question, __: Env) -> None:
        error = left.pop(0) if left else None
        if error is not None:
            raise error

    return act


def test_every_task_is_asked_once_and_what_it_handed_in_is_kept_in_published_form(tmp_path: Path) -> None:
    probe = Probe()
    halt, done = run(tmp_path, tasks(5), probe, concurrency=2)
    assert halt is None
    assert sorted(probe.asked) == [f"question {n}" for n in range(5)]
    assert {p.mql for p in done.values()} == {'db.heroes.aggregate([{"$match": {"side": "good"}}])'}
    assert {p.failure for p in done.values()} == {""}


def test_a_run_that_goes_on_asks_only_what_is_missing(tmp_path: Path) -> None:
    first, second = Probe(), Probe()
    run(tmp_path, tasks(2), first)
    _, done = run(tmp_path, tasks(5), second)
    assert second.asked == ["question 2", "question 3", "question 4"]
    assert len(done) == 5


def test_repeats_and_solvers_are_tasks_of_their_own(tmp_path: Path) -> None:
    a, b = Probe(name="a"), Probe(name="b")
    _, done = run(tmp_path, tasks_of([case(1), case(2)], ["a", "b"], 3), a, b)
    assert len(done) == 12
    assert len(a.asked) == len(b.asked) == 6


def test_a_production_recipe_runs_as_it_is(tmp_path: Path) -> None:
    todo = tasks_of([case(1)], ["path-card"], 1)
    _, done = run(tmp_path, todo, SOLVERS["path-card"], open_model=scripted([REPLY]))
    (found,) = done.values()
    assert parse_program(found.mql) == MqlProgram("heroes", ({"$match": {"side": "good"}},))
    assert found.usage.calls == 1
    assert [(t.round, t.rows) for t in found.tries] == [(0, 1)]


def test_a_task_over_its_time_fails_as_that_and_the_run_goes_on(tmp_path: Path) -> None:
    async def act(question: Question, env: Env) -> None:
        await one_call(question, env)
        env.trace.add(
            "candidate", attempt=0, round=0, form="pipeline", program="db.x.aggregate([])", findings=[], rows=None
        )
        if question.text == "question 1":
            await anyio.sleep_forever()

    halt, done = run(tmp_path, tasks(3), Probe(act), task_timeout_s=0.2)
    late = done["comics", 1, "probe", 0]
    assert (halt, late.failure, late.detail) == (None, "timeout", "not done within 0.2 s")
    assert late.usage.calls == 1
    assert [t.mql for t in late.tries] == ["db.x.aggregate([])"]
    assert [p.failure for p in done.values()].count("") == 2


@pytest.mark.parametrize(
    ("error", "failure", "detail"),
    [
        (BudgetExhausted("spent"), "budget", "spent"),
        (ModelRefused("declined"), "model", "declined"),
        (ValueError("a fault of ours"), "error", "ValueError: a fault of ours"),
        (ExceptionGroup("g", [KeyError("k")]), "error", "KeyError: 'k'"),
    ],
)
def test_a_solver_that_fails_is_a_typed_failure(
    tmp_path: Path, error: BaseException, failure: str, detail: str
) -> None:
    halt, done = run(tmp_path, tasks(2), Probe(raising(error)))
    assert halt is None
    assert (done["comics", 0, "probe", 0].failure, done["comics", 0, "probe", 0].detail) == (failure, detail)
    assert done["comics", 1, "probe", 0].failure == ""


@pytest.mark.parametrize(("outcome", "failure"), [(Outcome.ABSTAINED, "abstained"), (Outcome.FAILED, "no_candidate")])
def test_an_answer_without_a_program_says_why(tmp_path: Path, outcome: Outcome, failure: str) -> None:
    async def act(question: Question, _: Env) -> Answer:
        return Answer(outcome, question, diagnosis="because")

    _, done = run(tmp_path, tasks(1), Probe(act))
    (found,) = done.values()
    assert (found.mql, found.failure, found.detail) == ("", failure, "because")


def test_a_database_that_went_away_is_opened_anew_once_for_all_who_met_it(tmp_path: Path) -> None:
    dead: list[Any] = []

    async def act(_: Question, env: Env) -> None:
        if not dead:
            dead.append(env.database)
        await anyio.sleep(0.01)
        if env.database is dead[0]:
            raise DatabaseUnreachable("gone")

    hosts = Hosts()
    halt, done = run(tmp_path, tasks(4), Probe(act), hosts=hosts, concurrency=4)
    assert hosts.opened == ["comics"]
    assert halt is None
    assert {p.failure for p in done.values()} == {""}


def test_a_database_that_stays_away_stops_the_run_and_nothing_is_held_against_a_solver(tmp_path: Path) -> None:
    probe = Probe(raising(*[DatabaseUnreachable("gone")] * 100))
    halt, done = run(tmp_path, tasks(10), probe)
    assert halt is not None
    assert (halt.reason, str(halt.error), done) == (Reason.TROUBLE, "gone", {})
    assert len(probe.asked) <= 12


def test_a_failure_on_the_way_is_tried_again_later(tmp_path: Path) -> None:
    probe = Probe(raising(passing("down"), None, ModelRateLimited("slow")))
    halt, done = run(tmp_path, tasks(4), probe)
    assert halt is None
    assert {p.failure for p in done.values()} == {""}
    assert probe.asked[-2:] == ["question 0", "question 2"]


def test_a_task_that_alone_meets_no_model_three_times_is_its_own_failure(tmp_path: Path) -> None:
    async def act(question: Question, _: Env) -> None:
        if question.text == "question 0":
            raise passing("down")

    halt, done = run(tmp_path, tasks(6), Probe(act))
    assert halt is None
    assert (done["comics", 0, "probe", 0].failure, done["comics", 0, "probe", 0].detail) == ("model", "down")
    assert len(done) == 6


def test_the_only_task_left_is_not_failed_for_want_of_a_server(tmp_path: Path) -> None:
    halt, done = run(tmp_path, tasks(1), Probe(raising(*[passing("down")] * 9)))
    assert halt is not None
    assert halt.reason is Reason.TROUBLE
    assert done == {}


@pytest.mark.parametrize("error", [ModelUnset("no key"), ModelUnavailable("no such model")])
def test_what_cannot_pass_stops_the_run_at_once(tmp_path: Path, error: GroundQLError) -> None:
    probe = Probe(raising(None, error))
    halt, done = run(tmp_path, tasks(9), probe)
    assert halt is not None
    assert halt.error is error
    assert len(done) == 1
    assert len(probe.asked) == 2


def test_tasks_in_flight_are_finished_when_the_run_is_stopped(tmp_path: Path) -> None:
    async def act(question: Question, _: Env) -> None:
        await anyio.sleep(0.01 if question.text == "question 0" else 0.1)
        if question.text == "question 0":
            raise ModelUnset("no key")

    halt, done = run(tmp_path, tasks(9), Probe(act), concurrency=3)
    assert halt is not None
    assert sorted(key[1] for key in done) == [1, 2]


def test_a_budget_stops_the_run_and_a_higher_one_lets_it_go_on(tmp_path: Path) -> None:
    reply = ModelReply("ok", usage=Usage(1, 60, 40, cost_usd=0.5))
    probe = Probe(one_call)
    todo = tasks(5)
    halt, done = run(tmp_path, todo, probe, open_model=scripted(lambda _: reply), spending=Spending(None, 250))
    assert halt is not None
    assert (halt.reason, halt.message) == (Reason.BUDGET, "the run's budget of 250 tokens is spent")
    assert len(done) == 3
    spending = Spending(2.0)
    spending.count(done.values())
    halt, done = run(tmp_path, todo, probe, open_model=scripted(lambda _: reply), spending=spending)
    assert halt is not None
    assert (halt.message, len(done)) == ("the run's budget of 2 USD is spent", 4)
    halt, done = run(tmp_path, todo, probe, open_model=scripted(lambda _: reply), spending=Spending())
    assert (halt, len(done), len(probe.asked)) == (None, 5, 5)


def test_a_question_has_the_limits_and_the_budget_that_production_gives_it(tmp_path: Path) -> None:
    seen: list[Env] = []

    async def act(_: Question, env: Env) -> None:
        seen.append(env)
        admitted = admit(MqlProgram("heroes", ()))
        await env.database.execute(admitted, env.limits)  # pyright: ignore[reportArgumentType]

    database = MemoryDatabase({"heroes": HEROES}, lambda _: HEROES)
    budget, limits = Budget(calls=3), Limits(rows=7)
    run(tmp_path, tasks(1), Probe(act), hosts=Hosts(lambda: database), budget=budget, limits=limits)
    assert (seen[0].limits, seen[0].meter.budget, len(database.executed)) == (limits, budget, 1)


def test_a_program_that_json_cannot_say_is_kept_in_a_form_that_can_be_read(tmp_path: Path) -> None:
    program = parse_program('db.getCollection("odd name").aggregate([{$match: {at: ISODate("2020-01-01T00:00:00Z")}}])')

    async def act(question: Question, _: Env) -> Answer:
        return Answer(Outcome.ANSWERED, question, program)

    _, done = run(tmp_path, tasks(1), Probe(act))
    (found,) = done.values()
    assert parse_program(found.mql) == program
    assert json.dumps(found.mql)


def test_a_request_reaches_the_model_within_the_tasks_own_meter(tmp_path: Path) -> None:
    asked: list[ModelRequest] = []

    def reply(request: ModelRequest) -> str:
        asked.append(request)
        return "ok"

    _, done = run(tmp_path, tasks(3), Probe(one_call), open_model=scripted(reply))
    assert len(asked) == 3
    assert [p.usage.calls for p in done.values()] == [1, 1, 1]
