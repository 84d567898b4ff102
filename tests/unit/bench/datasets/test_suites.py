from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from groundql.bench.case import CaseId
from groundql.bench.datasets import open_suite
from groundql.bench.datasets.imports import Imported, remember
from groundql.errors import InputError, LoadError


def record(number: int = 1, database: str = "shop", **more: Any) -> dict[str, Any]:
    mql = "db.orders.aggregate([])"
    return {"record_id": number, "db_id": database, "NLQ": "How many?", "NLQ_colloquial": "N?", "MQL": mql} | more


def release(folder: Path, *records: dict[str, Any], name: str = "tasks.jsonl", data: str = "shop.json") -> Path:
    tasks = folder / name
    tasks.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(each) + "\n" for each in records)
    tasks.write_text(lines if name.endswith("l") else json.dumps(list(records)), encoding="utf-8")
    if data:
        (folder / data).parent.mkdir(parents=True, exist_ok=True)
        (folder / data).write_text('{"orders": [{"_id": 1}]}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["tasks.jsonl", "TEND.json", "TEND_lean.json", "TEND_lean.jsonl", "data/TEND.json"])
@pytest.mark.parametrize("data", ["shop.json", "mongodb_data/shop.json"])
def test_records_and_documents_are_found_in_every_layout(tmp_path: Path, name: str, data: str) -> None:
    suite = open_suite(f"folder:{release(tmp_path, record(), name=name, data=data)}")
    assert (suite.databases, suite.sources["shop"]) == (("shop",), tmp_path / data)


def test_a_path_alone_names_a_suite_too(tmp_path: Path) -> None:
    assert open_suite(str(release(tmp_path / "r", record()))).cases[0].id == CaseId("shop", 1)


def test_the_full_form_gives_both_phrasings_and_labels(tmp_path: Path) -> None:
    full = {
        "record_id": 1,
        "db_id": "shop",
        "nl_queries": {"canonical": "How many?", "colloquial": "N?"},
        "MQL": "db.orders.aggregate([])",
        "schema_flex": "dynamic_key",
    }
    folder = release(tmp_path, full, name="TEND.json")
    gold = open_suite(f"folder:{folder}").golds[CaseId("shop", 1)]
    assert (gold.nlq, gold.colloquial, dict(gold.labels)) == ("How many?", "N?", {"schema_flex": "dynamic_key"})
    assert open_suite(f"folder:{folder}", phrasing="colloquial").cases[0].question.text == "N?"


def test_the_fingerprint_is_of_the_records_and_not_of_their_order(tmp_path: Path) -> None:
    one = open_suite(f"folder:{release(tmp_path / 'a', record(1), record(2))}").fingerprint
    assert one == open_suite(f"folder:{release(tmp_path / 'b', record(2), record(1))}").fingerprint
    assert one != open_suite(f"folder:{release(tmp_path / 'c', record(1), record(2, NLQ='Why?'))}").fingerprint


def test_a_packed_file_and_a_line_separator_within_a_text_are_read(tmp_path: Path) -> None:
    line = json.dumps(record(NLQ="one\u2028two"), ensure_ascii=False)
    (tmp_path / "tasks.jsonl").write_bytes(gzip.compress(b"\xef\xbb\xbf" + line.encode()))
    assert open_suite(f"folder:{tmp_path}").cases[0].question.text == "one\u2028two"


def test_a_folder_of_records_is_never_taken_for_the_documents_of_a_database_of_its_name(tmp_path: Path) -> None:
    assert open_suite(f"folder:{release(tmp_path / 'shop', record(), data='')}").sources == {}


@pytest.mark.parametrize("name", ["../other", "..", "a/b"])
def test_the_name_of_a_database_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    folder = release(tmp_path / "r", record(database=name))
    assert open_suite(f"folder:{folder}").sources == {}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"record_id": "1"}, "record_id is '1', not a number"),
        ({"MQL": None}, "MQL is missing"),
        ({"NLQ": ""}, "NLQ is ''"),
        ({"labels": [1]}, "labels is [1], not an object"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_its_line(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    folder = release(tmp_path, record(), record(2, **wrong))
    with pytest.raises(LoadError) as caught:
        open_suite(f"folder:{folder}")
    assert said in str(caught.value)
    assert "line 2" in str(caught.value)


def test_a_record_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="shop/1 is there twice"):
        open_suite(f"folder:{release(tmp_path, record(1), record(1))}")


@pytest.mark.parametrize(
    ("text", "said"), [("no such suite", "no suite"), ("worlds:nowhere", "no sample world"), ("other:x", "no suite")]
)
def test_an_unknown_suite_is_refused_with_the_known_ones(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        open_suite(text)
    assert said in str(caught.value)
    assert caught.value.hint


def test_an_imported_release_opens_from_where_it_lies(tmp_path: Path) -> None:
    folder = release(tmp_path / "r", record())
    imports = tmp_path / "imports"
    remember(imports, "tend", Imported(folder / "tasks.jsonl", {"shop": folder / "shop.json"}))
    suite = open_suite("tend", imports=imports)
    assert (suite.name, suite.databases, dict(suite.sources)) == ("tend", ("shop",), {"shop": folder / "shop.json"})


def test_a_release_that_was_not_imported_or_went_away_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        open_suite("tend", imports=tmp_path)
    assert "bench import tend" in caught.value.hint
    remember(tmp_path, "tend", Imported(tmp_path / "gone.json", {}))
    with pytest.raises(InputError, match="not there any more"):
        open_suite("tend", imports=tmp_path)
    (tmp_path / "tend.json").write_text("[]", encoding="utf-8")
    with pytest.raises(LoadError, match="cannot be read"):
        open_suite("tend", imports=tmp_path)
