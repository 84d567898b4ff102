"""The command line and the Python client give the same data for the same call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

import groundql
from faces.command import CommandLine
from faces.stub_model import StubModel, draft
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.faces.data import answer_data, catalog_data, profile_data, report_data
from groundql.llm.scripted import Scripted

VOLATILE = frozenset({"elapsed_s", "model_s", "database_s", "trace_id"})
QUERY = 'db.items.aggregate([{$match: {"size.w": {$gt: 2}}}, {$project: {name: 1, price: 1, note: 1}}])'
WRONG = 'db.items.find({name: "lamp", nme: 1})'


def steady(value: Any) -> Any:
    """Leave out what differs from run to run: times, and the name of the trace."""
    if isinstance(value, dict):
        return {name: steady(inner) for name, inner in value.items() if name not in VOLATILE}
    return [steady(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def client(shop: CommandLine, shop_uri: str) -> Iterator[groundql.Client]:
    with groundql.connect(shop_uri, cache_dir=shop.variables["GROUNDQL_CACHE_DIR"]) as opened:
        yield opened


CALLS: dict[str, tuple[tuple[str, ...], Callable[[groundql.Client], dict[str, Any]]]] = {
    "describe": (("describe",), lambda c: profile_data(c.describe())),
    "describe for a question": (
        ("describe", "--question", "lamps", "--tokens", "900"),
        lambda c: profile_data(c.describe(question="lamps", tokens=900)),
    ),
    "describe a collection": (("describe", "items"), lambda c: profile_data(c.describe("items"))),
    "describe a path": (("describe", "items", "size"), lambda c: profile_data(c.describe("items", "size"))),
    "check": (("check", WRONG), lambda c: report_data(c.check(WRONG))),
    "run": (("run", QUERY), lambda c: report_data(c.run(QUERY))),
    "run in spite of findings": (("run", WRONG, "--anyway"), lambda c: report_data(c.run(WRONG, anyway=True))),
    "run a blocked one": (("run", WRONG), lambda c: report_data(c.run(WRONG))),
    "ground": (("ground", "--if-changed"), lambda c: catalog_data(c.ground(refresh=False))),
}


@pytest.mark.parametrize(("arguments", "call"), CALLS.values(), ids=CALLS)
def test_both_faces_give_the_same_data(
    shop: CommandLine, client: groundql.Client, arguments: tuple[str, ...], call: Callable[[Any], dict[str, Any]]
) -> None:
    shop("ground", "--if-changed")
    assert steady(shop(*arguments, "--format", "json").data) == steady(call(client))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_both_faces_give_the_same_answer(shop: CommandLine, shop_uri: str) -> None:
    reply = draft("items", {"$match": {"size.w": {"$gt": 2}}}, {"$count": "n"})
    question, cache = "how many items are wider than 2?", shop.variables["GROUNDQL_CACHE_DIR"]
    with StubModel([reply]) as model:
        ours = {"GROUNDQL_CACHE_REPLIES": "false", **model.variables}
        told = shop("ask", question, "--model", "openai:stub", "--format", "json", "--today", "2026-01-31", **ours)
        with (
            CliRunner().isolation(env=shop.environment(**ours)),
            groundql.connect(shop_uri, model="openai:stub", cache_dir=cache, today="2026-01-31") as db,
        ):
            answer = db.ask(groundql.Question(question))
    assert answer.rows is not None
    assert answer.rows.records == ({"n": 4},)
    assert steady(told.data) == steady(answer_data(answer))


def test_the_async_client_answers_as_the_sync_one(shop_uri: str, shop: CommandLine) -> None:
    cache = shop.variables["GROUNDQL_CACHE_DIR"]
    reply = draft("items", {"$count": "n"})

    async def asked() -> groundql.Answer:
        async with await groundql.connect_async(shop_uri, model=Scripted([reply] * 3), cache_dir=cache) as db:
            return await db.ask("how many items?")

    with groundql.connect(shop_uri, model=Scripted([reply] * 3), cache_dir=cache) as db:
        sync = db.ask("how many items?")
    assert steady(answer_data(anyio.run(asked))) == steady(answer_data(sync))


def test_the_client_runs_programs_as_well_as_text(client: groundql.Client) -> None:
    report = client.run(MqlProgram("items", ({"$count": "n"},)))
    assert report.rows is not None
    assert report.rows.records == ({"n": 6},)


def test_the_client_raises_what_the_command_line_says(client: groundql.Client, shop: CommandLine) -> None:
    with pytest.raises(InputError) as caught:
        client.describe("itms")
    assert str(caught.value) in shop("describe", "itms").err


def test_a_client_that_cannot_be_opened_leaves_nothing_running() -> None:
    with pytest.raises(InputError, match="names no database"):
        groundql.connect("mongodb://127.0.0.1:1")
