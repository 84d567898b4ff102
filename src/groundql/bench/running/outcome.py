"""From what a solver answered, or how it failed, to the prediction that is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from groundql.bench.prediction import Prediction, Try
from groundql.bench.running.plan import Task
from groundql.core.answer import Answer, Candidate, Outcome
from groundql.core.budget import Usage
from groundql.core.finding import Finding
from groundql.core.program import MqlProgram, Program
from groundql.core.trace import Event
from groundql.errors import BudgetExhausted, DatabaseError, ModelError
from groundql.languages.read import write

DETAIL_CHARS: Final = 600
FINDING_CHARS: Final = 600


def of_answer(task: Task, answer: Answer, model: str, elapsed_s: float) -> Prediction:
    """Return what a solver handed in, or why it handed in nothing."""
    mql = program_text(answer.program) if answer.program is not None else ""
    without = "abstained" if answer.outcome is Outcome.ABSTAINED else "no_candidate"
    return Prediction(
        id=task.case.id,
        solver=task.solver,
        mql=mql,
        failure="" if mql else without,
        detail=_short(answer.diagnosis, DETAIL_CHARS),
        model=answer.model or model,
        usage=answer.usage,
        elapsed_s=elapsed_s,
        rounds=len(answer.candidates),
        tries=tuple(_try(c) for c in answer.candidates),
        repeat=task.repeat,
    )


def of_failure(
    task: Task, failure: str, detail: str, model: str, *, usage: Usage, elapsed_s: float, events: Iterable[Event]
) -> Prediction:
    """Return a failure with what it cost and what was tried until then, as the trace tells it."""
    tries = tuple(_traced(event.data) for event in events if event.name == "candidate")
    return Prediction(
        id=task.case.id,
        solver=task.solver,
        failure=failure,
        detail=_short(detail, DETAIL_CHARS),
        model=model,
        usage=usage,
        elapsed_s=elapsed_s,
        rounds=len(tries),
        tries=tries,
        repeat=task.repeat,
    )


def failure_of(error: BaseException) -> str:
    """Name the kind of an error in one word."""
    match error:
        case BudgetExhausted():
            return "budget"
        case ModelError():
            return "model"
        case DatabaseError():
            return "database"
        case _:
            return "error"


def program_text(program: Program) -> str:
    """Write a program in the form that published predictions have: one call whose pipeline is JSON.

    What JSON cannot say (dates, decimals, odd names) is written in shell syntax.
    """
    if isinstance(program, MqlProgram) and program.container.isascii() and _is_plain(program.container):
        try:
            stages = json.dumps(program.stages, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            return write(program)
        return f"db.{program.container}.aggregate({stages})"
    return write(program)


def _is_plain(name: str) -> bool:
    return name.replace("_", "a").isalnum()


def _try(candidate: Candidate) -> Try:
    return Try(
        candidate.attempt,
        candidate.round,
        candidate.form,
        program_text(candidate.program) if candidate.program is not None else "",
        tuple(_finding(f) for f in candidate.findings),
        None if candidate.rows is None else len(candidate.rows),
    )


def _finding(finding: Finding) -> dict[str, Any]:
    text = _short(str(finding), FINDING_CHARS)
    return {"code": finding.code.value, "blocking": finding.blocking, "stage": finding.place.stage, "text": text}


def _traced(data: Mapping[str, Any]) -> Try:
    findings = tuple({**f, "stage": -1, "text": _short(f["text"], FINDING_CHARS)} for f in data["findings"])
    return Try(data["attempt"], data["round"], data["form"], data["program"], findings, data["rows"])


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
