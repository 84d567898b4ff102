"""Kill a run at random moments and go on, again and again; the figures must be those of an uninterrupted run.

    python benchmarks/resume.py [--kills 20] [--world emoji] [--seed 1] [--json]

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
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from groundql.bench.datasets import open_suite
from groundql.languages.mongosh import parse_program
from groundql.languages.writing import to_ejson

SOLVERS = "path-card,value-bisect"
COMMAND = (sys.executable, "-m", "groundql", "bench")
TIMES = ("elapsed_s",)
USAGE_TIMES = ("model_s", "database_s")


def write_script(path: Path, world: str, wait_s: float) -> None:
    lines: list[dict[str, Any]] = []
    for number, (case, gold) in enumerate(open_suite(f"worlds:{world}").golds.items()):
        program = json.loads(to_ejson(parse_program(gold.mql)))  # pyright: ignore[reportArgumentType]
        stages = program["pipeline"] if isinstance(program, dict) else program
        container = parse_program(gold.mql).container  # pyright: ignore[reportAttributeAccessIssue]
        reply = {"reading": "r", "assumptions": [], "collection": container, "pipeline": stages}
        if number % 3 == 2:
            reply["pipeline"] = [*stages, {"$limit": 1}]
        lines.append({"match": re.escape(gold.nlq), "reply": reply, "wait_s": wait_s, "purpose": "draft"})
        assert case
    lines += [{**line, "purpose": ""} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


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
    parser.add_argument("--world", default="emoji")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_script(folder / "script.jsonl", given.world, 0.2)
        options = ["--suite", f"worlds:{given.world}", "--solvers", SOLVERS, "--model", "scripted:script.jsonl", "-q"]
        began_s = time.monotonic()
        finish(["run", *options, "--out", "whole"], folder)
        whole_s = time.monotonic() - began_s
        wanted = predictions(folder / "whole")
        kills, done = 0, list[int]()
        while kills < given.kills:
            process = start(["run", *options, "--out", "killed"], folder)
            time.sleep(chance.uniform(0.2, max(4.0, whole_s / 4)))
            if not kill(process):
                break
            kills += 1
            path = folder / "killed" / "predictions.jsonl"
            done.append(path.read_bytes().count(b"\n") if path.exists() else 0)
        finish(["run", *options, "--out", "killed"], folder)
        found = predictions(folder / "killed")
        scores = [finish(["score", run, "-f", "json", "-q"], folder) for run in ("whole", "killed")]
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
