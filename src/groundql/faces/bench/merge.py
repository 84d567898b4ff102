"""`groundql bench merge`: put the parts of one run together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundql.bench.running.merge import merge as merge_runs
from groundql.faces.show import console, safe

err = console()


def merge(
    out: Annotated[Path, typer.Argument(help="The new run's folder.", show_default=False)],
    runs: Annotated[list[Path], typer.Argument(help="The folders to merge.", show_default=False)],
) -> int:
    """Merge runs that were made alike, such as the shards of one, into a new folder."""
    merged = merge_runs(out, runs)
    twice = f", {merged.twice:,} found twice and kept once" if merged.twice else ""
    err.print(f"merged   {merged.predictions:,} predictions into {safe(str(out))}{twice}")
    if merged.open_tasks:
        err.print(
            f"[yellow]note[/]     {merged.open_tasks:,} tasks are not done: groundql bench run --out {safe(str(out))}"
        )
    return 0
