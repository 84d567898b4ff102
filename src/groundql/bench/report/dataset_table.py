"""Table I: what the tasks that were asked are like."""

from __future__ import annotations

from typing import Final

from groundql.bench.report.reading import Material
from groundql.bench.report.table import Column, Table
from groundql.bench.shape.statistics import suite_statistics
from groundql.bench.shape.titles import told

COLUMNS: Final = (Column("statistic", "statistic"), Column("value", "value"))


def dataset_table(material: Material) -> Table:
    """Write the dataset's figures, one a row; what needs the stored documents is left out."""
    note = "over the tasks of this report; `groundql bench stats` measures a whole suite and its documents"
    return Table("I", "Dataset", COLUMNS, told(suite_statistics(material.suite)), (note,))
