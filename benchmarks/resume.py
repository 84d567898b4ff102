"""Kill a run at random moments and go on, again and again; the figures must be those of an uninterrupted run.

    python benchmarks/resume.py [--kills 20] [--seed 1] [--json]

The model is a script that hands in the right program for two questions of three and another one for the rest. A run is
killed (SIGKILL, with everything it started) at twenty random moments of its first seconds, and each time it goes on.
Then both runs are scored. Compared are the predictions, all but times, and every figure that scoring prints.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from groundql.databases.embedded import EmbeddedServer
from groundql.databases.load import load

DATABASE = "places"
QUESTIONS = 40
SOLVERS = "path-card,value-bisect"
COMMAND = (sys.executable, "-m", "groundql", "bench")
TIMES = ("elapsed_s",)
USAGE_TIMES = ("model_s", "database_s")


def write_suite(folder: Path, server: str) -> None:
    """Make a suite of so many questions about one small collection, load it, and write the model's script."""
    places = [{"_id": n, "name": f"place {n}", "zone": n % QUESTIONS, "size": n * 7 % 90} for n in range(400)]
    (folder / f"{DATABASE}.json").write_text(json.dumps({"places": places}), encoding="utf-8")
    anyio.run(load, folder / f"{DATABASE}.json", server, DATABASE)
    tasks: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for number in range(QUESTIONS):
        question = f"Which places lie in zone number {number}?"
        stages: list[Any] = [{"$match": {"zone": number}}, {"$project": {"_id": 0, "name": 1}}]
        mql = f"db.places.aggregate({json.dumps(stages)})"
        tasks.append({"record_id": number, "db_id": DATABASE, "NLQ": question, "NLQ_colloquial": question, "MQL": mql})
        stages += [{"$limit": 1}] if number % 3 == 2 else []
        reply = {"reading": "r", "assumptions": [], "collection": "places", "pipeline": stages}
        lines.append({"match": re.escape(question), "reply": reply, "wait_s": 0.2})
    write_lines(folder / "tasks.jsonl", tasks)
    write_lines(folder / "script.jsonl", lines)


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "GROUNDQL_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def finish(arguments: list[str], folder: Path) -> str:
    process = start(arguments, folder)
    out, told = process.communicate()
    assert process.returncode == 0, f"{' '.join(arguments)}: exit code {process.returncode}: {told.decode()}"
    return out.decode()


def kill(process: subprocess.Popen[bytes]) -> bool:
    """Kill a process and its group; say whether it was still at work."""
    was_running = process.poll() is None
    if was_running:
        os.killpg(process.pid, signal.SIGKILL)
    _, told = process.communicate()
    assert was_running or process.returncode == 0, f"it failed by itself: {told.decode()}"
    return was_running


def predictions(folder: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        key = (record["db_id"], record["record_id"], record["system"], record["repeat"])
        assert key not in found, f"{key} was done twice"
        kept = {name: value for name, value in record.items() if name not in TIMES}
        kept["usage"] = {n: v for n, v in record["usage"].items() if n not in USAGE_TIMES}
        found[key] = kept
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with EmbeddedServer() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, server.uri)
        options = ["--suite", "folder:.", "--solvers", SOLVERS, "--model", "scripted:script.jsonl", "-q"]
        options += ["--db", server.uri, "--concurrency", "2"]
        began_s = time.monotonic()
        finish(["run", *options, "--out", "whole"], folder)
        whole_s = time.monotonic() - began_s
        wanted = predictions(folder / "whole")
        kills, done = 0, list[int]()
        while kills < given.kills:  # a run that is finished between two kills is begun anew
            process = start(["run", *options, "--out", "killed"], folder)
            time.sleep(chance.uniform(0.2, whole_s))
            if not kill(process):
                assert predictions(folder / "killed") == wanted
                shutil.rmtree(folder / "killed")
                continue
            kills += 1
            path = folder / "killed" / "predictions.jsonl"
            done.append(path.read_bytes().count(b"\n") if path.exists() else 0)
        finish(["run", *options, "--out", "killed"], folder)
        found = predictions(folder / "killed")
        scores = [finish(["score", run, "--db", server.uri, "-f", "json", "-q"], folder) for run in ("whole", "killed")]
    rows = [[{k: v for k, v in row.items() if k != "input"} for row in json.loads(text)] for text in scores]
    same = {"predictions": found == wanted, "figures": rows[0] == rows[1]}
    result = {"tasks": len(wanted), "kills": kills, "done_at_each": done, "whole_s": round(whole_s, 1), **same}
    if given.json:
        print(json.dumps(result))
    else:
        print(f"{kills} kills over {len(wanted)} tasks, done at each: {', '.join(map(str, done))}")
        print(f"  predictions the same: {same['predictions']}; figures the same: {same['figures']}")
    return 0 if all(same.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
