"""The sample worlds come out of the package whole."""

from __future__ import annotations

import datetime
import gzip
import importlib.util
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from bson import BSON, json_util

from groundql.bench.worlds import World, list_worlds, open_world

WORLDS = list_worlds()
LARGEST_BYTES = 3_000_000
by_world = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


def _walk(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, Mapping):
        for child in value.values():
            yield from _walk(child)
    elif isinstance(value, list):
        for child in value:
            yield from _walk(child)


def test_at_least_three_worlds_ship() -> None:
    assert len(WORLDS) >= 3
    assert len({world.name for world in WORLDS}) == len(WORLDS)


def test_one_world_has_twenty_thousand_documents() -> None:
    assert max(sum(map(len, world.documents().values())) for world in WORLDS) >= 20_000


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match="webcompat"):
        open_world("narnia")


@by_world
def test_a_world_is_found_by_its_name(world: World) -> None:
    assert open_world(world.name) is world
    assert world.title
    assert world.licence


@by_world
def test_a_world_stays_small_enough_to_ship(world: World) -> None:
    assert len(world.packed()) < LARGEST_BYTES


@by_world
def test_the_archive_carries_no_time_and_no_name(world: World) -> None:
    header = world.packed()[:10]
    assert header[:3] == b"\x1f\x8b\x08"
    assert header[3] == 0, "flags: a stored name would change with the path it was built in"
    assert header[4:8] == b"\0\0\0\0", "mtime"


@by_world
def test_documents_have_ids_and_survive_bson(world: World) -> None:
    for name, documents in world.documents().items():
        assert documents, name
        ids = [json.dumps(document["_id"]) for document in documents]
        assert len(set(ids)) == len(ids), name
        for document in documents:
            assert BSON.encode(document)


@by_world
def test_collections_fit_the_embedded_server(world: World) -> None:
    assert all(len(documents) <= 25_000 for documents in world.documents().values())


@by_world
def test_dates_are_read_with_their_time_zone(world: World) -> None:
    dates = [
        value
        for documents in world.documents().values()
        for document in documents
        for value in _walk(document)
        if isinstance(value, datetime.datetime)
    ]
    assert all(date.utcoffset() == datetime.timedelta(0) for date in dates)
    assert bool(dates) == (b'"$date"' in gzip.decompress(world.packed()))


@by_world
def test_no_typed_value_is_left_unread(world: World) -> None:
    for documents in world.documents().values():
        for document in documents:
            for value in _walk(document):
                if isinstance(value, dict):
                    assert not any(str(key).startswith("$") for key in value)


@by_world
def test_every_task_has_rows_and_a_question_of_its_own(world: World) -> None:
    tasks, gold = world.tasks(), world.gold()
    assert len(tasks) >= 10
    assert [task.record_id for task in tasks] == sorted(gold)
    assert all(task.db_id == world.name for task in tasks)
    assert len({task.nlq for task in tasks}) == len(tasks)
    assert len({task.mql for task in tasks}) == len(tasks)
    assert all(1 <= len(rows) <= 50 for rows in gold.values())


@by_world
def test_task_records_keep_the_lean_order(world: World) -> None:
    collections = set(world.documents())
    for task in world.tasks():
        assert task.mql.startswith("db.")
        assert task.mql.removeprefix("db.").split(".", 1)[0] in collections


@by_world
def test_the_readme_names_source_licence_and_every_collection(world: World) -> None:
    page = world.readme()
    assert "**Source.**" in page
    assert "**Licence.**" in page
    for name, documents in world.documents().items():
        assert f"| {name} | {len(documents):,} |" in page


def test_record_ids_are_unique_over_all_worlds() -> None:
    ids = [task.record_id for world in WORLDS for task in world.tasks()]
    assert len(set(ids)) == len(ids)


def _writer() -> Any:
    path = Path(__file__).parents[2] / "worlds" / "world_file.py"
    spec = importlib.util.spec_from_file_location("world_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_writer_gives_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    writer = _writer()
    collections = {"things": [{"_id": 1, "name": "Zürich", "day": writer.to_date("2024-02-29")}], "none": []}
    for folder in ("one", "another"):
        assert writer.write_world(collections, tmp_path / folder) > 0
    archives = {(tmp_path / folder / f"{folder}.json.gz").read_bytes() for folder in ("one", "another")}
    assert len(archives) == 1
    assert json.loads(gzip.decompress(archives.pop())) == collections


@pytest.mark.parametrize("day", ["1694-07-27", "1969-12-31", "1970-01-01", "2026-11-30", "2022-10-17T16:11:43Z"])
def test_a_written_date_is_read_back_as_the_same_instant(day: str) -> None:
    written = json.dumps(_writer().to_date(day))
    read = json_util.loads(written, json_options=json_util.RELAXED_JSON_OPTIONS)
    assert read.isoformat().startswith(day.removesuffix("Z"))
    assert ("$numberLong" in written) == (day < "1970")
