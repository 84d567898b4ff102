"""`groundql bench score`: judge predictions, ours or anybody's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import anyio
import typer

from groundql.bench.case import CaseId, Suite
from groundql.bench.datasets import open_suite
from groundql.bench.hosts import Host
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.figures import figures, to_row
from groundql.bench.scoring.score import Scoring, narrowed_to
from groundql.bench.scoring.submissions import read_submissions
from groundql.bench.scoring.tend_v1 import Rules
from groundql.bench.verdict import PROTOCOLS, Bucket
from groundql.config import Settings, load_settings
from groundql.errors import InputError, LoadError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows

MANIFEST = "manifest.json"
LISTED = 5
err = console()


class Protocols(StrEnum):
    """Which protocols to score by."""

    BOTH = "both"
    TEND_V1 = "tend-v1"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Input:
    """One thing to score: its predictions, the suite they answer, and where verdicts are kept, if anywhere."""

    path: Path
    suite: Suite
    predictions: Sequence[Prediction]
    folder: Path | None


def score(
    inputs: Annotated[list[Path], typer.Argument(help="Runs' folders and files of predictions.", show_default=False)],
    suite: Annotated[str, typer.Option(help="The suite they answer; a run knows its own.", show_default=False)] = "",
    protocol: Annotated[Protocols, typer.Option(help="What to judge by.")] = Protocols.BOTH,
    databases: Annotated[str, typer.Option(help="Only these databases, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(help="Only the first so many tasks.", min=1)] = None,
    row_cap: Annotated[
        bool,
        typer.Option("--row-cap", help="Under tend-v1, stop one row beyond the gold's, as its later version does."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="A folder for a file's verdicts and rows; a run's go into its own.")
    ] = None,
    db: Annotated[str, typer.Option("--db", help="A server that holds the suite's databases, as mongodb://HOST.")] = "",
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Score predictions by both protocols: EXC, EXF1 and outcome buckets per system."""
    if out is not None and len(inputs) > 1:
        raise InputError("--out takes the verdicts of one file", hint="score one file at a time")
    found = [read_input(path, suite, _names(databases), limit, out) for path in inputs]
    chosen = PROTOCOLS if protocol is Protocols.BOTH else (protocol.value,)
    settings = load_settings().settings
    rows: list[dict[str, Any]] = []
    with Live(err, quiet=quiet) as live:
        for one in found:
            added = anyio.run(_score, one, chosen, Rules(row_cap=row_cap), db, settings, live)
            rows += [{"input": str(one.path), **row} for row in added]
    show_figures(rows, output, several=len(inputs) > 1, row_cap=row_cap)
    return 0


def read_input(path: Path, suite: str, databases: Sequence[str], limit: int | None, out: Path | None) -> Input:
    """Open what is to be scored with the suite it answers.

    Raises: InputError when nothing says which suite that is, LoadError for files of the wrong form.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    manifest = _manifest(path)
    name = suite or _suite_name(manifest)
    if not name:
        raise InputError(f"{path} does not say which suite it answers", hint="give it with --suite, such as worlds")
    whole = open_suite(name)
    planned = whole if suite else _planned(whole, manifest)
    narrowed = planned.narrowed(databases=databases, limit=limit)
    if not narrowed.cases:
        raise InputError(f"no task of {name} is left to score", hint=f"its databases: {', '.join(whole.databases)}")
    kept = set(narrowed.databases) if databases or limit else None
    predictions = [p for p in read_submissions(path, whole) if kept is None or _belongs(p.id, narrowed, whole)]
    return Input(path, narrowed, predictions, out or (path if path.is_dir() else None))


def _belongs(case: CaseId, narrowed: Suite, whole: Suite) -> bool:
    """Whether a prediction is among what is asked for; one that the whole suite does not know stays, and is told."""
    return case in {c.id for c in narrowed.cases} or case not in whole.golds


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    if not file.is_file():
        return {}
    try:
        return cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
    except json.JSONDecodeError as error:
        raise LoadError(f"{file}, line {error.lineno}: not JSON ({error.msg})") from None


def _suite_name(manifest: dict[str, Any]) -> str:
    named: Any = manifest.get("suite")
    if isinstance(named, dict):
        named = cast("dict[str, Any]", named).get("name")
    return str(named or "")


def _planned(suite: Suite, manifest: dict[str, Any]) -> Suite:
    """Keep the tasks that a run set out to answer, where its manifest lists them."""
    listed: Any = manifest.get("cases")
    if not isinstance(listed, list) or not listed:
        return suite
    pairs = cast("list[Any]", listed)
    return narrowed_to(suite, (CaseId(str(database), int(number)) for database, number in pairs))


async def _score(
    one: Input, protocols: Sequence[str], rules: Rules, server: str, settings: Settings, live: Live
) -> list[dict[str, Any]]:
    async with Host(one.suite, settings, server, on_load=live.loading) as host:
        scoring = Scoring(one.suite, host, protocols, rules, one.folder)
        scoring.on_case = lambda done, of: live.say(f"scored {done:,} of {of:,} tasks")
        scored = [verdict async for verdict in scoring.score(one.predictions)]
    live.stop()
    known = {case.id for case in one.suite.cases}
    _remark(one, scoring, known)
    return [to_row(line) for line in figures(scored, known)]


def _remark(one: Input, scoring: Scoring, known: set[CaseId]) -> None:
    """Tell what a reader of the figures should know."""
    for case, problem in list(scoring.gold_problems.items())[:LISTED]:
        err.print(f"[yellow]note[/]     {safe(f'{case}: {problem}')}; every prediction for it counts as no submission")
    if len(scoring.gold_problems) > LISTED:
        err.print(f"[yellow]note[/]     and {len(scoring.gold_problems) - LISTED} more golds that gave no rows")
    strangers = [p.id for p in one.predictions if p.id not in known]
    if strangers:
        err.print(f"[yellow]note[/]     {len(strangers)} predictions name no task of the suite, such as {strangers[0]}")


def show_figures(rows: Sequence[dict[str, Any]], output: Format, *, several: bool, row_cap: bool) -> None:
    """Write the figures; in a table, shares are percentages and columns that say nothing are left out."""
    idle = set[str]()
    if output in (Format.TABLE, Format.CSV):
        idle = {"input"} - ({"input"} if several else set())
        idle |= {"repeat"} if not any(row["repeat"] for row in rows) else set()
        idle |= set() if row_cap else {Bucket.ROW_COUNT_EXCEEDED.value}
    columns = [name for name in (rows[0] if rows else ()) if name not in idle]
    shown = [_in_percent(row) for row in rows] if output is Format.TABLE else rows
    show_rows(shown, columns, output)


def _in_percent(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "EXC": f"{100 * row['EXC']:.1f} %", "EXF1": f"{100 * row['EXF1']:.1f} %"}
