"""What the page tells of each task: question, programs, verdicts, rows side by side, findings per round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from bson import json_util

from groundql.bench.case import CaseId
from groundql.bench.prediction import Prediction
from groundql.bench.report.departing import Mark, first_wrong_stage
from groundql.bench.report.reading import Arm, Material
from groundql.bench.scoring import parsing
from groundql.bench.scoring.judging import read_gold
from groundql.bench.scoring.ledger import read_rows
from groundql.bench.shape.slices import slices_of
from groundql.bench.verdict import PROTOCOLS, Scored
from groundql.core.program import MqlProgram
from groundql.errors import InputError

ROWS: Final = 12
CELL: Final = 300
TRIES: Final = 12
TEXT: Final = 6000
"""What is shown of one task, so that the page of a whole benchmark stays readable."""


def task_heads(material: Material) -> list[dict[str, Any]]:
    """Write a line per task for the list: id, question, slices, and each arm's buckets by protocol."""
    lasts = [arm.last for arm in material.arms]
    heads: list[dict[str, Any]] = []
    for case in material.suite.cases:
        buckets = [_buckets(last.get(case.id)) for last in lasts]
        slices = slices_of(material.suite.golds[case.id])
        if case.id in material.decidable:
            slices["decidable"] = "yes" if material.decidable[case.id] else "no"
        head = {"db": case.id.database, "record": case.id.record_id, "question": case.question.text}
        heads.append({**head, "slices": slices, "buckets": buckets})
    return heads


def task_body(material: Material, case: CaseId) -> dict[str, Any]:
    """Write everything about one task."""
    gold = material.suite.golds[case]
    program = read_program(gold.mql)
    rows = {arm.folder: read_rows(arm.folder, case) for arm in material.arms}
    gold_rows = next((line for lines in rows.values() for line in lines if line.get("of") == "gold"), None)
    return {
        "gold": {**_stages(gold.mql, program), "rows": _rows(gold_rows)},
        "colloquial": gold.colloquial,
        "arms": [_arm(arm, case, program, rows[arm.folder]) for arm in material.arms],
    }


def _arm(arm: Arm, case: CaseId, gold: MqlProgram | None, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    scored, prediction = arm.last.get(case), arm.predictions.get(case)
    if scored is None:
        return None
    text = prediction.mql if prediction else ""
    program = read_program(text) if text else None
    is_right = all(verdict.is_correct for verdict in scored.verdicts.values())
    mark = None if is_right or gold is None or program is None else first_wrong_stage(gold, program, prediction)
    return {
        "verdicts": {p: _verdict(scored, p) for p in PROTOCOLS if p in scored.verdicts},
        **_stages(text, program),
        "mark": _mark(mark),
        "rows": _rows(_own_rows(rows, scored)),
        **(_made(prediction) if prediction else {}),
    }


def _own_rows(rows: Sequence[Mapping[str, Any]], scored: Scored) -> Mapping[str, Any] | None:
    named = (scored.solver, scored.repeat, scored.occurrence)
    return next((r for r in rows if (r.get("system"), r.get("repeat"), r.get("occurrence")) == named), None)


def _buckets(scored: Scored | None) -> list[str]:
    return [scored.verdicts[p].bucket.value if scored and p in scored.verdicts else "" for p in PROTOCOLS]


def _verdict(scored: Scored, protocol: str) -> dict[str, Any]:
    verdict = scored.verdicts[protocol]
    return {"bucket": verdict.bucket.value, "exf1": verdict.exf1, "detail": verdict.detail[:CELL]}


def _mark(mark: Mark | None) -> dict[str, Any] | None:
    return None if mark is None else {"stage": mark.stage, "why": mark.why[:CELL]}


def _made(prediction: Prediction) -> dict[str, Any]:
    usage = prediction.usage
    return {
        "failure": " ".join(f"{prediction.failure}: {prediction.detail}".split())[:CELL] if prediction.failure else "",
        "cost": [usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, prediction.elapsed_s],
        "tries": [
            {
                "attempt": tried.attempt, "round": tried.round, "form": tried.form, "rows": tried.rows,
                "mql": "" if tried.mql == prediction.mql else tried.mql[:TEXT],
                "findings": [_finding(finding) for finding in tried.findings],
            }
            for tried in prediction.tries[:TRIES]
        ],
        "more_tries": max(0, len(prediction.tries) - TRIES),
    }  # fmt: skip


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    text = str(finding.get("text", ""))[:CELL]
    return {"code": finding.get("code"), "blocking": finding.get("blocking"), "text": text}


def _rows(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Cut a kept result to what is shown: a table when its rows are objects."""
    if result is None:
        return None
    shown = cast("Sequence[Mapping[str, Any]]", result["rows"])[:ROWS]
    columns = list(dict.fromkeys(key for row in shown for key in row))
    cells = [[_cell(row[column]) if column in row else None for column in columns] for row in shown]
    return {"count": result["count"], "columns": columns, "cells": cells}


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def _stages(text: str, program: MqlProgram | None) -> dict[str, Any]:
    if program is None:
        return {"text": text[:TEXT]}
    return {"container": program.container, "stages": [_stage(stage) for stage in program.stages]}


def _stage(stage: Mapping[str, Any]) -> str:
    return json_util.dumps(stage, json_options=json_util.RELAXED_JSON_OPTIONS, ensure_ascii=False)[:TEXT]


def read_program(text: str) -> MqlProgram | None:
    """Read a program as either protocol would, for showing it stage by stage."""
    for read in (read_gold, parsing.read):
        try:
            return read(text)
        except InputError:
            continue
    return None
