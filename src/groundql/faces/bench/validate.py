"""`groundql bench validate`: does a release keep the rules of releases?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from groundql.bench.audit import Auditor, Level
from groundql.bench.datasets import open_folder
from groundql.bench.hosts import Host
from groundql.bench.validate import READ_CHECKS, Rule, Rules, Severity, Violation, validate
from groundql.config import Settings, load_settings
from groundql.core.counted import counted
from groundql.errors import LoadError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows

COLUMNS = ("severity", "rule", "place", "message")
SHOWN_IN_TABLE = 200
SEVERITIES = {Level.ERROR: Severity.ERROR, Level.UNDECIDED: Severity.WARNING}
err = console()


def validate_(
    folder: Annotated[Path, typer.Argument(help="The release's folder, or one file of records.")],
    full: Annotated[bool, typer.Option("--full", help="Also shares, files, checksums, provenance and claims.")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Also run and audit every gold, without mutants.")] = False,
    databases: Annotated[int | None, typer.Option(help="How many databases are expected.", min=1)] = None,
    per_database: Annotated[int | None, typer.Option(help="How many records of each are expected.", min=1)] = None,
    db: Annotated[str, typer.Option("--db", help="A server that holds its databases, as mongodb://HOST.")] = "",
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Hold a release against the published rules; --full and --execute add more of them."""
    path = folder.expanduser()
    found = validate(path, Rules(full, per_database, databases))
    if execute:
        with Live(err, quiet=quiet) as live:
            found += anyio.run(_executed, path, db, load_settings().settings, live)
    cut = SHOWN_IN_TABLE if output is Format.TABLE else None
    show_rows([_row(violation) for violation in found[:cut]], COLUMNS, output)
    return _summarise(found, cut)


async def _executed(path: Path, server: str, settings: Settings, live: Live) -> list[Violation]:
    """Run what can be opened as a suite; records that cannot are told by the other rules."""
    try:
        suite = open_folder(path, f"folder:{path}")
    except LoadError as error:
        return [Violation(Rule.EXECUTION, f"nothing was run: {error}")]
    found: list[Violation] = []
    async with Host(suite, settings, server, on_load=live.loading) as host:
        auditor = Auditor(suite, host, with_mutants=False)
        for number, case in enumerate(suite.cases, 1):
            live.say(f"running {case.id}, {number:,} of {len(suite.cases):,} tasks")
            audit = await auditor.audit(case)
            found += (
                Violation(Rule.EXECUTION, str(remark), str(case.id), SEVERITIES[remark.level])
                for remark in audit.remarks
                if remark.level in SEVERITIES and remark.check not in READ_CHECKS
            )
    return found


def _row(violation: Violation) -> dict[str, Any]:
    return {
        "severity": violation.severity.value,
        "rule": violation.rule.value,
        "place": violation.place,
        "message": violation.message,
    }


def _summarise(found: list[Violation], cut: int | None) -> int:
    """Say on standard error what was found; returns the exit code."""
    if cut is not None and len(found) > cut:
        err.print(f"[dim]the first {cut} of {len(found):,} are shown; --format jsonl gives all[/]")
    counts = {severity: [v for v in found if v.severity is severity] for severity in Severity}
    for severity, violations in counts.items():
        by_rule = ", ".join(f"{rule.value} {n:,}" for rule, n in Counter(v.rule for v in violations).most_common())
        if violations:
            err.print(f"[dim]{counted(len(violations), severity.value)}: {safe(by_rule)}[/]")
    if counts[Severity.ERROR]:
        return 1
    warned = counts[Severity.WARNING]
    err.print(f"[green]valid[/], with {counted(len(warned), 'warning')}" if warned else "[green]valid[/]")
    return 0
