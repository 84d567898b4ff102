"""What the MongoDB driver does with hostile data, hostile times and a server that goes away."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest
from bson import Decimal128, Int64, Regex
from bson.datetime_ms import DatetimeMS
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import OperationFailure

from groundql.core.catalog import ContainerType
from groundql.core.ports import Draw
from groundql.core.program import Admitted, MqlProgram, SqlProgram
from groundql.core.rows import Limits
from groundql.databases.embedded import EmbeddedServer
from groundql.databases.mongodb import MongoDatabase
from groundql.errors import (
    DatabaseDenied,
    DatabaseError,
    DatabaseTimeout,
    DatabaseUnreachable,
    InputError,
    ProgramForbidden,
    ProgramRejected,
)

Document = dict[str, Any]
pytestmark = [
    pytest.mark.anyio,
    # The driver leaves a socket unclosed when its monitor is stopped while it connects to a server that was killed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

IMPATIENT: Any = {"serverSelectionTimeoutMS": 500}
SLOW = ({"$lookup": {"from": "c", "localField": "k", "foreignField": "k", "as": "j"}}, {"$unwind": "$j"})


def program(container: str, *stages: Mapping[str, Any]) -> Admitted:
    return Admitted(MqlProgram(container, stages))


def store_slow(database: Database[Document], documents: int = 3000) -> None:
    """Store what a self-join needs minutes for."""
    database["c"].insert_many([{"_id": n, "k": 1, "pad": "x" * 50} for n in range(documents)])


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Collect what the driver left unclosed here, rather than in the tests of another module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


async def read_on(stream: AsyncIterator[Any]) -> None:
    async for _ in stream:
        pass


@pytest.fixture
async def database(mongo_uri: str, fresh_database: Database[Document]) -> AsyncIterator[MongoDatabase]:
    opened = MongoDatabase(mongo_uri, fresh_database.name)
    yield opened
    await opened.close()


# --- what it says of itself -------------------------------------------------------------------------------------------
async def test_containers_are_told_apart(database: MongoDatabase, fresh_database: Database[Document]) -> None:
    fresh_database["plain"].insert_many([{"a": {"b": n}, "c": n} for n in range(5)])
    fresh_database["plain"].create_index([("a.b", 1), ("c", -1)])
    fresh_database.create_collection("capped", capped=True, size=100_000)
    fresh_database.create_collection("seen", viewOn="plain", pipeline=[{"$match": {"c": 1}}])
    fresh_database.create_collection("times", timeseries={"timeField": "t"})
    description = await database.describe()
    found = {c.name: c for c in description.containers}
    assert {name: c.type for name, c in found.items()} == {
        "plain": ContainerType.COLLECTION,
        "capped": ContainerType.CAPPED,
        "seen": ContainerType.VIEW,
        "times": ContainerType.TIME_SERIES,
    }
    assert found["plain"].documents == 5
    assert found["plain"].indexes == ("_id", "a.b,c")
    assert found["seen"].documents is None
    assert not any(c.error for c in description.containers)


async def test_the_embedded_server_is_recognised(database: MongoDatabase, is_real_server: bool) -> None:
    description = await database.describe()
    assert description.is_embedded is not is_real_server
    assert description.engine == ("MongoDB" if is_real_server else "SecantusDB")
    assert description.version[0].isdigit()
    assert database.is_embedded is description.is_embedded


async def test_databases_are_listed_without_the_servers_own(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    fresh_database["c"].insert_one({})
    names = await database.database_names()
    assert fresh_database.name in names
    assert not {"admin", "config", "local"} & set(names)


# --- hostile data -----------------------------------------------------------------------------------------------------
async def test_names_with_dots_and_dollars_come_back_as_they_are(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    stored = {"_id": 1, "a.b": 1, "$c": 2, "": 3, " d ": 4, "e": {"$f.g": {"": [None]}}, "日本": "é"}
    fresh_database["odd name.with $".replace("$", "dots")].insert_one(stored)
    name = "odd name.with dots"
    assert (await database.execute(program(name), Limits())).records == (stored,)
    assert [d async for d in database.sample(name, 5)] == [stored]


async def test_every_kind_of_value_comes_back_exactly(
    database: MongoDatabase, fresh_database: Database[Document], is_real_server: bool
) -> None:
    stored: Document = {
        "_id": 1,
        "long": Int64(2**63 - 1),
        "decimal": Decimal128("1.000"),
        "inf": float("-inf"),
        "regex": Regex("^a", "i"),
        "bytes": b"\x00\xff",
    }
    if is_real_server:  # the embedded server refuses dates beyond the year 9999
        stored["far"] = DatetimeMS(253_402_300_800_000)
    fresh_database["c"].insert_one(stored)
    (record,) = (await database.execute(program("c"), Limits())).records
    assert record == stored
    assert isinstance(record["long"], Int64)


async def test_fifty_thousand_dynamic_keys_and_fifteen_megabytes_come_back(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    fresh_database["wide"].insert_one({"_id": 1, "m": {f"k.{n}": n for n in range(50_000)}})
    fresh_database["large"].insert_one({"_id": 1, "s": "x" * 15_000_000})
    stages = ({"$project": {"m": {"$objectToArray": "$m"}}}, {"$unwind": "$m"}, {"$count": "n"})
    assert (await database.execute(program("wide", *stages), Limits())).records == ({"n": 50_000},)
    rows = await database.execute(program("wide", *stages[:2]), Limits(rows=2000))
    assert (len(rows), rows.truncated_by) == (2000, "rows")
    assert len((await database.execute(program("large"), Limits())).records[0]["s"]) == 15_000_000
    rows = await database.execute(program("large"), Limits(read_bytes=1_000_000))
    assert (len(rows), rows.truncated_by) == (0, "bytes")


async def test_documents_made_by_the_program_itself_are_run(database: MongoDatabase) -> None:
    rows = await database.execute(program("c", {"$documents": [{"a": 1}, {"a": 2}]}), Limits())
    assert [r["a"] for r in rows.records] == [1, 2]


@pytest.mark.parametrize("value", [2**70, object(), {1: "not a name"}])
async def test_a_value_that_cannot_be_sent_rejects_the_program(database: MongoDatabase, value: Any) -> None:
    with pytest.raises(ProgramRejected, match="cannot be sent"):
        await database.execute(program("c", {"$match": {"a": value}}), Limits())


async def test_a_view_has_a_head_and_a_tail(database: MongoDatabase, fresh_database: Database[Document]) -> None:
    fresh_database["c"].insert_many([{"_id": n, "even": n % 2 == 0} for n in range(10)])
    fresh_database.create_collection("seen", viewOn="c", pipeline=[{"$match": {"even": True}}])
    assert [d["_id"] async for d in database.sample("seen", 2, Draw.HEAD)] == [0, 2]
    assert sorted([d["_id"] async for d in database.sample("seen", 2, Draw.TAIL)]) == [6, 8]
    assert len([d async for d in database.sample("seen", 9, Draw.RANDOM)]) == 5


# --- only admitted programs -------------------------------------------------------------------------------------------
async def test_nothing_but_an_admitted_program_is_run(database: MongoDatabase) -> None:
    class Forged:
        program = MqlProgram("c", ({"$out": "c"},))

    for forged in (Forged(), MqlProgram("c", ())):
        with pytest.raises(ProgramForbidden):
            await database.execute(forged, Limits())  # type: ignore[arg-type]


async def test_sql_is_rejected(database: MongoDatabase) -> None:
    with pytest.raises(ProgramRejected, match="not SQL"):
        await database.execute(Admitted(SqlProgram("select 1", "sqlite")), Limits())


# --- hostile times ----------------------------------------------------------------------------------------------------
async def test_a_program_that_takes_too_long_is_stopped(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    store_slow(fresh_database)
    with pytest.raises(DatabaseTimeout, match=r"stopped after 0\.2 s"):
        await database.execute(program("c", *SLOW, {"$count": "n"}), Limits(elapsed_s=0.2))
    assert len(await database.execute(program("c"), Limits(rows=5))) == 5


async def test_a_cancelled_question_leaves_the_connection_usable(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    store_slow(fresh_database)
    asking = asyncio.ensure_future(database.execute(program("c", *SLOW, {"$count": "n"}), Limits(elapsed_s=2)))
    await asyncio.sleep(0.2)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(await database.execute(program("c"), Limits(rows=5))) == 5


# --- a server that goes away ------------------------------------------------------------------------------------------
async def test_a_server_that_dies_during_a_question_is_a_retryable_error() -> None:
    with EmbeddedServer() as server, MongoClient[Document](server.uri, **IMPATIENT) as client:
        store_slow(client["d"])
        assert server.pid is not None
        database = MongoDatabase(server.uri, "d", connect_s=1)
        await database.describe()
        asking = asyncio.ensure_future(database.execute(program("c", *SLOW, {"$count": "n"}), Limits()))
        await asyncio.sleep(0.3)
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(DatabaseUnreachable) as caught:
            await asking
        assert caught.value.retryable
        with pytest.raises(DatabaseUnreachable):
            await database.describe()
        await database.close()


async def test_a_lost_server_is_told_long_before_the_time_to_find_one_is_over() -> None:
    with EmbeddedServer() as server, MongoClient[Document](server.uri, **IMPATIENT) as client:
        store_slow(client["d"])
        assert server.pid is not None
        database = MongoDatabase(server.uri, "d", connect_s=600)
        await database.describe()
        asking = asyncio.ensure_future(database.execute(program("c", *SLOW, {"$count": "n"}), Limits()))
        await asyncio.sleep(0.3)
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(DatabaseUnreachable, match=r"the embedded server at .* went away") as caught:
            await asyncio.wait_for(asking, 60)
        assert "ask again" in caught.value.hint
        for _ in range(5):
            with pytest.raises(DatabaseUnreachable):
                await asyncio.wait_for(database.execute(program("c"), Limits()), 60)
        await database.close()


async def test_a_call_that_was_given_up_may_still_run_and_one_that_ended_does_not(
    database: MongoDatabase, fresh_database: Database[Document]
) -> None:
    store_slow(fresh_database)
    await database.execute(program("c"), Limits(rows=5))
    with pytest.raises(ProgramRejected):
        await database.execute(program("c", {"$nonsense": 1}), Limits())
    assert database.is_idle
    asking = asyncio.ensure_future(database.execute(program("c", *SLOW, {"$count": "n"}), Limits(elapsed_s=2)))
    await asyncio.sleep(0.2)
    assert not database.is_idle
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not database.is_idle


async def test_a_server_that_dies_during_a_sample_is_a_retryable_error() -> None:
    with EmbeddedServer() as server, MongoClient[Document](server.uri, **IMPATIENT) as client:
        client["d"]["c"].insert_many([{"pad": "x" * 1000} for _ in range(2000)])
        assert server.pid is not None
        database = MongoDatabase(server.uri, "d", connect_s=1)
        stream = aiter(database.sample("c", 2000))
        assert await anext(stream)
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(DatabaseUnreachable):
            await read_on(stream)
        await database.close()


async def test_an_address_where_nobody_listens_is_said_soon_and_plainly() -> None:
    database = MongoDatabase("mongodb://ann:s3cretpw@127.0.0.1:1/d", connect_s=0.5)
    with pytest.raises(DatabaseUnreachable, match=r"no server answers at 127\.0\.0\.1:1") as caught:
        await database.describe()
    assert caught.value.retryable
    assert "s3cretpw" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.hint}"
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    await database.close()


async def test_a_closed_database_says_so(mongo_uri: str) -> None:
    database = MongoDatabase(mongo_uri, "d")
    await database.describe()
    await database.close()
    with pytest.raises(DatabaseError, match="closed"):
        await database.execute(program("c"), Limits())


# --- who may ask ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def guarded_uri(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that wants a password, with one user who may only read `open`."""
    folder = tmp_path_factory.mktemp("guarded") / "data"
    with EmbeddedServer(folder) as server, MongoClient[Document](server.uri) as client:
        client["d"]["open"].insert_one({"_id": 1})
        client["d"]["closed"].insert_one({"_id": 1})
        client["d"].command("createUser", "ann", pwd="p@ss/w%rd", roles=[{"role": "read", "db": "d"}])
        client["d"].command("createUser", "bob", pwd="bobspw", roles=[{"role": "read", "db": "other"}])
    with EmbeddedServer(folder, options=("--auth",)) as server:
        yield server.uri.removeprefix("mongodb://").rstrip("/")


