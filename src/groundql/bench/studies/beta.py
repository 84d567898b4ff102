"""The surplus that tend-v1 forgives, varied over real predictions: which verdicts hang on it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from groundql.bench.case import CaseId, Gold
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.execute import Ran
from groundql.bench.scoring.judging import Bench
from groundql.bench.scoring.tend_v1 import Rules
from groundql.bench.verdict import TEND_V1
from groundql.core.ports import Database

BETAS: Final = (0.0, 1.0, 2.0, 3.0, inf)


@dataclass(frozen=True, slots=True)
class Swept:
    """Whether one prediction is correct under each beta, in the order of `BETAS`."""

    id: CaseId
    solver: str
    correct: tuple[bool, ...]

    @property
    def changes(self) -> bool:
        """Whether its verdict hangs on beta."""
        return len(set(self.correct)) > 1


async def sweep(database: Database, gold: Gold, predictions: Sequence[Prediction]) -> list[Swept]:
    """Judge one case's predictions by tend-v1 under every beta; each program runs once."""
    ran = dict[str, Ran]()
    benches = [Bench(database, gold, Rules(beta=beta), (TEND_V1,), ran=ran) for beta in BETAS]
    found: list[Swept] = []
    for prediction in predictions:
        judged = [await bench.judge(prediction) for bench in benches]
        correct = tuple(one.verdicts[TEND_V1].is_correct for one in judged)
        found.append(Swept(prediction.id, prediction.solver, correct))
    return found


def sweep_rows(swept: Iterable[Swept]) -> list[dict[str, Any]]:
    """Add up per solver: how many are correct under each beta, and how many verdicts hang on it."""
    by_solver: dict[str, list[Swept]] = {}
    for one in swept:
        by_solver.setdefault(one.solver, []).append(one)
    return [
        {
            "system": solver, "tasks": len(found),
            **{f"beta {beta:g}": sum(one.correct[place] for one in found) for place, beta in enumerate(BETAS)},
            "verdicts_that_change": sum(one.changes for one in found),
        }
        for solver, found in by_solver.items()
    ]  # fmt: skip
