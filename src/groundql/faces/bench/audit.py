"""`groundql bench audit`: do a suite's golds hold, and do its questions decide their answers?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from groundql.bench.audit import Audit, Auditor, Level
from groundql.bench.case import Suite
from groundql.bench.datasets import open_suite
from groundql.bench.datasets.suites import KINDS
from groundql.bench.hosts import Host
from groundql.config import Settings, load_settings
from groundql.errors import InputError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows

COLUMNS = ("db_id", "record_id", "level", "check", "remark")
err = console()


def audit(
    suite: Annotated[str, typer.Argument(help="worlds, worlds:NAME, folder:PATH, a folder, or tend.")],
    databases: Annotated[str, typer.Option(help="Only these databases, separated by commas.")] = "",
    records: Annotated[str, typer.Option(help="Only these records, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(help="Only the first so many tasks.", min=1)] = None,
    mutants: Annotated[bool, typer.Option(help="Also try plausible wrong programs.")] = True,
    out: Annotated[Path | None, typer.Option(help="A file for the full audit, a JSON object per task.")] = None,
    db: Annotated[str, typer.Option("--db", help="A server that holds the suite's databases, as mongodb://HOST.")] = "",
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Audit a suite's golds: executed, read against the data, and held against the words of their questions."""
    chosen = _open(suite, databases, records, limit)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("", encoding="utf-8")
    with Live(err, quiet=quiet) as live:
        audits = anyio.run(_audit, chosen, db, load_settings().settings, live, mutants, out)
    show_rows([row for a in audits for row in _rows(a)], COLUMNS, output)
    _summarise(audits)
    return 0 if all(a.is_sound for a in audits) else 1


def _open(text: str, databases: str, records: str, limit: int | None) -> Suite:
    is_suite = text.partition(":")[0] in {kind.partition(":")[0] for kind in KINDS}
    name = f"folder:{text}" if not is_suite and Path(text).expanduser().exists() else text
    whole = open_suite(name)
    try:
        numbers = [int(number) for number in _names(records)]
    except ValueError:
        raise InputError("--records takes numbers separated by commas") from None
    narrowed = whole.narrowed(databases=_names(databases), records=numbers, limit=limit)
    if not narrowed.cases:
        raise InputError(f"no task of {text} is left to audit", hint=f"its databases: {', '.join(whole.databases)}")
    return narrowed


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


async def _audit(
    suite: Suite, server: str, settings: Settings, live: Live, mutants: bool, out: Path | None
) -> list[Audit]:
    audits: list[Audit] = []
    async with Host(suite, settings, server, on_load=live.loading) as host:
        auditor = Auditor(suite, host, mutants)
        for number, case in enumerate(suite.cases, 1):
            live.say(f"auditing {case.id}, {number:,} of {len(suite.cases):,} tasks")
            audits.append(await auditor.audit(case))
            if out is not None:
                with out.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(audits[-1].to_record(), ensure_ascii=False) + "\n")
    return audits


def _rows(audit: Audit) -> list[dict[str, Any]]:
    return [
        {
            "db_id": audit.id.database,
            "record_id": audit.id.record_id,
            "level": remark.level.value,
            "check": remark.check.value,
            "remark": str(remark),
        }
        for remark in audit.remarks
    ]


def _summarise(audits: Sequence[Audit]) -> None:
    """Say on standard error how many tasks are sound and decidable, and what kinds of remarks there are."""
    sound = sum(a.is_sound for a in audits)
    decidable = sum(bool(a.is_decidable) for a in audits)
    tried, told = sum(a.mutants for a in audits), sum(a.mutants - len(a.survivors) for a in audits)
    err.print(f"[dim]{len(audits):,} tasks: {sound:,} sound, {decidable:,} decidable[/]")
    if tried:
        err.print(f"[dim]{tried:,} mutants, {told:,} of them told from their gold by the data[/]")
    kinds = Counter((r.level, r.check) for a in audits for r in a.remarks)
    for level in Level:
        found = ", ".join(f"{check.value} {n}" for (of, check), n in kinds.most_common() if of is level)
        if found:
            err.print(f"[dim]{level.value}: {safe(found)}[/]")
