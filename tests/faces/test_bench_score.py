"""`groundql bench score`: what it prints, and how it answers bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from faces.command import CommandLine


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "does not say which suite"),
        (["--suite", "nonsense"], "there is no suite"),
        (["--suite", "worlds:emoji", "--databases", "atlas"], "no task of worlds:emoji is left"),
    ],
)
def test_input_that_cannot_be_scored_is_told_in_one_line(
    command: CommandLine, tmp_path: Path, options: list[str], said: str
) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text('{"record_id": 1, "db_id": "emoji", "MQL": "x"}\n', encoding="utf-8")
    ran = command("bench", "score", str(file), *options)
    assert (ran.code, ran.out) == (2, "")
    assert [said in line for line in ran.lines if line.startswith("error:")] == [True]


def test_a_file_that_is_not_there_is_told(command: CommandLine, tmp_path: Path) -> None:
    ran = command("bench", "score", str(tmp_path / "none.jsonl"), "--suite", "worlds")
    assert ran.code == 2
    assert "no such file or folder" in ran.err


def test_a_prediction_and_what_is_missing_are_scored_by_both_protocols(command: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    text = 'db.standards.aggregate([{"$match": {"a": "x]y"}}])'.replace('"', '\\"')
    file.write_text(f'{{"record_id": 40001, "system": "s", "MQL": "{text}"}}\n', encoding="utf-8")
    ran = command("bench", "score", str(file), "--suite", "worlds:emoji", "--limit", "2", "--format", "json", "-q")
    assert ran.code == 0, ran.err
    tend, strict = ran.data
    assert [tend["protocol"], strict["protocol"]] == ["tend-v1", "strict"]
    assert (tend["rows"], tend["invalid"], tend["no_submission"]) == (2, 1, 1)
    assert (strict["rows"], strict["empty"], strict["no_submission"]) == (2, 1, 1)
