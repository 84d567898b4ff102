"""What a solver handed in for a case, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from groundql.bench.case import CaseId
from groundql.core.budget import Usage


@dataclass(frozen=True, slots=True)
class Try:
    """One candidate on the way to a prediction, as text, for people who read a run afterwards.

    Shape: `findings` are JSON-ready objects (code, blocking, stage counted from 0 or -1, text).
    """

    attempt: int
    round: int
    form: str
    mql: str
    findings: tuple[Mapping[str, Any], ...] = ()
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What one solver handed in for one case.

    Shape: `mql` is the program as text, empty when nothing was handed in; `failure` then names the reason in one word
    (abstained, no_candidate, timeout, budget, model, database, error) and `detail` tells it in a line. `repeat` counts
    reruns of the same case from 0.
    Units: seconds
    """

    id: CaseId
    solver: str
    mql: str = ""
    failure: str = ""
    detail: str = ""
    model: str = ""
    usage: Usage = Usage()
    elapsed_s: float = 0.0
    rounds: int = 0
    tries: tuple[Try, ...] = ()
    repeat: int = 0


def to_record(prediction: Prediction) -> dict[str, Any]:
    """Write a prediction as the JSON object that a run keeps; the first four fields are those of published ones."""
    return {
        "record_id": prediction.id.record_id,
        "db_id": prediction.id.database,
        "system": prediction.solver,
        "MQL": prediction.mql,
        "failure": prediction.failure,
        "detail": prediction.detail,
        "model": prediction.model,
        "usage": asdict(prediction.usage),
        "elapsed_s": round(prediction.elapsed_s, 3),
        "rounds": prediction.rounds,
        "tries": [asdict(tried) for tried in prediction.tries],
        "repeat": prediction.repeat,
    }


def from_record(record: Mapping[str, Any]) -> Prediction:
    """Read back what `to_record` wrote.

    Raises: KeyError or TypeError for an object of another form.
    """
    usage: dict[str, Any] = dict(record.get("usage") or {})
    tries: list[dict[str, Any]] = list(record.get("tries") or ())
    return Prediction(
        id=CaseId(str(record["db_id"]), int(record["record_id"])),
        solver=str(record["system"]),
        mql=record.get("MQL") or "",
        failure=record.get("failure") or "",
        detail=record.get("detail") or "",
        model=record.get("model") or "",
        usage=Usage(**usage),
        elapsed_s=record.get("elapsed_s") or 0.0,
        rounds=record.get("rounds") or 0,
        tries=tuple(_try(tried) for tried in tries),
        repeat=record.get("repeat") or 0,
    )


def _try(record: Mapping[str, Any]) -> Try:
    fields: dict[str, Any] = {**record, "findings": tuple(record.get("findings", ()))}
    return Try(**fields)
