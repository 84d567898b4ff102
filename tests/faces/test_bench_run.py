"""`bench run` and `bench merge` as a user meets them, on a suite of five questions with a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from faces.command import COMMAND, CommandLine

PIPELINE = [{"$match": {"side": "good"}}, {"$project": {"_id": 0, "name": 1}}]
REPLY = {"reading": "r", "assumptions": [], "collection": "heroes", "pipeline": PIPELINE}
SOLVER = ("--solvers", "path-card")


@pytest.fixture
def suite(tmp_path: Path, mongo_uri: str, mongo_client: MongoClient[dict[str, Any]]) -> Iterator[list[str]]:
    """Options that name a small suite, its server and its model."""
    name = f"groundql_test_{uuid.uuid4().hex[:12]}"
    mongo_client[name].heroes.insert_many([{"_id": n, "name": f"h{n}", "side": "good"} for n in range(3)])
    records = [
        {"record_id": n, "db_id": name, "NLQ": f"Question {n}?", "NLQ_colloquial": f"q{n}",
         "MQL": "db.heroes.aggregate([{\"$match\": {\"side\": \"good\"}}])"} for n in range(5)
    ]  # fmt: skip
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "tasks.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    script(tmp_path / "script.jsonl", {"match": ".", "reply": REPLY})
    yield ["--suite", f"folder:{folder}", "--model", f"scripted:{tmp_path / 'script.jsonl'}", "--db", mongo_uri]
    mongo_client.drop_database(name)


def script(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def predictions(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_run_says_how_it_went_and_what_comes_next(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    ran = command("bench", "run", *suite, *SOLVER, "--out", str(out), "-f", "json")
    assert ran.code == 0, ran.err
    assert [(r["solver"], r["tasks"], r["handed_in"], r["failures"]) for r in ran.data] == [("path-card", 5, 5, {})]
    assert f"next: groundql bench score {out}" in ran.err
    assert "5 of 5 tasks · path-card: 5 handed in" in ran.err
    assert {p["MQL"] for p in predictions(out)} == {f"db.heroes.aggregate({json.dumps(PIPELINE)})"}


def test_a_finished_run_asks_nothing_more(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    command("bench", "run", *suite, *SOLVER, "--out", str(out), "-q")
    before = (out / "predictions.jsonl").read_bytes()
    script(tmp_path / "script.jsonl", {"match": ".", "reply": "not asked"})
    ran = command("bench", "run", "--out", str(out), "-q")
    assert ran.code == 0, ran.err
    assert (out / "predictions.jsonl").read_bytes() == before


def test_a_changed_setting_is_refused_and_told(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    command("bench", "run", *suite, *SOLVER, "--out", out, "--limit", "2", "-q")
    ran = command("bench", "run", "--out", out, "--limit", "3", "--solvers", "sag")
    assert ran.code == 2
    assert "solvers: path-card when it began, sag now; limit: 2 when it began, 3 now" in ran.err
    assert command("bench", "run", "--out", out, "--limit", "2", *SOLVER, "-q").code == 0


def test_a_run_goes_on_under_the_bounds_it_began_with(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    bounded = ("--budget-tokens", "1", "--concurrency", "1", "-q")
    first = command("bench", "run", *suite, *SOLVER, "--out", str(out), *bounded, GROUNDQL_LIMITS_ROWS="77")
    assert first.code == 1
    assert "stopped  the run's budget of 1 token is spent" in first.err
    assert "give a higher --budget-usd or --budget-tokens" in first.err
    again = command("bench", "run", "--out", str(out), "-q")
    assert (again.code, len(predictions(out))) == (1, 1)
    last = command("bench", "run", "--out", str(out), "-q", "--budget-tokens", "1000000")
    assert (last.code, len(predictions(out))) == (0, 5)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["plan"]["bounds"]["limits"]["rows"] == 77
    assert [s["budget_tokens"] for s in manifest["stints"]] == [1, 1, 1_000_000]


def test_a_model_that_cannot_be_used_is_told_and_costs_no_task(
    command: CommandLine, suite: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    suite[3] = "openai:gpt-5"
    ran = command("bench", "run", *suite, *SOLVER, "--out", str(out), "-q")
    assert ran.code == 2
    assert "error: OPENAI_API_KEY is not set" in ran.err
    assert f"then: groundql bench run --out {out}" in ran.err
    assert predictions(out) == []
    suite[3] = f"scripted:{tmp_path / 'script.jsonl'}"
    assert command("bench", "run", *suite, *SOLVER, "--out", str(out), "-q").code == 0
    suite[3] = "openai:gpt-5"
    assert command("bench", "run", *suite, *SOLVER, "--out", str(out), "-q").code == 2
    assert len(predictions(out)) == 5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--suite", "nothing"], "there is no suite 'nothing'"),
        (["--suite", "worlds", "--solvers", "sga"], "there is no solver 'sga'"),
        (["--suite", "worlds", "--databases", "mars"], "worlds has no database 'mars'"),
        (["--suite", "worlds", "--phrasing", "loud"], "there is no phrasing 'loud'"),
        (["--suite", "worlds", "--shard", "3/2"], "'3/2' is not a shard"),
        (["--suite", "worlds", "--model", "scripted:none.jsonl"], "none.jsonl: cannot be read"),
        ([], "no suite is named"),
    ],
)
def test_wrong_options_are_told_in_a_line(command: CommandLine, tmp_path: Path, options: list[str], told: str) -> None:
    ran = command("bench", "run", "--out", str(tmp_path / "run"), *options, "-q")
    assert ran.code == 2
    assert told in ran.err
    assert not (tmp_path / "run" / "predictions.jsonl").exists()


def test_shards_are_merged(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    folders = [str(tmp_path / part) for part in ("one", "two")]
    for number, folder in enumerate(folders, 1):
        assert command("bench", "run", *suite, *SOLVER, "--out", folder, "--shard", f"{number}/2", "-q").code == 0
    ran = command("bench", "merge", str(tmp_path / "all"), *folders)
    assert ran.code == 0, ran.err
    assert "merged   5 predictions" in ran.err
    assert sorted(p["record_id"] for p in predictions(tmp_path / "all")) == [0, 1, 2, 3, 4]
    other = command("bench", "merge", str(tmp_path / "all"), *folders)
    assert (other.code, "holds a run already" in other.err) == (2, True)


def test_a_run_goes_through_a_batch_folder_by_hand(command: CommandLine, suite: list[str], tmp_path: Path) -> None:
    out, batch = str(tmp_path / "run"), tmp_path / "batch"
    suite[3] = "groq:small"
    first = command("bench", "run", *suite, *SOLVER, "--out", out, "--llm-batch", str(batch), "--limit", "2", "-q")
    assert first.code == 1
    assert f"send     {batch / 'requests-001.jsonl'}" in first.err
    asked = [json.loads(line) for line in (batch / "requests-001.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(asked) == 2
    script(batch / "replies.jsonl", *[{"custom_id": a["custom_id"], "text": REPLY} for a in asked])
    last = command("bench", "run", "--out", out, "-q")
    assert last.code == 0, last.err
    assert [p["failure"] for p in predictions(Path(out))] == ["", ""]


def slow(tmp_path: Path) -> None:
    script(tmp_path / "script.jsonl", {"match": ".", "reply": REPLY, "wait_s": 0.4})


def started(command: CommandLine, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=command.home, env=command.process_environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_lines(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        path = folder / "predictions.jsonl"
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError("the run did not come this far")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_run_that_was_killed_or_interrupted_goes_on_without_doing_a_task_twice(
    command: CommandLine, suite: list[str], tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    out = tmp_path / "run"
    slow(tmp_path)
    with started(command, "bench", "run", *suite, *SOLVER, "--out", str(out), "--concurrency", "1", "-q") as process:
        wait_for_lines(out, 2)
        second = command("bench", "run", "--out", str(out), "-q")
        process.send_signal(sent)
        process.communicate(timeout=30)
    assert process.returncode == code
    assert (second.code, "another process is at work" in second.err) == (2, True)
    before = predictions(out)
    assert 2 <= len(before) < 5
    ran = command("bench", "run", "--out", str(out), "-q")
    assert ran.code == 0, ran.err
    after = predictions(out)
    assert after[: len(before)] == before
    assert sorted(p["record_id"] for p in after) == [0, 1, 2, 3, 4]
