"""`groundql bench compare`: two runs, or two solvers, on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from groundql.bench.compare import compare as compare_arms
from groundql.bench.compare import require_same_tasks
from groundql.bench.report.ablation_table import reference_of
from groundql.bench.report.reading import Arm, gather, named_arms, open_run
from groundql.errors import InputError
from groundql.faces.options import Output
from groundql.faces.show import Format, console, safe, show_json, show_rows

err = console()


def compare(
    first: Annotated[Path, typer.Argument(help="The folder of a scored run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another, or the same.", show_default=False)],
    solver: Annotated[str, typer.Option(help="The first run's solver; else its sag, or its first.")] = "",
    against: Annotated[str, typer.Option(help="The second run's solver; else the same one.")] = "",
    suite: Annotated[str, typer.Option(help="The suite they answer; a run knows its own.")] = "",
    output: Output = Format.TABLE,
) -> int:
    """Compare two scored runs on the same tasks: exact McNemar by both protocols, and every flip."""
    runs = [open_run(first), open_run(second)]
    if not suite:
        suite = require_same_tasks(runs)
    ours = _arm(named_arms(runs[:1]), solver, first)
    theirs = _arm(named_arms(runs[1:]), against or (ours.solver if first != second else ""), second)
    ours, theirs = _told_apart(ours, theirs)
    comparisons, flips = compare_arms(ours, theirs, gather([first, second], suite).suite)
    found = [comparison.to_record() for comparison in comparisons]
    listed = [flip.to_record() for flip in flips]
    if output is Format.JSON:
        show_json({"comparisons": found, "flips": listed})
        return 0
    if output is Format.TABLE:
        show_rows(found, list(found[0]) if found else (), output)
    show_rows(listed, list(listed[0]) if listed else (), output)
    if not listed:
        err.print(f"no task is right for only one of {safe(ours.name)} and {safe(theirs.name)}")
    return 0


def _arm(arms: Sequence[Arm], name: str, folder: Path) -> Arm:
    found = reference_of(arms, name)
    if found is None:
        names = ", ".join(arm.name for arm in arms)
        raise InputError(f"{folder} holds no solver {name!r}", hint=f"its solvers: {names}")
    return found


def _told_apart(ours: Arm, theirs: Arm) -> tuple[Arm, Arm]:
    """Name two arms of one solver by their runs."""
    if ours.name != theirs.name:
        return ours, theirs
    if ours.folder == theirs.folder:
        raise InputError("that is one solver of one run", hint="name another with --solver and --against")
    return replace(ours, name=f"{ours.name} ({ours.folder})"), replace(theirs, name=f"{theirs.name} ({theirs.folder})")
