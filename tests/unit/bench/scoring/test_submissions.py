from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from groundql.bench.case import Case, CaseId, Gold, Suite
from groundql.bench.scoring.submissions import read_submissions
from groundql.core.answer import Question
from groundql.errors import LoadError

IDS = [CaseId("shop", 1), CaseId("shop", 2), CaseId("zoo", 2)]
SUITE = Suite("s", tuple(Case(i, Question("?")) for i in IDS), {i: Gold(i, "db.c.aggregate([])", "?") for i in IDS}, {})


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("number", ["record_id", "id"])
@pytest.mark.parametrize("database", ["db_id", "database", "db"])
@pytest.mark.parametrize("program", ["MQL", "mql", "prediction", "predicted_mql", "pred"])
@pytest.mark.parametrize("system", ["system", "solver"])
def test_every_spelling_of_a_field_is_read(
    tmp_path: Path, number: str, database: str, program: str, system: str
) -> None:
    file = write(tmp_path / "p.jsonl", {number: 1, database: "shop", program: "db.c.aggregate([])", system: "x"})
    (found,) = read_submissions(file, SUITE)
    assert (found.id, found.mql, found.solver, found.failure) == (IDS[0], "db.c.aggregate([])", "x", "")


@pytest.mark.parametrize("name", ["failure", "status", "prediction_status", "error"])
def test_a_row_without_a_program_is_a_failure_of_its_type(tmp_path: Path, name: str) -> None:
    (found,) = read_submissions(write(tmp_path / "p.jsonl", {"record_id": 1, "db_id": "shop", name: "timeout"}), SUITE)
    assert (found.mql, found.failure) == ("", "timeout")


def test_a_status_beside_a_program_is_no_failure(tmp_path: Path) -> None:
    record = {"record_id": 1, "db_id": "shop", "MQL": "db.c.aggregate([])", "status": "ok"}
    (found,) = read_submissions(write(tmp_path / "p.jsonl", record), SUITE)
    assert found.failure == ""


@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: {"predictions": r}, lambda r: r[0]])
def test_arrays_and_objects_are_read(tmp_path: Path, wrap: Any) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(wrap([{"record_id": 1, "MQL": "x"}]), indent=1), encoding="utf-8")
    assert [p.id for p in read_submissions(file, SUITE)] == [IDS[0]]


def test_packed_files_and_the_byte_order_mark_are_read(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl.gz"
    file.write_bytes(gzip.compress(b'\xef\xbb\xbf{"record_id": 1, "MQL": "x"}\n'))
    assert read_submissions(file, SUITE)[0].mql == "x"


def test_a_system_without_a_name_is_called_after_its_file(tmp_path: Path) -> None:
    assert read_submissions(write(tmp_path / "mine.jsonl", {"id": 1, "MQL": "x"}), SUITE)[0].solver == "mine"


def test_a_record_that_two_databases_have_needs_its_database(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="shop and zoo"):
        read_submissions(write(tmp_path / "p.jsonl", {"id": 2, "MQL": "x"}), SUITE)


def test_a_program_as_an_object_is_written_as_a_call(tmp_path: Path) -> None:
    program = {"collection": "c", "pipeline": [{"$limit": 1}]}
    (found,) = read_submissions(write(tmp_path / "p.jsonl", {"id": 1, "prediction": program}), SUITE)
    assert found.mql == 'db.c.aggregate([{"$limit": 1}])'


def test_a_run_is_read_from_its_folder_without_a_torn_last_line(tmp_path: Path) -> None:
    write(tmp_path / "predictions.jsonl", {"record_id": 1, "db_id": "shop", "MQL": "x", "repeat": 1})
    with (tmp_path / "predictions.jsonl").open("a") as out:
        out.write('{"record_id": 2, "db')
    (found,) = read_submissions(tmp_path, SUITE)
    assert found.repeat == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 1}\n{"id": 2,\n', "line 2: not JSON"),
        ("[1]", "a prediction is an object"),
        ('{"id": "x"}', "'x' is not a record's number"),
        ('{"MQL": "x"}', "None is not a record's number"),
        ("{}[", "not JSON"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LoadError, match=said):
        read_submissions(file, SUITE)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot be read"):
        read_submissions(tmp_path, SUITE)
