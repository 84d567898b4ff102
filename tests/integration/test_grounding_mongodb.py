"""Profiles of real collections: whole, sampled, views, capped, large documents described by the server."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from bson import Decimal128, Int64, ObjectId
from pymongo.database import Database as Pymongo

from groundql.core.catalog import ContainerInfo, StopReason
from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.profile import Profile
from groundql.grounding.sample import SamplePolicy, profile_container, profile_database

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

Document = dict[str, Any]


@pytest.fixture
async def database(mongo_uri: str, fresh_database: Pymongo[Document]) -> AsyncIterator[MongoDatabase]:
    opened = MongoDatabase(mongo_uri, fresh_database.name)
    yield opened
    await opened.close()


def paths(profile: Profile) -> set[str]:
    return {str(f.path) for f in profile.container.fields}


async def test_kinds_come_out_as_stored(database: MongoDatabase, fresh_database: Pymongo[Document]) -> None:
    fresh_database["things"].insert_one(
        {
            "_id": ObjectId(), "int": 1, "long": Int64(1), "double": 1.5, "decimal": Decimal128("1.50"), "text": "x",
            "date": dt.datetime(2020, 1, 2, tzinfo=dt.UTC), "null": None, "bool": True, "nan": float("nan"),
            "list": [1, {"a": 1}], "binary": b"x",
        }
    )  # fmt: skip
    _, (found,) = await profile_database(database)

    kinds = {str(f.path): f.kinds[0][0] for f in found.container.fields}
    assert kinds == {
        "_id": Kind.OBJECT_ID, "int": Kind.INT, "long": Kind.LONG, "double": Kind.DOUBLE, "decimal": Kind.DECIMAL,
        "text": Kind.STRING, "date": Kind.DATE, "null": Kind.NULL, "bool": Kind.BOOL, "nan": Kind.DOUBLE,
        "list": Kind.ARRAY, "list[]": Kind.INT, "list[].a": Kind.INT, "binary": Kind.BINARY,
    }  # fmt: skip
    date = found.container.get(Path.parse("date"))
    assert date is not None
    assert date.dates is not None
    assert date.dates.low == dt.datetime(2020, 1, 2, tzinfo=dt.UTC)


async def test_variants_stored_one_after_another_come_out_whole(
    database: MongoDatabase, fresh_database: Pymongo[Document]
) -> None:
    kinds = ["driver"] * 2500 + ["official"] * 2 + ["team"] * 1500
    fresh_database["actors"].insert_many(
        [{"_id": i, "kind": k, f"{k}_a": i, f"{k}_b": [i]} for i, k in enumerate(kinds)]
    )
    policy = SamplePolicy(documents=1500, first=200, edge=20, per_variant=30)
    _, (found,) = await profile_database(database, policy)

    each = {p for k in set(kinds) for p in (f"{k}_a", f"{k}_b", f"{k}_b[]")}
    assert paths(found) == {"_id", "kind"} | each
    assert found.container.sampling.stop is StopReason.SATURATED
    assert {v.value for v in found.container.variants} == {"driver", "official", "team"}


async def test_a_capped_collection_and_an_empty_one_are_read(
    database: MongoDatabase, fresh_database: Pymongo[Document]
) -> None:
    fresh_database.create_collection("log", capped=True, size=100_000)
    fresh_database["log"].insert_many([{"_id": i, "level": "info"} for i in range(20)])
    fresh_database.create_collection("nothing")
    _, (log, nothing) = await profile_database(database)

    assert paths(log) == {"_id", "level"}
    assert log.container.is_exhaustive
    assert nothing.container.fields == ()
    assert nothing.container.is_exhaustive


async def test_a_view_is_read_like_a_collection(database: MongoDatabase, fresh_database: Pymongo[Document]) -> None:
    fresh_database["base"].insert_many([{"_id": i, "a": i, "b": i} for i in range(20)])
    try:
        fresh_database.create_collection("shown", viewOn="base", pipeline=[{"$project": {"a": 1}}])
    except Exception as error:
        pytest.skip(f"this server has no views: {error}")
    _, found = await profile_database(database, containers=["shown"])

    assert paths(found[0]) == {"_id", "a"}
    assert found[0].container.is_exhaustive


async def test_the_server_describes_documents_that_are_too_large_to_pull(
    database: MongoDatabase, fresh_database: Pymongo[Document]
) -> None:
    fresh_database["large"].insert_many(
        [
            {
                "_id": i,
                "info": {"name": f"n{i}", "size": i * 1.5, "a.b": {"c": 1}, "when": dt.datetime(2020, 1, 1 + i)},
                "by_year": {
                    str(2000 + y): {"total": y, "rows": [{"id": n, "tag": "t"} for n in range(3)]} for y in range(i + 1)
                },
                "lists": [[1, 2], [3]],
                "odd": [1.5, float("nan"), float("inf"), Decimal128("-Infinity"), i][i % 5],
                "long": Int64(2**53 + i),
                **({"extra": "x"} if i % 2 else {}),
            }
            for i in range(10)
        ]
    )
    info = ContainerInfo("large", documents=10, mean_bytes=15_000_000)
    pulled = await profile_container(database, replace(info, mean_bytes=None))
    found = await profile_container(database, info, SamplePolicy(read_bytes=100_000_000))

    assert found.container.error == ""
    assert found.container.sampling.stop is StopReason.SERVER
    assert paths(found) == paths(pulled)
    for field in pulled.container.fields:
        other = found.container.by_path[field.path]
        assert (field.path, dict(field.kinds), field.count, field.parents) == (
            field.path, dict(other.kinds), other.count, other.parents,
        )  # fmt: skip
        assert (field.path, field.lengths, field.dates, field.numbers, field.non_finite) == (
            field.path, other.lengths, other.dates, other.numbers, other.non_finite,
        )  # fmt: skip
        assert field.is_map == other.is_map
