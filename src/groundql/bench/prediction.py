"""What a solver handed in for a case, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
