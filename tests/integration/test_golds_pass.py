"""Right programs must pass: no gold of any suite is blocked, and each gives its rows through the product's own path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from bson import json_util
from pymongo import MongoClient

from groundql.bench.worlds import list_worlds, open_world
from groundql.core.rows import Limits
from groundql.databases.load import load
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.store import GroundingStore
from groundql.service import Service
from groundql.solvers.choose import row_key

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "superhero"
EVERY = 5
"""One task in so many goes the whole way here: `test_worlds_gold` runs all golds, `test_flow_golds` checks all."""

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


def no_model(*_: object) -> Any:
    raise AssertionError("check and run must not open a model")


def opened(portal: BlockingPortal, uri: str, name: str, source: Path, folder: Path) -> Service:
    database = f"groundql_test_golds_{name}"
    portal.call(partial(load, source, uri, database, existing="replace"))
    return Service(MongoDatabase(uri, database), GroundingStore(folder), no_model, limits=Limits(rows=5000))


def judge(portal: BlockingPortal, service: Service, text: str, gold: list[dict[str, Any]], what: str) -> None:
    report = portal.call(service.run, text)
    assert not report.is_blocked, f"{what}: {[str(f) for f in report.findings if f.blocking]}"
    assert report.rows is not None, what
    assert [row_key(r) for r in report.rows.records] == [row_key(r) for r in gold], what


@pytest.mark.parametrize("name", [w.name for w in list_worlds()])
def test_the_golds_of_a_sample_world_pass(
    name: str, portal: BlockingPortal, mongo_uri: str, mongo_client: MongoClient[Any], tmp_path: Path
) -> None:
    world = open_world(name)
    archive = tmp_path / f"{name}.json.gz"
    archive.write_bytes(world.packed())
    service = opened(portal, mongo_uri, name, archive, tmp_path / "groundings")
    gold = world.gold()
    try:
        for task in world.tasks()[::EVERY]:
            judge(portal, service, task.mql, gold[task.record_id], f"{name} {task.record_id}")
    finally:
        portal.call(service.close)
        mongo_client.drop_database(f"groundql_test_golds_{name}")


def test_the_golds_of_the_superhero_world_pass_and_give_their_rows(
    portal: BlockingPortal, mongo_uri: str, mongo_client: MongoClient[Any], tmp_path: Path
) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"the TEND superhero world is not at {SHARED}: its six golds were NOT checked")
    service = opened(portal, mongo_uri, "superhero", SHARED / "superhero.json.gz", tmp_path / "groundings")
    tasks = [json.loads(line) for line in (SHARED / "tasks.jsonl").read_text("utf-8").splitlines()]
    gold: Mapping[int, Any] = {
        record["record_id"]: record["rows"]
        for line in (SHARED / "gold.jsonl").read_text("utf-8").splitlines()
        for record in [json_util.loads(line)]
    }
    try:
        for task in tasks:
            judge(portal, service, task["MQL"], gold[task["record_id"]], f"superhero {task['record_id']}")
    finally:
        portal.call(service.close)
        mongo_client.drop_database("groundql_test_golds_superhero")
