"""What every Database does, whatever is behind it."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from pymongo.database import Database as ServerDatabase

from groundql.core.ports import Database, Draw
from groundql.core.program import Admitted, MqlProgram, Program
from groundql.core.rows import Limits
from groundql.databases.memory import MemoryDatabase
from groundql.databases.mongodb import MongoDatabase
from groundql.errors import ProgramRejected

Documents = Mapping[str, Sequence[Mapping[str, Any]]]
Open = Callable[[Documents], Any]

pytestmark = pytest.mark.anyio

NUMBERS: Documents = {"numbers": [{"_id": n, "n": n, "pad": "x" * 100} for n in range(50)]}


def program(container: str, *stages: Mapping[str, Any]) -> Admitted:
    return Admitted(MqlProgram(container, stages))


def canned(documents: Documents) -> Callable[[Program], Iterable[Mapping[str, Any]]]:
    """Answer the few programs of this suite."""

    def answer(asked: Program) -> Iterable[Mapping[str, Any]]:
        assert isinstance(asked, MqlProgram)
        found = list(documents.get(asked.container, ()))
        for stage in asked.stages:
            match stage:
                case {"$limit": int(limit)}:
                    found = found[:limit]
                case {"$sort": {"_id": 1}}:
                    found = sorted(found, key=lambda d: d["_id"])
                case _:
                    raise ProgramRejected(f"Unrecognized pipeline stage name: '{next(iter(stage))}'", engine_code=40324)
        return found

    return answer


@pytest.fixture(params=["memory", "server"])
def opened(request: pytest.FixtureRequest) -> Open:
    if request.param == "memory":

        @asynccontextmanager
        async def open_memory(documents: Documents) -> AsyncIterator[Database]:
            yield MemoryDatabase(documents, canned(documents))

        return open_memory
    server: ServerDatabase[dict[str, Any]] = request.getfixturevalue("fresh_database")
    uri: str = request.getfixturevalue("mongo_uri")

    @asynccontextmanager
    async def open_server(documents: Documents) -> AsyncIterator[Database]:
        for name, stored in documents.items():
            server.create_collection(name)
            if stored:
                server[name].insert_many([dict(d) for d in stored])
        database = MongoDatabase(uri, server.name)
        try:
            yield database
        finally:
            await database.close()

    return open_server


async def drawn(database: Database, container: str, size: int, draw: Draw, where: Any = None) -> list[Any]:
    return [d async for d in database.sample(container, size, draw, where)]


async def test_describe_lists_the_containers_with_their_counts(opened: Open) -> None:
    async with opened({**NUMBERS, "empty": []}) as database:
        description = await database.describe()
    assert [(c.name, c.documents) for c in description.containers] == [("empty", 0), ("numbers", 50)]
    assert not description.is_partial


async def test_a_program_returns_its_rows_and_is_not_truncated(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        rows = await database.execute(program("numbers", {"$sort": {"_id": 1}}, {"$limit": 3}), Limits())
    assert [r["n"] for r in rows.records] == [0, 1, 2]
    assert rows.columns == ("_id", "n", "pad")
    assert not rows.truncated
    assert rows.truncated_by == ""
    assert rows.read_bytes > 300


async def test_as_many_rows_as_the_limit_are_not_truncated(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        rows = await database.execute(program("numbers"), Limits(rows=50))
    assert (len(rows), rows.truncated) == (50, False)


async def test_the_row_limit_cuts_and_says_so(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        rows = await database.execute(program("numbers"), Limits(rows=49))
    assert (len(rows), rows.truncated, rows.truncated_by) == (49, True, "rows")


async def test_the_byte_limit_cuts_and_says_so(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        rows = await database.execute(program("numbers"), Limits(read_bytes=1000))
    assert 0 < len(rows) < 10
    assert (rows.truncated, rows.truncated_by) == (True, "bytes")
    assert rows.read_bytes <= 1000


async def test_one_document_beyond_the_byte_limit_gives_no_rows_but_says_so(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        rows = await database.execute(program("numbers"), Limits(read_bytes=10))
    assert (len(rows), rows.truncated, rows.truncated_by) == (0, True, "bytes")


async def test_an_empty_and_an_unknown_container_give_no_rows(opened: Open) -> None:
    async with opened({"empty": []}) as database:
        for name in ("empty", "nowhere"):
            rows = await database.execute(program(name), Limits())
            assert (len(rows), rows.truncated) == (0, False)
            assert await drawn(database, name, 10, Draw.RANDOM) == []


async def test_a_program_the_engine_refuses_is_rejected_with_its_message(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        with pytest.raises(ProgramRejected, match=r"Unrecognized pipeline stage name: '\$nonsense'") as caught:
            await database.execute(program("numbers", {"$nonsense": 1}), Limits())
    assert caught.value.engine_code == 40324
    assert not caught.value.retryable


async def test_missing_and_null_stay_apart_and_exact_values_stay_exact(opened: Open) -> None:
    stored = [
        {"_id": 1, "a": None, "d": Decimal128("0.10"), "at": dt.datetime(2024, 2, 29, 12, 30)},
        {"_id": 2, "d": Decimal128("1E+6100"), "x": float("nan"), "o": ObjectId("0123456789abcdef01234567")},
    ]
    async with opened({"c": stored}) as database:
        rows = await database.execute(program("c", {"$sort": {"_id": 1}}), Limits())
    first, second = rows.records
    assert "a" in first
    assert first["a"] is None
    assert "a" not in second
    assert (str(first["d"]), str(second["d"])) == ("0.10", "1E+6100")
    assert first["at"] == dt.datetime(2024, 2, 29, 12, 30)
    assert second["x"] != second["x"]
    assert second["o"] == ObjectId("0123456789abcdef01234567")


async def test_head_and_tail_are_the_first_and_the_last_in_order_of_storage(opened: Open) -> None:
    documents = {"c": [{"_id": i} for i in (5, 3, 9, 1, 7)]}
    async with opened(documents) as database:
        head = await drawn(database, "c", 2, Draw.HEAD)
        tail = await drawn(database, "c", 2, Draw.TAIL)
    assert [d["_id"] for d in head] == [5, 3]
    assert sorted(d["_id"] for d in tail) == [1, 7]


@pytest.mark.parametrize("draw", list(Draw))
async def test_a_sample_never_gives_more_than_asked_and_never_one_document_twice(opened: Open, draw: Draw) -> None:
    async with opened(NUMBERS) as database:
        for size in (1, 20, 50, 500):
            ids = [d["_id"] for d in await drawn(database, "numbers", size, draw)]
            assert len(ids) == min(size, 50)
            assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("draw", list(Draw))
async def test_a_sample_can_be_restricted_to_equal_values(opened: Open, draw: Draw) -> None:
    documents = {"c": [{"_id": i, "kind": "ab"[i % 2], "in": {"n": i % 3}} for i in range(30)]}
    async with opened(documents) as database:
        found = await drawn(database, "c", 100, draw, {"kind": "a", "in.n": 2})
    assert sorted(d["_id"] for d in found) == [i for i in range(30) if i % 2 == 0 and i % 3 == 2]


async def test_names_and_values_of_a_restriction_never_act_as_operators(opened: Open) -> None:
    documents = {"c": [{"_id": 1, "$where": "x"}, {"_id": 2, "v": {"$gt": 0}}, {"_id": 3, "v": 5}]}
    async with opened(documents) as database:
        assert [d["_id"] for d in await drawn(database, "c", 9, Draw.HEAD, {"$where": "x"})] == [1]
        assert [d["_id"] for d in await drawn(database, "c", 9, Draw.HEAD, {"v": {"$gt": 0}})] == [2]


async def test_a_sample_may_be_left_early(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        stream = database.sample("numbers", 50)
        first = await anext(aiter(stream))
        await stream.aclose()
        assert first["n"] in range(50)
        assert len(await drawn(database, "numbers", 50, Draw.HEAD)) == 50


async def test_questions_may_run_side_by_side(opened: Open) -> None:
    async with opened(NUMBERS) as database:
        asked: list[Awaitable[Any]] = [
            database.execute(program("numbers", {"$sort": {"_id": 1}}, {"$limit": n}), Limits()) for n in range(1, 12)
        ]
        answers = await asyncio.gather(*asked)
    assert [len(rows) for rows in answers] == list(range(1, 12))
