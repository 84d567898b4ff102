"""Table V: the ladder, the knockouts and the controls, each against the full solver on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from groundql.bench.report.main_tables import COMPARED, HOLM_NOTE, comparisons, protocols_of
from groundql.bench.report.measures import measure
from groundql.bench.report.reading import Arm, Material
from groundql.bench.report.table import Column, Kind, Table
from groundql.bench.verdict import PROTOCOLS
from groundql.solvers.recipes import CONTROLS, KNOCKOUTS, LADDER, SAG

PARTS: Final = (("ladder", LADDER), ("knockout", KNOCKOUTS), ("control", CONTROLS))
PART_OF: Final = {solver.name: part for part, solvers in PARTS for solver in solvers}
ORDER: Final = {solver.name: rank for rank, solver in enumerate((*LADDER, *KNOCKOUTS, *CONTROLS))}
COLUMNS: Final = (
    Column("part", "part"),
    Column("arm", "solver"),
    Column("protocol", "protocol"),
    Column("exc", "EXC", Kind.SHARE),
    Column("exf1", "EXF1", Kind.SHARE),
    Column("delta", "difference", Kind.POINTS),
    *(column for column in COMPARED if column.key not in ("protocol", "paired", "difference")),
)


def reference_of(arms: Sequence[Arm], name: str = "") -> Arm | None:
    """Return the arm that others are held against: the one named, else the full solver, else the first."""
    if name:
        return next((arm for arm in arms if name in (arm.name, arm.solver)), None)
    return next((arm for arm in arms if arm.solver == SAG.name), arms[0] if arms else None)


def ablation_table(material: Material, reference: Arm) -> Table:
    """Table V: what is lost without each part; differences are the arm's EXC less the reference's."""
    arms = sorted((arm for arm in material.arms if arm.solver in PART_OF), key=lambda arm: ORDER[arm.solver])
    others = [arm for arm in arms if arm is not reference and arm.model == reference.model]
    rows = [row for protocol in PROTOCOLS for row in _rows(reference, others, protocol, material)] if others else []
    notes = [
        f"wins: only {reference.name} is correct; losses: only the row's solver is; p: exact two-sided McNemar",
        f"{HOLM_NOTE}, the reference's left out",
    ]
    if not others:
        notes = ["these runs hold no rung of the ladder, knockout or control besides the reference"]
    return Table("V", f"Ablations against {reference.name}", COLUMNS, rows, tuple(notes))


def _rows(reference: Arm, others: Sequence[Arm], protocol: str, material: Material) -> list[dict[str, Any]]:
    compared = {row["arm"]: row for row in comparisons(reference, others, protocol, material.cases)}
    rows: list[dict[str, Any]] = []
    for arm in (reference, *others):
        if protocol not in protocols_of(arm):
            continue
        measured = measure(arm, protocol, material.cases)
        part = "reference" if arm is reference else PART_OF[arm.solver]
        rows.append({"part": part, "arm": arm.name, "protocol": protocol, "exc": measured.exc, "exf1": measured.exf1})
        if arm is not reference:
            rows[-1] |= {**compared[arm.name], "delta": compared[arm.name]["difference"].negated()}
    return rows
