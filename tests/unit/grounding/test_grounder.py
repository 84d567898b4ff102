from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import anyio
import pytest
from pymongo.database import Database as PyDatabase

from groundql.core.answer import Question
from groundql.core.catalog import ContainerInfo, ContainerType
from groundql.core.path import Path
from groundql.core.ports import Description
from groundql.databases.mongodb import MongoDatabase
from groundql.errors import DatabaseDenied
from groundql.grounding.drawing import SamplePolicy
from groundql.grounding.fingerprint import fingerprint_of
from groundql.grounding.grounder import open_grounding
from groundql.grounding.store import GroundingStore
from unit.grounding.small_world import TODAY, CannedDatabase, customers, orders

pytestmark = pytest.mark.anyio
POLICY = SamplePolicy()


@pytest.fixture
def shop_database(fresh_database: PyDatabase[dict[str, Any]]) -> PyDatabase[dict[str, Any]]:
    fresh_database["orders"].insert_many(orders())
    fresh_database["customers"].insert_many(customers())
    return fresh_database


@asynccontextmanager
async def opened(uri: str, name: str) -> AsyncIterator[MongoDatabase]:
    database = MongoDatabase(uri, name)
    try:
        yield database
    finally:
        await database.close()


async def test_a_database_is_grounded_kept_and_reused(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    store = GroundingStore(tmp_path)
    async with opened(mongo_uri, shop_database.name) as database:
        first = await open_grounding(database, store, POLICY)
        again = await open_grounding(database, store, POLICY)
    assert (first.reused, again.reused) == (False, True)
    assert first.catalog == again.catalog
    assert first.index == again.index
    assert [c.name for c in first.catalog.containers] == ["customers", "orders"]
    assert first.notes == again.notes == ()


async def test_a_refresh_reads_the_data_again(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    store = GroundingStore(tmp_path)
    async with opened(mongo_uri, shop_database.name) as database:
        await open_grounding(database, store, POLICY)
        shop_database["orders"].update_many({}, {"$set": {"brand_new": 1}})
        stale = await open_grounding(database, store, POLICY)
        fresh = await open_grounding(database, store, POLICY, refresh=True)
    assert stale.catalog.by_name["orders"].get(Path.of("brand_new")) is None
    assert fresh.catalog.by_name["orders"].get(Path.of("brand_new")) is not None


async def test_new_documents_and_containers_change_the_fingerprint(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]]
) -> None:
    prints: list[str] = []
    async with opened(mongo_uri, shop_database.name) as database:
        for change in (
            lambda: None,
            lambda: shop_database["orders"].insert_one({"_id": "order:zzz"}),
            lambda: shop_database["orders"].replace_one({"_id": "x"}, {"_id": "x"}),
            lambda: shop_database["more"].insert_one({"a": 1}),
        ):
            change()
            prints.append(await fingerprint_of(await database.describe(), database))
    assert len(set(prints)) == 3
    assert prints[1] == prints[2]


def _damage(folder: FilePath) -> None:
    (path,) = folder.glob("*.json.gz")
    path.write_bytes(b"\x1f\x8bdamaged")


async def test_a_damaged_file_is_built_anew_with_a_note(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    store = GroundingStore(tmp_path)
    async with opened(mongo_uri, shop_database.name) as database:
        first = await open_grounding(database, store, POLICY)
        _damage(tmp_path)
        again = await open_grounding(database, store, POLICY)
    assert [c.fields for c in again.catalog.containers] == [c.fields for c in first.catalog.containers]
    assert not again.reused
    assert any("built anew" in note for note in again.notes)
    assert store.load(first.catalog.fingerprint) is not None


async def test_a_store_that_cannot_be_written_is_only_a_note(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    (tmp_path / "taken").write_text("")
    async with opened(mongo_uri, shop_database.name) as database:
        found = await open_grounding(database, GroundingStore(tmp_path / "taken"), POLICY)
        without = await open_grounding(database, None, POLICY)
    assert [c.fields for c in found.catalog.containers] == [c.fields for c in without.catalog.containers]
    assert any("cannot be kept" in note for note in found.notes)


async def test_two_openings_at_once_build_once(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    reused: list[bool] = []

    async def build() -> None:
        async with opened(mongo_uri, shop_database.name) as database:
            reused.append((await open_grounding(database, GroundingStore(tmp_path), POLICY)).reused)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build)
        tasks.start_soon(build)
    assert sorted(reused) == [False, True]


async def test_a_question_is_grounded_in_the_data(
    mongo_uri: str, shop_database: PyDatabase[dict[str, Any]], tmp_path: FilePath
) -> None:
    async with opened(mongo_uri, shop_database.name) as database:
        grounder = await open_grounding(database, GroundingStore(tmp_path), POLICY)
        found = await grounder.ground(Question("orders 'On Hold' since yesterday of 'Nobody'", today=TODAY))
    assert [(w.stored, w.hard) for w in found.witnesses] == [("on_hold", True)]
    assert found.missing_terms == ("Nobody",)
    assert "2024-03-30" in found.dates["yesterday"]


async def test_a_value_beyond_the_sample_is_found_in_the_database(
    mongo_uri: str, fresh_database: PyDatabase[dict[str, Any]]
) -> None:
    documents = [{"_id": i, "word": f"word number {i}", "m": {f"key_{i}": 1}} for i in range(400)]
    fresh_database["things"].insert_many(documents)
    policy = replace(POLICY, documents=40, first=20, edge=10)
    async with opened(mongo_uri, fresh_database.name) as database:
        grounder = await open_grounding(database, None, policy)
        value = await grounder.ground(Question("things with 'WORD Number 222'"))
        nothing = await grounder.ground(Question("things with 'word number 999'"))
    assert [(w.stored, str(w.path), w.hard) for w in value.witnesses if w.hard] == [("word number 222", "word", True)]
    assert nothing.missing_terms == ("word number 999",)


def description(**changes: Any) -> Description:
    info = ContainerInfo("orders", ContainerType.COLLECTION, 40, 100, ("_id_",))
    return replace(Description("shop", "MongoDB", "8.0", (info, ContainerInfo("v", ContainerType.VIEW))), **changes)


async def test_the_fingerprint_leaves_out_version_and_order_of_containers() -> None:
    one = description()
    other = description(version="9.1", containers=tuple(reversed(one.containers)))
    prints = {await fingerprint_of(d, CannedDatabase(({"_id": 7},))) for d in (one, other)}
    assert len(prints) == 1


async def test_the_fingerprint_depends_on_counts_indexes_and_the_last_id() -> None:
    info = description().containers[0]
    changed = [
        description(),
        description(database="other"),
        description(containers=(replace(info, documents=41),)),
        description(containers=(replace(info, indexes=("_id_", "x_1")),)),
    ]
    prints = [await fingerprint_of(d, CannedDatabase(({"_id": 7},))) for d in changed]
    prints.append(await fingerprint_of(description(), CannedDatabase(({"_id": 8},))))
    assert len(set(prints)) == 5


async def test_a_container_that_refuses_does_not_keep_the_fingerprint_away() -> None:
    found = await fingerprint_of(description(), CannedDatabase(error=DatabaseDenied("no")))
    assert len(found) == 32


async def test_views_are_not_asked_for_their_last_id() -> None:
    database = CannedDatabase(({"_id": 7},))
    await fingerprint_of(description(), database)
    assert [p.container for p in database.programs] == ["orders"]
