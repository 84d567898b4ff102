"""Table IV: accuracy by slice; the paper's axes first, then ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from groundql.bench.case import CaseId
from groundql.bench.report.measures import accuracy
from groundql.bench.report.reading import Material
from groundql.bench.report.table import Column, Kind, Table
from groundql.bench.shape.slices import slices_of
from groundql.bench.shape.transfer import TransferLevel
from groundql.bench.verdict import PROTOCOLS
from groundql.core.program import Claims

PAPER: Final = ("schema_flex", "anti_sql", "anti_sql_labelled")
FIRST: Final = (*PAPER, "decidable", "category", "native_feature_type", "stages", "hops", "depth")
LEVELS: Final = [level.value for level in TransferLevel]
MOST_VALUES: Final = 24
"""An axis with more values than this is no breakdown but a list."""
Slices = dict[str, dict[str, list[CaseId]]]


def slice_table(material: Material, claims: Mapping[CaseId, Claims] | None = None) -> Table:
    """Table IV: EXC per slice and arm, each with its count and interval, by both protocols."""
    columns = [
        Column("axis", "axis"), Column("slice", "slice"), Column("tasks", "tasks", Kind.COUNT),
        Column("protocol", "protocol"), *(Column(f"arm {arm.name}", arm.name, Kind.SHARE) for arm in material.arms),
    ]  # fmt: skip
    rows = list(_rows(material, slices(material, claims or {})))
    notes = ["anti_sql is recomputed from the golds' operators; an axis that ends in _labelled is the release's own"]
    if not any(row["axis"] == "schema_flex" for row in rows):
        notes.append("this suite's records carry no schema_flex label")
    return Table("IV", "Slices", columns, rows, tuple(notes))


def slices(material: Material, claims: Mapping[CaseId, Claims]) -> Slices:
    """Sort the cases of a suite into slices. Shape: axis -> value -> cases; axes and values in their order."""
    found: Slices = {}
    for case in material.cases:
        placed = slices_of(material.suite.golds[case], claims.get(case))
        if case in material.decidable:
            placed["decidable"] = "yes" if material.decidable[case] else "no"
        for axis, value in placed.items():
            found.setdefault(axis, {}).setdefault(value, []).append(case)
    axes = sorted(found, key=lambda axis: (FIRST.index(axis) if axis in FIRST else len(FIRST), axis))
    return {axis: dict(sorted(found[axis].items(), key=_rank)) for axis in axes if len(found[axis]) <= MOST_VALUES}


def _rank(pair: tuple[str, Any]) -> tuple[int, str]:
    return (LEVELS.index(pair[0]) if pair[0] in LEVELS else 0, pair[0])


def _rows(material: Material, found: Slices) -> Iterator[dict[str, Any]]:
    for axis, values in found.items():
        for value, cases in values.items():
            for protocol in PROTOCOLS:
                figures = {f"arm {arm.name}": accuracy(arm, protocol, set(cases)) for arm in material.arms}
                yield {"axis": axis, "slice": value, "tasks": len(cases), "protocol": protocol, **figures}
