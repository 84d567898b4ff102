from __future__ import annotations

from collections.abc import Callable

from groundql.bench.case import CaseId
from groundql.bench.prediction import Prediction
from groundql.bench.running.plan import tasks_of
from groundql.bench.running.progress import Board, duration_text
from groundql.core.budget import Usage
from unit.bench.running.doubles import case

TASKS = tasks_of([case(n) for n in range(4)], ["sag", "react"], 1)


def of(number: int, solver: str, failure: str = "", usd: float | None = 0.25) -> Prediction:
    return Prediction(
        id=CaseId("comics", number), solver=solver, failure=failure, usage=Usage(2, 10, 5, cost_usd=usd), elapsed_s=3.0
    )


def ticking(*times: float) -> Callable[[], float]:
    left = list(times)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_the_line_tells_counts_and_what_is_left() -> None:
    board = Board.of(TASKS, [of(0, "sag")], ticking(0.0, 100.0))
    board.count(of(1, "sag", "timeout"))
    board.count(of(0, "react"))
    assert board.line() == (
        "3 of 8 tasks · sag: 1 handed in, 1 failed · react: 1 handed in · about 4 min to go"
        " · 0.75 USD spent, about 1.25 to go"
    )


def test_nothing_is_estimated_before_a_task_is_finished_or_after_the_last() -> None:
    board = Board.of(TASKS, [], ticking(0.0))
    assert board.line() == "0 of 8 tasks · sag: 0 handed in · react: 0 handed in"
    for task in TASKS:
        board.count(of(task.case.id.record_id, task.solver))
    assert board.line() == "8 of 8 tasks · sag: 4 handed in · react: 4 handed in"


def test_money_is_not_told_where_it_is_not_known() -> None:
    board = Board.of(TASKS, [of(0, "sag", usd=None)], ticking(0.0))
    assert "USD" not in board.line()
    assert board.rows()[0]["cost_usd"] is None


def test_the_clock_runs_from_when_the_first_database_is_open() -> None:
    board = Board.of(TASKS, [], ticking(0.0, 500.0, 510.0))
    board.begin()
    board.count(of(0, "sag"))
    assert board.left_s == 70.0


def test_a_row_counts_each_kind_of_failure() -> None:
    board = Board.of(TASKS, [of(0, "sag", "timeout"), of(1, "sag", "model"), of(2, "sag", "timeout")])
    assert board.rows()[0] == {
        "solver": "sag", "tasks": 4, "done": 3, "handed_in": 0, "failed": 3, "failures": {"model": 1, "timeout": 2},
        "calls": 6, "prompt_tokens": 30, "completion_tokens": 15, "cost_usd": 0.75, "elapsed_s": 9.0,
    }  # fmt: skip


def test_a_duration_is_said_in_the_unit_that_suits_it() -> None:
    assert [duration_text(s) for s in (3, 89, 90, 600, 5400, 36_000)] == [
        "3 s", "89 s", "2 min", "10 min", "1.5 h", "10.0 h"
    ]  # fmt: skip
