from __future__ import annotations

import pytest

from groundql.bench.case import CaseId
from groundql.bench.prediction import Prediction
from groundql.bench.running.budget import Spending
from groundql.core.budget import Meter, Usage


def of(tokens: int, usd: float | None) -> Prediction:
    return Prediction(id=CaseId("comics", 1), solver="sag", usage=Usage(1, tokens, 0, cost_usd=usd))


def test_what_earlier_sessions_and_tasks_in_flight_spent_counts() -> None:
    spending, meter = Spending(budget_tokens=100), Meter()
    spending.count([of(60, 0.0)])
    assert spending.reached() == ""
    with spending.watch() as meters:
        meters.append(meter)
        meter.add(Usage(1, 30, 10))
        assert spending.reached() == "the run's budget of 100 tokens is spent"
    assert spending.tokens == 100


def test_what_a_task_spent_stays_counted_however_it_ended() -> None:
    spending = Spending()
    meter = Meter(spent=Usage(1, 5, 5, cost_usd=0.25))

    def task() -> None:
        with spending.watch() as meters:
            meters.append(meter)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        task()
    assert (spending.tokens, spending.usd) == (10, 0.25)


def test_calls_without_a_price_are_taken_to_cost_what_the_others_do() -> None:
    spending = Spending(budget_usd=1.0)
    spending.count([of(100, 0.5), of(50, None)])
    assert spending.usd == pytest.approx(0.75)
    assert spending.reached() == ""
    spending.count([of(50, None)])
    assert spending.reached() == "the run's budget of 1 USD is spent"


def test_a_budget_in_dollars_stops_a_run_whose_price_nobody_knows() -> None:
    spending = Spending(budget_usd=1.0)
    assert spending.reached() == ""
    spending.count([of(10, None)])
    assert "price of this model is not known" in spending.reached()


def test_a_model_that_costs_nothing_is_not_one_without_a_price() -> None:
    spending = Spending(budget_usd=1.0)
    spending.count([of(1000, 0.0)])
    assert (spending.usd, spending.reached()) == (0.0, "")
