"""What answers cost: calls, tokens, money, rounds and time, per task and per correct answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from groundql.bench.prediction import Prediction
from groundql.bench.report.measures import correctness
from groundql.bench.report.reading import Arm, Material
from groundql.bench.report.table import Column, Kind, Table
from groundql.bench.verdict import PROTOCOLS

COLUMNS: Final = (
    Column("arm", "solver"),
    Column("model", "model"),
    Column("per", "per"),
    Column("of", "of", Kind.COUNT),
    Column("calls", "calls", Kind.NUMBER),
    Column("prompt_tokens", "prompt tokens", Kind.NUMBER),
    Column("cached_tokens", "cached", Kind.NUMBER),
    Column("completion_tokens", "completion tokens", Kind.NUMBER),
    Column("cost_usd", "USD", Kind.USD),
    Column("rounds", "rounds", Kind.NUMBER),
    Column("model_s", "model s", Kind.SECONDS),
    Column("database_s", "database s", Kind.SECONDS),
    Column("elapsed_s", "wall s", Kind.SECONDS),
)
USED: Final = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "model_s", "database_s")


def cost_table(material: Material) -> Table:
    """Write what each arm spent, whole, per task and per correct answer under each protocol."""
    known = set(material.cases)
    rows: list[dict[str, Any]] = []
    for arm in material.arms:
        if arm.predictions:
            spent, divisors = totals(list(arm.predictions.values())), {"task": len(arm.predictions)}
            divisors |= {f"correct, {p}": sum(correctness(arm, p, known).values()) for p in PROTOCOLS}
            rows += [_row(arm, spent, per, of) for per, of in divisors.items()]
    notes = ["USD is empty where the price of a call is not known; wall time also counts what waits beside other tasks"]
    if any(not arm.predictions for arm in material.arms):
        notes.append("predictions from elsewhere tell nothing of their cost")
    return Table("costs", "Costs", COLUMNS, rows, tuple(notes))


def totals(predictions: Sequence[Prediction]) -> dict[str, float | None]:
    """Add up what predictions cost; `cost_usd` is None when a price is unknown."""
    priced = [prediction.usage.cost_usd for prediction in predictions]
    known = [price for price in priced if price is not None]
    return {
        **{name: float(sum(getattr(p.usage, name) for p in predictions)) for name in USED},
        "cost_usd": sum(known) if len(known) == len(priced) else None,
        "rounds": float(sum(p.rounds for p in predictions)),
        "elapsed_s": sum(p.elapsed_s for p in predictions),
    }


def _row(arm: Arm, spent: dict[str, float | None], per: str, of: int) -> dict[str, Any]:
    shared = {name: None if value is None or not of else value / of for name, value in spent.items()}
    return {"arm": arm.name, "model": arm.model, "per": per, "of": of, **shared}
