from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundql.bench.case import CaseId
from groundql.bench.prediction import Prediction, Try, from_record, to_record
from groundql.bench.running.journal import PREDICTIONS, Journal, read_predictions
from groundql.core.budget import Usage
from groundql.errors import InputError

FINDING = {"code": "empty", "blocking": True, "stage": 0, "text": "t"}
ONE = Prediction(
    id=CaseId("comics", 7),
    solver="sag",
    mql='db.heroes.aggregate([{"$match": {"name": "Tür\\n"}}])',
    model="test:model",
    usage=Usage(3, 100, 20, 10, 1.5, 0.25, None),
    elapsed_s=2.5,
    rounds=2,
    tries=(Try(0, 1, "pipeline", "db.heroes.aggregate([])", (FINDING,), 0),),
    repeat=1,
)
TWO = Prediction(id=CaseId("comics", 8), solver="sag", failure="timeout", detail="too long")


def test_a_prediction_is_read_back_as_it_was_written() -> None:
    assert from_record(json.loads(json.dumps(to_record(ONE)))) == ONE


def test_what_was_appended_is_there_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "run") as journal:
        journal.append(ONE)
        journal.append(TWO)
    with Journal(tmp_path / "run") as journal:
        assert list(journal.done.values()) == [ONE, TWO]
        assert journal.repaired == 0


def test_a_line_is_in_the_file_before_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append(ONE)
        assert (tmp_path / PREDICTIONS).read_bytes().endswith(b"}\n")


@pytest.mark.parametrize("kept", [1, 40, 300])
def test_a_torn_last_line_is_taken_out_and_the_next_one_stands_on_its_own(tmp_path: Path, kept: int) -> None:
    with Journal(tmp_path) as journal:
        journal.append(TWO)
        journal.append(ONE)
    path = tmp_path / PREDICTIONS
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    path.write_bytes(whole[: start + kept])
    with Journal(tmp_path) as journal:
        assert list(journal.done.values()) == [TWO]
        assert journal.repaired == 1
        journal.append(ONE)
    assert path.read_bytes() == whole


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append(ONE)
    path = tmp_path / PREDICTIONS
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    with Journal(tmp_path) as journal:
        assert list(journal.done.values()) == [ONE]
        journal.append(TWO)
    assert list(read_predictions(tmp_path).values()) == [ONE, TWO]


def test_a_line_of_zeros_in_the_middle_costs_that_line_alone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append(ONE)
    path = tmp_path / PREDICTIONS
    path.write_bytes(b"\0" * 50 + b"\n" + path.read_bytes())
    with Journal(tmp_path) as journal:
        assert (list(journal.done.values()), journal.repaired) == ([ONE], 1)
    assert b"\0" not in path.read_bytes()


def test_a_second_one_cannot_have_the_folder(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(InputError, match="another process"):
        Journal(tmp_path)
    with Journal(tmp_path) as journal:
        assert not journal.done


def test_a_task_is_written_once_and_the_first_line_for_it_counts(tmp_path: Path) -> None:
    again = Prediction(id=TWO.id, solver="sag", mql="db.heroes.aggregate([])")
    with Journal(tmp_path) as journal:
        journal.append(TWO)
        journal.append(again)
    path = tmp_path / PREDICTIONS
    assert len(path.read_bytes().splitlines()) == 1
    path.write_bytes(path.read_bytes() + json.dumps(to_record(again)).encode() + b"\n")
    assert list(read_predictions(tmp_path).values()) == [TWO]