async def test_a_user_with_the_right_password_may_read(guarded_uri: str) -> None:
    database = MongoDatabase(f"mongodb://ann:p%40ss%2Fw%25rd@{guarded_uri}/d")
    assert (await database.execute(program("open"), Limits())).records == ({"_id": 1},)
    assert [c.name for c in (await database.describe()).containers] == ["closed", "open"]
    await database.close()


async def test_a_wrong_password_is_denied_and_never_shown(guarded_uri: str) -> None:
    database = MongoDatabase(f"mongodb://ann:wr%40ng-secret@{guarded_uri}/d")
    with pytest.raises(DatabaseDenied, match="does not accept the user name or the password") as caught:
        await database.execute(program("open"), Limits())
    shown = f"{caught.value!r} {caught.value.hint} {caught.value.__cause__!r}"
    assert "wr@ng-secret" not in shown
    assert "wr%40ng-secret" not in shown
    await database.close()


async def test_a_user_without_the_permission_is_denied(guarded_uri: str) -> None:
    database = MongoDatabase(f"mongodb://bob:bobspw@{guarded_uri}/d?authSource=d")
    with pytest.raises(DatabaseDenied, match="may not do this"):
        await database.execute(program("open"), Limits())
    await database.close()


async def test_declared_containers_stand_in_for_a_list_the_user_may_not_see(guarded_uri: str) -> None:
    database = MongoDatabase(f"mongodb://bob:bobspw@{guarded_uri}/d?authSource=d", containers=("open",))
    description = await database.describe()
    assert description.is_partial
    assert [c.name for c in description.containers] == ["open"]
    assert description.containers[0].error == "not authorised"
    await database.close()


