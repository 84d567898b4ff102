"""The embedded server keeps what it read: never longer than it is true."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymongo import DeleteOne, InsertOne, MongoClient
from pymongo.database import Database

from groundql.databases.embedded import EmbeddedServer

Document = dict[str, Any]


@pytest.fixture(scope="module")
def client() -> Iterator[MongoClient[Document]]:
    with EmbeddedServer() as server, MongoClient[Document](server.uri) as opened:
        yield opened


@pytest.fixture
def database(client: MongoClient[Document], request: pytest.FixtureRequest) -> Database[Document]:
    name = f"reads_{abs(hash(request.node.name)) % 10**9}"
    client.drop_database(name)
    return client[name]


WRITES: dict[str, Callable[[Database[Document]], Any]] = {
    "insert": lambda d: d["c"].insert_many([{"_id": 100, "n": 7}, {"_id": 101, "n": 3}]),
    "update": lambda d: d["c"].update_many({"n": {"$lt": 4}}, {"$set": {"n": 50}}),
    "replace": lambda d: d["c"].replace_one({"_id": 1}, {"n": "other"}),
    "delete": lambda d: d["c"].delete_many({"n": {"$gt": 5}}),
    "find and modify": lambda d: d["c"].find_one_and_update({"_id": 2}, {"$inc": {"n": 1000}}),
    "bulk": lambda d: d["c"].bulk_write([DeleteOne({"_id": 0}), InsertOne({"_id": 99})]),
    "out": lambda d: d["c"].aggregate([{"$match": {"n": 1}}, {"$out": "c"}]),
    "merge": lambda d: d["c"].aggregate([{"$set": {"n": 5}}, {"$merge": "c"}]),
    "drop": lambda d: d["c"].drop(),
    "drop database": lambda d: d.client.drop_database(d.name),
    "rename": lambda d: d["c"].rename("c2"),
    "index": lambda d: d["c"].create_index([("n", 1)]),
}


def seen(database: Database[Document]) -> list[Any]:
    """Everything that the kept documents could show."""
    c = database["c"]
    return [
        list(c.find()),
        list(c.find().limit(3)),
        list(c.find().skip(2).limit(3)),
        list(c.find({"n": {"$gte": 2}}).limit(2)),
        list(c.aggregate([{"$limit": 4}, {"$project": {"n": 1}}])),
        list(c.aggregate([{"$match": {"n": {"$gt": 1}}}, {"$skip": 1}, {"$limit": 2}])),
        list(c.aggregate([{"$group": {"_id": None, "n": {"$sum": "$n"}}}])),
        c.estimated_document_count(),
        c.count_documents({}),
        sorted(map(str, c.distinct("n"))),
    ]


@pytest.mark.parametrize("write", list(WRITES))
def test_what_was_written_is_seen_by_the_next_question(database: Database[Document], write: str) -> None:
    stock = [{"_id": n, "n": n} for n in range(10)]
    database["c"].insert_many(stock)
    before = seen(database)
    assert seen(database) == before
    WRITES[write](database)
    after = seen(database)
    fresh = database.client[database.name + "_fresh"]
    database.client.drop_database(fresh.name)
    if after[0]:
        fresh["c"].insert_many(after[0])
    assert seen(fresh) == after, "what is kept differs from what is stored"
    assert after != before or write == "index"


def test_limits_and_skips_cut_where_a_list_would(database: Database[Document]) -> None:
    stored = [{"_id": n, "n": n % 4, "tags": list(range(n % 3))} for n in range(40)]
    database["c"].insert_many(stored)
    chosen = random.Random(5)
    for _ in range(60):
        skip, limit, wanted = chosen.randrange(45), chosen.randrange(1, 45), chosen.randrange(5)
        matching = [d for d in stored if d["n"] == wanted]
        assert list(database["c"].find().skip(skip).limit(limit)) == stored[skip : skip + limit]
        assert list(database["c"].find({"n": wanted}).skip(skip).limit(limit)) == matching[skip : skip + limit]
        stages = [{"$match": {"n": wanted}}, {"$set": {"x": 1}}, {"$skip": skip}, {"$limit": limit}]
        assert list(database["c"].aggregate(stages)) == [{**d, "x": 1} for d in matching[skip : skip + limit]]


def test_a_limit_after_a_stage_that_multiplies_or_drops_reads_on(database: Database[Document]) -> None:
    database["c"].insert_many([{"_id": n, "tags": []} for n in range(20)] + [{"_id": 20, "tags": [1, 2, 3]}])
    unwound = list(database["c"].aggregate([{"$unwind": "$tags"}, {"$limit": 2}]))
    assert [d["tags"] for d in unwound] == [1, 2]
    grouped = list(
        database["c"].aggregate([{"$group": {"_id": {"$size": "$tags"}}}, {"$sort": {"_id": -1}}, {"$limit": 1}])
    )
    assert grouped == [{"_id": 3}]
    matched = list(database["c"].aggregate([{"$project": {"tags": 1}}, {"$match": {"tags": 2}}, {"$limit": 1}]))
    assert [d["_id"] for d in matched] == [20]


def test_a_view_and_a_lookup_take_no_part_of_a_limit(database: Database[Document]) -> None:
    database["c"].insert_many([{"_id": n, "n": n} for n in range(10)])
    database.create_collection("v", viewOn="c", pipeline=[{"$match": {"n": {"$gte": 8}}}])
    assert [d["n"] for d in database["v"].aggregate([{"$limit": 5}])] == [8, 9]
    assert [d["n"] for d in database["v"].find().limit(1)] == [8]
    lookup = {"$lookup": {"from": "c", "pipeline": [{"$match": {"n": {"$gt": 6}}}], "as": "j"}}
    assert [len(d["j"]) for d in database["c"].aggregate([{"$limit": 2}, lookup])] == [3, 3]


def test_a_transaction_sees_its_own_writes_and_nobody_else_does_before_it_commits(
    client: MongoClient[Document], database: Database[Document]
) -> None:
    database["c"].insert_many([{"_id": n} for n in range(5)])
    assert database["c"].count_documents({}) == 5
    with client.start_session() as session, session.start_transaction():
        database["c"].insert_one({"_id": 5}, session=session)
        assert len(list(database["c"].find(session=session))) == 6
        assert len(list(database["c"].find())) == 5
    assert len(list(database["c"].find())) == 6
    assert database["c"].estimated_document_count() == 6


def test_readers_beside_a_writer_never_miss_what_was_acknowledged(database: Database[Document]) -> None:
    database["c"].insert_one({"_id": -1})
    acknowledged = 0
    problems: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            least = acknowledged
            for count in (
                len(list(database["c"].find({}, {"_id": 1}))) - 1,
                database["c"].estimated_document_count() - 1,
            ):
                if count < least:
                    problems.append(f"{count} documents after {least} were acknowledged")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(300):
        database["c"].insert_one({"_id": n})
        acknowledged = n + 1
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert len(list(database["c"].find())) == 301
