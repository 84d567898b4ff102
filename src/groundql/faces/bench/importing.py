"""`groundql bench import`: tell where a published release lies, and whether it is the published one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from groundql.bench.datasets.checksums import Checked, Match
from groundql.bench.datasets.imports import default_imports, remember
from groundql.bench.datasets.release import Brought, bring, published_figures
from groundql.core.counted import counted
from groundql.errors import InputError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows

COLUMNS = ("file", "result", "detail", "path")
TEND = "tend"
err = console()


def import_(
    suite: Annotated[str, typer.Argument(help="The published suite; tend is the one.")],
    path: Annotated[Path, typer.Argument(help="The release's folder, extracted, or its file of records.")],
    data: Annotated[
        Path | None, typer.Option(help="The folder with the documents, when they are not beside the records.")
    ] = None,
    checksums: Annotated[bool, typer.Option(help="Compare the documents' SHA-256 with the published ones.")] = True,
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Import a published release from where it lies: compare it with the published figures and remember the place."""
    if suite != TEND:
        raise InputError(f"there is no published suite {suite!r}", hint="tend is the one; open others as folder:PATH")
    with Live(err, quiet=quiet) as live:

        def on_file(name: str, read_bytes: int, size_bytes: int) -> None:
            live.say(f"checking {name}: {read_bytes / 1e6:,.0f} of {size_bytes / 1e6:,.0f} MB")

        given = None if data is None else data.expanduser()
        brought = bring(path.expanduser(), published_figures(), data=given, with_checksums=checksums, on_file=on_file)
    if not brought.imported.sources:
        raise InputError(
            f"no documents were found beside {brought.imported.records}",
            hint="put the databases' .json files into mongodb_data beside it, or say with --data where they are",
        )
    remember(default_imports(), suite, brought.imported)
    show_rows([_row(each) for each in brought.checked], COLUMNS, output)
    _summarise(brought)
    return 0 if brought.is_as_published else 1


def _row(checked: Checked) -> dict[str, Any]:
    path = str(checked.path) if checked.path else ""
    return {"file": checked.name, "result": checked.match.value, "detail": checked.detail, "path": path}


def _summarise(brought: Brought) -> None:
    """Say on standard error what was imported, and what that leaves out."""
    tasks, sources = counted(brought.tasks, "task"), counted(len(brought.imported.sources), "database")
    err.print(f"[dim]imported {tasks} and {sources} from {safe(str(brought.imported.records.parent))}[/]")
    missing = [each.name for each in brought.checked if each.match is Match.MISSING and not each.detail]
    if missing:
        names = safe(", ".join(missing))
        err.print(f"[yellow]note[/]     without documents: {names}; choose the others with --databases")
    for each in brought.checked:
        if each.match is Match.PARTLY:
            err.print(f"[yellow]note[/]     {safe(each.name)} holds part of the published records: {safe(each.detail)}")
    if not brought.is_as_published:
        err.print("[yellow]note[/]     figures from data that differs cannot stand beside published ones")