# --- connection strings -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("mongodb://ann:pa@ss@host/d", "cannot be read"),
        ("mongodb://ann:pass@host:port/d", "cannot be read"),
        ("mongodb://host:27017/d?nonsense", "cannot be read"),
        ("mongodb://host/d?authMechanism=NOPE", "cannot be (read|used)"),
        ("http://ann:pass@host/d", "no MongoDB connection string"),
        ("host:27017", "no MongoDB connection string"),
        ("mongodb://host:27017", "names no database"),
        ("mongodb://", "cannot be read"),
    ],
)
async def test_a_broken_connection_string_is_one_clear_line(uri: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        MongoDatabase(uri)
    shown = f"{caught.value!r} {caught.value.hint}"
    assert "pass" not in shown.replace("password", "")
    assert "pa@ss" not in shown
    assert caught.value.hint or "names no database" in str(caught.value) or "used" in str(caught.value)


# --- draws that are refused -------------------------------------------------------------------------------------------
class WithoutRandomDraws(MongoDatabase):
    """A server that refuses $sample."""

    async def _draw(self, container: str, size: int, draw: Draw, where: Document) -> Any:
        if draw is Draw.RANDOM:
            raise OperationFailure("$sample is not allowed here", 40602)
        return await super()._draw(container, size, draw, where)


async def test_a_random_draw_that_is_refused_becomes_one_from_the_head(
    mongo_uri: str, fresh_database: Database[Document]
) -> None:
    fresh_database["c"].insert_many([{"_id": n} for n in range(10)])
    database = WithoutRandomDraws(mongo_uri, fresh_database.name)
    assert [d["_id"] async for d in database.sample("c", 3)] == [0, 1, 2]
    await database.close()
