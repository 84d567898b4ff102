"""`groundql bench stats`: what the tasks of a suite are like."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from groundql.bench.case import Suite
from groundql.bench.datasets import open_suite
from groundql.bench.datasets.sizes import sizes_of
from groundql.bench.shape.statistics import Statistics, statistics_by_database, suite_statistics
from groundql.bench.shape.titles import told
from groundql.errors import InputError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, show_rows

PER_DATABASE = (
    "tasks", "queried", "collections", "documents", "stages_median", "operators_median", "scoped_skeletons",
    "largest_scoped_family", "entropy", "entropy_over_tasks", "complexity_mean",
)  # fmt: skip
err = console()


def stats(
    suite: Annotated[str, typer.Argument(help="worlds, worlds:NAME, folder:PATH, a folder, or tend.")],
    databases: Annotated[str, typer.Option(help="Only these databases, separated by commas.")] = "",
    by_database: Annotated[bool, typer.Option("--by-database", help="One row for each database.")] = False,
    documents: Annotated[bool, typer.Option("--documents", help="Also read the stored data, and count it.")] = False,
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Describe a suite's tasks by the published statistics: stages, operators, signatures, skeletons, complexity."""
    whole = open_suite(suite)
    chosen = whole.narrowed(databases=[name.strip() for name in databases.split(",") if name.strip()])
    if not chosen.cases:
        raise InputError(f"no task of {suite} is left", hint=f"its databases: {', '.join(whole.databases)}")
    sizes = None
    if documents:
        with Live(err, quiet=quiet) as live:
            sizes = sizes_of(chosen, live.loading)
    if by_database:
        return _show_databases(statistics_by_database(chosen, sizes), output)
    return _show_whole(chosen, suite_statistics(chosen, sizes), output)


def _show_whole(suite: Suite, found: Statistics, output: Format) -> int:
    if output in (Format.JSON, Format.JSONL):
        show_rows([{"suite": suite.name, **asdict(found)}], (), output)
    else:
        show_rows(told(found), ("statistic", "value"), output)
    return 0


def _show_databases(found: dict[str, Statistics], output: Format) -> int:
    rows: list[dict[str, Any]] = [{"database": name, **asdict(each)} for name, each in found.items()]
    columns = [c for c in PER_DATABASE if any(row[c] is not None for row in rows)]
    show_rows(rows, ("database", *columns), output)
    return 0
