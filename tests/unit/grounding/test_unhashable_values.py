"""Stored values without a hash are found, compared and told like any other."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from bson import Decimal128, Int64, Regex, Timestamp

from groundql.core.answer import Outcome, Question
from groundql.core.ports import Env
from groundql.databases.memory import MemoryDatabase
from groundql.grounding.grounder import CatalogGrounder, open_grounding
from groundql.grounding.sample import SamplePolicy
from groundql.grounding.store import GroundingStore
from groundql.llm.scripted import Scripted
from groundql.service import Service
from groundql.solvers.recipes import SOLVERS

VALUES: list[Any] = [
    Decimal128("5.05"),
    Int64(505),
    b"5.05",
    Regex("5.05"),
    Timestamp(5, 5),
    [5.05, "5.05"],
    {"a": 5.05},
]
ROWS = [{"n": 1}]


def database(value: Any) -> MemoryDatabase:
    documents = [{"_id": n, "total": value, "name": f"order {n}"} for n in range(20)]
    return MemoryDatabase({"orders": documents}, lambda _: ROWS)


def grounder(opened: MemoryDatabase) -> CatalogGrounder:
    return anyio.run(open_grounding, opened, None, SamplePolicy())


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("question", ['total "5.05"', "Which order has a total of 5.05?", "total over 505"])
def test_a_question_that_names_it_is_grounded(value: Any, question: str) -> None:
    found = anyio.run(grounder(database(value)).ground, Question(question))
    assert found.question.text == question


def test_a_stored_decimal_is_a_witness() -> None:
    found = anyio.run(grounder(database(Decimal128("5.05"))).ground, Question("Which order has a total of 5.05?"))
    assert [str(w.stored) for w in found.witnesses] == ["5.05"]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_an_answer_comes_about(value: Any) -> None:
    opened = database(value)
    reply = {"reading": "r", "assumptions": [], "collection": "orders", "pipeline": [{"$match": {"total": 5.05}}]}
    env = Env(opened, Scripted(lambda _: json.dumps(reply)), grounder(opened))
    answer = anyio.run(SOLVERS["sag"], Question("Which order has a total of 5.05?"), env)
    assert answer.outcome in set(Outcome)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("text", ['db.orders.find({total:"5.05"})', "db.orders.find({total:{$in:['5.05', 5.05]}})"])
def test_a_query_that_names_it_is_checked(value: Any, text: str, tmp_path: Any) -> None:
    def no_model(*_: object) -> Any:
        raise AssertionError("check opens no model")

    service = Service(database(value), GroundingStore(tmp_path), no_model)
    report = anyio.run(service.check, text)
    assert report.program is not None
