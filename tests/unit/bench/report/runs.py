"""Make scored run folders: what a run and its scoring leave, without running anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundql.bench.case import CaseId
from groundql.bench.datasets import open_suite
from groundql.bench.prediction import Prediction, Try
from groundql.bench.running.journal import write_predictions
from groundql.bench.running.manifest import new_manifest, write_manifest
from groundql.bench.running.plan import Plan
from groundql.bench.scoring.ledger import Ledger, to_record
from groundql.bench.verdict import PROTOCOLS, Bucket, Scored, Verdict
from groundql.core.budget import Usage

NASTY = "</script><img src=x onerror=alert(1)>"
TASKS = ((1, "dynamic_key_object"), (2, "dynamic_key_object"), (3, "attribute_bag"), (4, "attribute_bag"))
GOLD = 'db.things.aggregate([{"$match": {"a": 1}}, {"$group": {"_id": "$b", "n": {"$sum": 1}}}])'


def make_suite(folder: Path) -> str:
    """Write four tasks over two databases and return the suite's name."""
    records = [
        {"record_id": n, "db_id": "x" if n < 3 else "y", "NLQ": f"How many things {NASTY} of kind {n}?",
         "NLQ_colloquial": "", "MQL": GOLD.replace("1", str(n), 1), "schema_flex": flex}
        for n, flex in TASKS
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tasks.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return f"folder:{folder}"


def make_run(folder: Path, suite: str, outcomes: Mapping[str, str], repeats: Mapping[str, str] | None = None) -> Path:
    """Write a scored run: per solver a letter per task, `c` correct, `v` value mismatch, `n` no submission."""
    opened = open_suite(suite)
    plan = Plan(suite=suite, solvers=tuple(outcomes), model="scripted:x", repeats=2 if repeats else 1)
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(folder, new_manifest(plan, opened.fingerprint, [case.id for case in opened.cases]))
    rounds = [outcomes, repeats] if repeats else [outcomes]
    asked = [
        (case.id, solver, letters[place], repeat)
        for repeat, told in enumerate(rounds)
        for solver, letters in told.items()
        for place, case in enumerate(opened.cases)
    ]
    write_predictions(folder, [_prediction(*one) for one in asked])
    lines = (json.dumps(to_record(_scored(*one))) + "\n" for one in asked)
    (folder / "scores.jsonl").write_text("".join(lines), encoding="utf-8")
    label = {"of": "prediction", "system": next(iter(outcomes)), "repeat": 0, "occurrence": 0}
    rows: list[tuple[Mapping[str, Any], list[dict[str, Any]]]] = [({"of": "gold"}, [{"n": NASTY}]), (label, [{"n": 2}])]
    Ledger(folder).keep_rows(opened.cases[0].id, rows)
    return folder


def _prediction(case: CaseId, solver: str, letter: str, repeat: int) -> Prediction:
    mql = "" if letter == "n" else GOLD.replace("$group", "$group" if letter == "c" else "$bucket")
    finding = {"code": "unknown_path", "blocking": True, "stage": 1, "text": NASTY}
    return Prediction(
        id=case, solver=solver, mql=mql, failure="" if mql else "no_candidate", model="scripted:x", repeat=repeat,
        usage=Usage(2, 100, 10, 0, 1.0, 0.5, 0.01), elapsed_s=2.0, rounds=1,
        tries=(Try(0, 0, "pipeline", "other", (finding,)),),
    )  # fmt: skip


def _scored(case: CaseId, solver: str, letter: str, repeat: int) -> Scored:
    bucket = {"c": Bucket.CORRECT, "v": Bucket.VALUE_MISMATCH, "n": Bucket.NO_SUBMISSION}[letter]
    verdict = Verdict(bucket, 1.0 if letter == "c" else 0.0)
    return Scored(case, solver, dict.fromkeys(PROTOCOLS, verdict), 1, None if letter == "n" else 1, repeat)
