"""`groundql bench study`: what figures hang on."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import anyio
import typer

from groundql.bench.case import CaseId, Suite
from groundql.bench.hosts import Host
from groundql.bench.prediction import Prediction
from groundql.bench.report.reading import Material, gather, open_run
from groundql.bench.studies.beta import Swept, sweep, sweep_rows
from groundql.bench.studies.churn import churn as churn_rows
from groundql.bench.studies.counterfactual import Probed, exchanged, probe, probed_rows
from groundql.bench.verdict import STRICT
from groundql.config import Settings, load_settings
from groundql.errors import InputError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows

studies = typer.Typer(help="Study what a run's figures hang on.", no_args_is_help=True)
err = console()
LISTED = 20

Run: TypeAlias = Annotated[Path, typer.Argument(help="The folder of a scored run.", show_default=False)]
Server: TypeAlias = Annotated[
    str, typer.Option("--db", help="A server that holds the suite's databases, as mongodb://HOST.")
]
Named: TypeAlias = Annotated[str, typer.Option(help="The suite it answers; a run knows its own.")]


@studies.command("churn")
def churn(run: Run, output: Output = Format.TABLE) -> int:
    """Compare the repeats of a run: how many verdicts change when the same is asked again."""
    rows = churn_rows(open_run(run).scores)
    if not rows:
        raise InputError(f"{run} asked everything once", hint="run it with --repeat 2 or more")
    _show(rows, output)
    return 0


@studies.command("beta")
def beta(run: Run, suite: Named = "", db: Server = "", output: Output = Format.TABLE, quiet: Quiet = False) -> int:
    """Judge a run by tend-v1 with 0, 1, 2, 3 and any number of surplus values."""
    material = gather([run], suite)
    with Live(err, quiet=quiet) as live:
        swept = anyio.run(_sweep, material, db, load_settings().settings, live)
    _show(sweep_rows(swept), output)
    changed = [f"{one.id} ({one.solver})" for one in swept if one.changes]
    if changed:
        err.print(f"[dim]their verdicts change: {safe(', '.join(changed[:LISTED]))}[/]")
    return 0


@studies.command("counterfactual")
def counterfactual(
    run: Run,
    suite: Named = "",
    db: Server = "",
    seed: Annotated[int, typer.Option(help="Which values change places.")] = 0,
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Judge a run again on data whose values changed places; what is right only on the stored data is flagged."""
    material = gather([run], suite)
    with Live(err, quiet=quiet) as live:
        tested = anyio.run(_counterfactual, material, db, load_settings().settings, live, seed)
    _show(probed_rows(tested), output)
    flagged = [f"{one.id} ({one.solver})" for one in tested if one.is_flagged(STRICT)]
    if flagged:
        err.print(f"[dim]flagged under strict: {safe(', '.join(flagged[:LISTED]))}[/]")
    return 0


def _predictions(material: Material, case: CaseId) -> list[Prediction]:
    return [arm.predictions[case] for arm in material.arms if case in arm.predictions]


async def _sweep(material: Material, server: str, settings: Settings, live: Live) -> list[Swept]:
    found: list[Swept] = []
    async with Host(material.suite, settings, server, on_load=live.loading) as host:
        for number, case in enumerate(material.cases, 1):
            live.say(f"judged {number:,} of {len(material.cases):,} tasks")
            database = await host.database(case.database)
            found += await sweep(database, material.suite.golds[case], _predictions(material, case))
    return found


async def _counterfactual(material: Material, server: str, settings: Settings, live: Live, seed: int) -> list[Probed]:
    found: list[Probed] = []
    async with Host(material.suite, settings, server, on_load=live.loading, listen=live.grounding) as host:
        for name in material.suite.databases:
            with tempfile.TemporaryDirectory() as folder:
                database, grounder = await host.database(name), await host.grounder(name)
                other = await exchanged(material.suite, name, database, grounder.catalog, Path(folder), seed)
                found += await _probe(material, name, host, other, settings, live)
    return found


async def _probe(
    material: Material, name: str, host: Host, other: Suite, settings: Settings, live: Live
) -> list[Probed]:
    found: list[Probed] = []
    async with Host(other, settings) as there:
        for case in (case for case in material.cases if case.database == name):
            live.say(f"judging {case} on both")
            stored, exchanged_one = await host.database(name), await there.database(name)
            found += await probe(material.suite.golds[case], _predictions(material, case), stored, exchanged_one)
    return found


def _show(rows: Sequence[dict[str, Any]], output: Format) -> None:
    show_rows(rows, list(rows[0]) if rows else (), output)
