"""`groundql bench report`: the paper's tables from scored runs, and one page to look at."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from groundql.bench.report.page import write_page
from groundql.bench.report.reading import Material, gather
from groundql.bench.report.table import Kind, Table
from groundql.bench.report.tables import make_tables
from groundql.bench.report.writing import cell, to_csv, to_markdown
from groundql.errors import InputError
from groundql.faces.show import console, safe, show_json
from groundql.grounding.fence import clean

PAGE = "report.html"
NOTE_CHARS = 400
CELL_CHARS = 160
err = console()


class Written(StrEnum):
    """How tables are written to standard output."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


def report(
    runs: Annotated[list[Path], typer.Argument(help="The folders of scored runs.", show_default=False)],
    suite: Annotated[str, typer.Option(help="The suite they answer; a run knows its own.", show_default=False)] = "",
    against: Annotated[
        str, typer.Option(help="The solver that others are held against; else sag, or the first.", show_default=False)
    ] = "",
    audit: Annotated[
        list[Path] | None, typer.Option(help="What `bench audit --out` wrote: which tasks are decidable.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="Write one page to look at, instead of tables.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes; else report.html in the first run's folder.")
    ] = None,
    tables: Annotated[str, typer.Option(help="Only these tables, separated by commas: I, III, IV, V, costs.")] = "",
    output: Annotated[
        Written, typer.Option("--format", "-f", help="How tables are written to standard output.")
    ] = Written.TABLE,
) -> int:
    """Report scored runs: main results, outcomes, slices, ablations and costs, as in the paper's tables."""
    material = gather(runs, suite, audit or ())
    made = make_tables(material, against)
    for note in material.notes:
        err.print(f"[yellow]note[/]     {safe(note)}")
    if html or out is not None:
        page = out or runs[0] / PAGE
        page.write_text(write_page(material, made), encoding="utf-8")
        err.print(f"page     {safe(str(page))}, {page.stat().st_size / 1e6:.1f} MB")
        return 0
    _write(_chosen(made, tables), output, material)
    return 0


def _chosen(made: Sequence[Table], names: str) -> list[Table]:
    """Keep the tables that are asked for.

    Raises: InputError for a name that none has.
    """
    known = list(dict.fromkeys(_part(table) for table in made))
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name.casefold() not in map(str.casefold, known)]
    if unknown:
        raise InputError(f"there is no table {unknown[0]!r}", hint=f"choose of: {', '.join(known)}")
    folded = {name.casefold() for name in wanted}
    return [table for table in made if not wanted or _part(table).casefold() in folded]


def _part(table: Table) -> str:
    return table.key.partition("-")[0]


def _write(tables: Sequence[Table], output: Written, material: Material) -> None:
    match output:
        case Written.JSON:
            told = {"suite": material.suite.name, "notes": list(material.notes)}
            show_json({**told, "tables": [table.to_record() for table in tables]})
        case Written.CSV:
            sys.stdout.write(to_csv(tables))
        case Written.MARKDOWN:
            sys.stdout.write("\n".join(map(to_markdown, tables)))
        case Written.TABLE:
            for table in tables:
                _show(table)


def _show(table: Table) -> None:
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(_title(table)), title_justify="left")
    for column in table.columns:
        shown.add_column(escape(clean(column.title)), justify="left" if column.kind is Kind.TEXT else "right")
    for row in table.rows:
        shown.add_row(*(escape(clean(cell(row.get(c.key), c.kind), CELL_CHARS)) for c in table.columns))
    wide = None if sys.stdout.isatty() else 10_000
    to = Console(file=sys.stdout, highlight=False, width=wide)
    to.print(shown)
    for note in table.notes:
        to.print(f"  {escape(clean(note, NOTE_CHARS))}", soft_wrap=True)
    to.print()


def _title(table: Table) -> str:
    return f"Table {table.key}. {table.title}" if table.key in ("I", "III", "IV", "V") else table.title
