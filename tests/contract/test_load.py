"""Data files into a real server."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import bson
import pytest
from bson import Decimal128, Int64
from pymongo.database import Database

from groundql.databases.load import Existing, Loaded, LoadProgress, database_name, load
from groundql.errors import DatabaseUnreachable, InputError, LoadError

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "heroes.jsonl").write_text("".join(json.dumps({"_id": n, "n": n}) + "\n" for n in range(2500)))
    (tmp_path / "films.json.gz").write_bytes(gzip.compress(b'[{"_id": 1, "at": {"$date": "2024-02-29T00:00:00Z"}}]'))
    exact = {"_id": 1, "d": Decimal128("0.10"), "l": Int64(1), "m": {"a.b": 1, "$c": 2}}
    (tmp_path / "exact.bson").write_bytes(bson.encode(exact) + bson.encode({"no": "id"}))
    return tmp_path


async def test_a_folder_becomes_a_database(folder: Path, mongo_uri: str, fresh_database: Database[Any]) -> None:
    seen: list[LoadProgress] = []
    loaded = await load(folder, mongo_uri, fresh_database.name, on_progress=seen.append)
    assert loaded == (Loaded("exact", 2), Loaded("films", 1), Loaded("heroes", 2500))
    assert fresh_database["heroes"].count_documents({}) == 2500
    assert fresh_database["films"].find_one() == {"_id": 1, "at": dt.datetime(2024, 2, 29)}
    exact = fresh_database["exact"].find_one({"_id": 1})
    assert exact == {"_id": 1, "d": Decimal128("0.10"), "l": 1, "m": {"a.b": 1, "$c": 2}}
    assert isinstance(exact["l"], Int64)
    assert [p.documents for p in seen if p.container == "heroes"] == [1000, 2000, 2500]
    assert all(0 < p.read_bytes <= p.size_bytes for p in seen)


async def test_documents_come_out_in_the_order_of_the_file(
    tmp_path: Path, mongo_uri: str, fresh_database: Database[Any]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in (3, 1, 2)))
    await load(tmp_path / "a.jsonl", mongo_uri, fresh_database.name, container="named")
    assert [d["n"] for d in fresh_database["named"].find()] == [3, 1, 2]


async def test_a_collection_with_documents_is_not_touched_unless_asked(
    folder: Path, mongo_uri: str, fresh_database: Database[Any]
) -> None:
    fresh_database["heroes"].insert_one({"_id": "mine"})
    file = folder / "heroes.jsonl"
    with pytest.raises(LoadError, match="holds documents already") as caught:
        await load(file, mongo_uri, fresh_database.name)
    assert "--replace" in caught.value.hint
    assert fresh_database["heroes"].count_documents({}) == 1
    await load(file, mongo_uri, fresh_database.name, existing="append")
    assert fresh_database["heroes"].count_documents({}) == 2501
    await load(file, mongo_uri, fresh_database.name, existing="replace")
    assert fresh_database["heroes"].count_documents({}) == 2500


async def test_a_key_that_occurs_twice_is_named_with_its_line(
    tmp_path: Path, mongo_uri: str, fresh_database: Database[Any]
) -> None:
    lines = [json.dumps({"_id": n}) for n in (*range(1500), 700)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(
        LoadError, match=r"a\.jsonl, line 1501: another document has the same key \(_id: 700\)"
    ) as caught:
        await load(tmp_path / "a.jsonl", mongo_uri, fresh_database.name)
    assert "--replace" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"n": 9999999999999999999999}', r"line 1: cannot be stored: .*8-byte ints"),
        ('{"a\\u0000b": 1}', "line 1: cannot be stored: .*NULL"),
        ('{"s": "' + "x" * 17_000_000 + '"}', r"line 1: the document is too large \(17\.0 MB"),
    ],
)
async def test_a_document_that_cannot_be_stored_is_named_with_its_line(
    tmp_path: Path, mongo_uri: str, fresh_database: Database[Any], text: str, message: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(LoadError, match=message):
        await load(tmp_path / "a.jsonl", mongo_uri, fresh_database.name)
    assert fresh_database["a"].count_documents({}) == 0


async def test_a_large_document_and_many_keys_go_in_and_come_out(
    tmp_path: Path, mongo_uri: str, fresh_database: Database[Any]
) -> None:
    large = {"_id": 1, "s": "x" * 15_000_000}
    wide = {"_id": 2, "m": {f"key {n}": {"v": n} for n in range(50_000)}}
    (tmp_path / "a.jsonl").write_text(json.dumps(large) + "\n" + json.dumps(wide) + "\n")
    await load(tmp_path / "a.jsonl", mongo_uri, fresh_database.name)
    assert list(fresh_database["a"].find().sort("_id", 1)) == [large, wide]


async def test_no_server_and_no_connection_string_are_said(folder: Path) -> None:
    with pytest.raises(DatabaseUnreachable, match=r"no server answers at 127\.0\.0\.1:1"):
        await load(folder, "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300", "x")
    with pytest.raises(InputError, match="no MongoDB connection string"):
        await load(folder, "localhost", "x")


def test_a_database_is_named_for_the_file() -> None:
    assert database_name(Path("/data/My Heroes (2024).json.gz")) == "My_Heroes_2024"
    assert database_name(Path("/data/…")) == "data"


def test_an_empty_file_in_a_folder_is_an_empty_collection(
    tmp_path: Path, mongo_uri: str, fresh_database: Database[dict[str, Any]]
) -> None:
    (tmp_path / "people.jsonl").write_text('{"n": 1}\n', encoding="utf-8")
    (tmp_path / "logs.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "none.bson").write_bytes(b"")
    loaded = anyio.run(partial(load, tmp_path, mongo_uri, fresh_database.name))
    assert [(part.container, part.documents) for part in loaded] == [("people", 1)]


def test_a_collection_is_not_named_for_a_folder(tmp_path: Path, mongo_uri: str) -> None:
    (tmp_path / "people.jsonl").write_text('{"n": 1}\n', encoding="utf-8")
    with pytest.raises(LoadError, match="single file"):
        anyio.run(partial(load, tmp_path, mongo_uri, "groundql_test_none", container="x"))


@pytest.mark.parametrize(
    ("existing", "hint"), [("refuse", "with --replace"), ("append", "would add them twice"), ("replace", "")]
)
async def test_what_a_broken_load_left_is_told_as_far_as_it_helps(
    existing: Existing, hint: str, tmp_path: Path, mongo_uri: str, fresh_database: Database[Any]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"_id": {n}}}\n' for n in (*range(1500), 700)))
    with pytest.raises(LoadError, match="line 1501") as caught:
        await load(tmp_path / "a.jsonl", mongo_uri, fresh_database.name, existing=existing)
    assert hint in caught.value.hint
    assert ("--replace" in caught.value.hint) is (existing == "refuse")
