"""All tables of a report, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from groundql.bench.case import CaseId
from groundql.bench.report.ablation_table import ablation_table, reference_of
from groundql.bench.report.cost_table import cost_table
from groundql.bench.report.dataset_table import dataset_table
from groundql.bench.report.main_tables import comparison_table, database_table, main_table, outcome_table
from groundql.bench.report.reading import Material
from groundql.bench.report.slice_table import slice_table
from groundql.bench.report.table import Table
from groundql.core.program import Claims
from groundql.errors import InputError


def make_tables(
    material: Material, against: str = "", claims: Mapping[CaseId, Claims] | None = None
) -> tuple[Table, ...]:
    """Make every table; `against` names the arm that the others are held against.

    Raises: InputError when there is no such arm.
    """
    reference = reference_of(material.arms, against)
    if reference is None:
        names = ", ".join(arm.name for arm in material.arms)
        raise InputError(f"there is no solver {against!r} in these runs", hint=f"choose of: {names}")
    return (
        dataset_table(material),
        main_table(material),
        outcome_table(material),
        database_table(material),
        comparison_table(material, reference),
        slice_table(material, claims),
        ablation_table(material, reference),
        cost_table(material),
    )
