"""Rows and answers for people: tables on a terminal, JSON, JSON lines and CSV for programs."""

from __future__ import annotations

import csv
import datetime as dt
import json
import sys
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from groundql.core.answer import Answer, Candidate, Evidence, Outcome, StageCount
from groundql.core.budget import Usage
from groundql.core.counted import counted
from groundql.core.finding import Finding
from groundql.core.program import Program
from groundql.core.rows import Rows
from groundql.faces.data import ejson
from groundql.grounding.fence import clean
from groundql.languages.read import Form, write
from groundql.solvers.explain import share_text

CELL_CHARS = 80
LISTED = 12
READING_ROWS = 3
OLD = dt.timedelta(days=1)
"""A grounding older than this is something to watch: most databases change from day to day."""
READING_CHARS = 160
LINE_CHARS = 4000


class Format(StrEnum):
    """How data is written to standard output."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


def console(*, stderr: bool = True) -> Console:
    """Return a console; by default on standard error, where everything goes that is not data."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def show_rows(
    rows: Iterable[Mapping[str, Any]], columns: Iterable[str], form: Format, out: TextIO | None = None
) -> None:
    """Write records to standard output in one of the forms; nested values are JSON inside a cell."""
    to = out or sys.stdout
    match form:
        case Format.JSON:
            json.dump([ejson(r) for r in rows], to, ensure_ascii=False, indent=2)
            to.write("\n")
        case Format.JSONL:
            to.writelines(json.dumps(ejson(r), ensure_ascii=False) + "\n" for r in rows)
        case Format.CSV:
            _write_csv(rows, list(columns), to)
        case Format.TABLE:
            _write_table(rows, list(columns), to)


def show_json(data: Any, out: TextIO | None = None) -> None:
    """Write one JSON document to standard output."""
    to = out or sys.stdout
    json.dump(data, to, ensure_ascii=False, indent=2)
    to.write("\n")


def _write_csv(rows: Iterable[Mapping[str, Any]], columns: list[str], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for record in rows:
        writer.writerow([cell_text(record[c]) if record.get(c) is not None else "" for c in columns])


def _write_table(rows: Iterable[Mapping[str, Any]], columns: list[str], out: TextIO) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(escape(clean(column, CELL_CHARS)), overflow="fold")
    for record in rows:
        table.add_row(*(escape(clean(cell_text(record[c]), CELL_CHARS)) if c in record else "" for c in columns))
    wide = None if out.isatty() else 10_000
    Console(file=out, highlight=False, width=wide).print(table)


def cell_text(value: Any) -> str:
    """Write one value for a cell: text as it is, everything else as its shortest JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dt.datetime):
        return f"{value.replace(tzinfo=None).isoformat()}Z"
    plain = ejson({"v": value})["v"]
    if isinstance(plain, dict) and len(plain) == 1:  # pyright: ignore[reportUnknownArgumentType]
        only = next(iter(plain.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        first = next(iter(plain))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if str(first).startswith("$") and isinstance(only, str):  # pyright: ignore[reportUnknownArgumentType]
            return only
    return json.dumps(plain, ensure_ascii=False)


def safe(text: str) -> str:
    """Return a text as one line for a terminal: names and values in it can neither control nor colour it."""
    return escape(clean(text, LINE_CHARS))


def show_answer(answer: Answer, form: Form, to: Console) -> None:
    """Write, on standard error, the query, the evidence and what it cost; the rows go elsewhere."""
    if answer.program is not None:
        show_program(answer.program, form, to)
        show_evidence(answer.evidence, to)
    if answer.outcome is Outcome.ABSTAINED:
        to.print(f"[bold yellow]No answer: {_abstained(answer)}.[/]")
    elif answer.outcome is Outcome.FAILED:
        to.print("[bold red]No answer.[/]")
    for line in answer.diagnosis.splitlines():
        to.print(f"  {safe(line)}")
    if answer.outcome is Outcome.ABSTAINED:
        show_readings(answer, form, to)
    to.print(f"[dim]{safe(cost_text(answer))}[/]")


def show_readings(answer: Answer, form: Form, to: Console) -> None:
    """Write the readings between which nothing decides: each query, and the rows it begins with."""
    for number, (program, rows, candidate) in enumerate(_readings(answer), start=1):
        to.print(f"[bold]Reading {number}[/] ({candidate.form}), {rows_line(rows)}:")
        show_program(program, form, to)
        for record in rows.records[:READING_ROWS]:
            to.print(f"  {escape(clean(json.dumps(ejson(record), ensure_ascii=False), READING_CHARS))}")


def _readings(answer: Answer) -> list[tuple[Program, Rows, Candidate]]:
    """The different programs that passed their checks, with what they came to."""
    shown: list[tuple[Program, Rows, Candidate]] = []
    for candidate in answer.candidates:
        program, rows = candidate.program, candidate.rows
        if program is not None and rows is not None and candidate.is_clean and program not in [p for p, _, _ in shown]:
            shown.append((program, rows, candidate))
    return shown


def _abstained(answer: Answer) -> str:
    alone = len(_readings(answer)) == 1
    return "only one reading of this question passed its checks" if alone else "the readings of this question disagree"


def show_program(program: Program, form: Form, to: Console) -> None:
    """Write a program, coloured on a terminal."""
    text = write(program, form)
    lexer = {"shell": "javascript", "javascript": "javascript", "python": "python", "ejson": "json"}[form]
    to.print(Syntax(text, lexer, background_color="default", word_wrap=True) if to.is_terminal else escape(text))


def show_evidence(evidence: Evidence, to: Console) -> None:
    """Write what speaks for an answer, most telling first."""
    for witness in evidence.witnesses[:LISTED]:
        kind = "a key of" if witness.is_key else "stored at"
        where = f"{witness.container}.{witness.path}"
        term, stored = safe(repr(witness.term)), safe(repr(witness.stored))
        to.print(f"  [green]found[/]    {term} as {stored}, {kind} {safe(where)}")
    for path in evidence.paths[:LISTED]:
        where = safe(f"{path.container}.{path.path}")
        to.print(f"  [green]read[/]     {where} ({path.kinds}), present {share_text(path.present_share)}")
    for said, resolved in evidence.dates.items():
        to.print(f"  [green]date[/]     {safe(said)} = {safe(resolved)}")
    if evidence.funnel:
        to.print(f"  [green]rows[/]     {safe(funnel_text(evidence.funnel))}")
    for line in evidence.assumptions:
        to.print(f"  [cyan]assumed[/]  {safe(line)}")
    for line in (*evidence.warnings, *_age_warning(evidence.grounded)):
        to.print(f"  [yellow]note[/]     {safe(line)}")
    if evidence.agreement:
        to.print(f"  [green]vote[/]     {safe(evidence.agreement)}")


def _age_warning(grounded: dt.datetime | None) -> Iterable[str]:
    if grounded is not None and dt.datetime.now(dt.UTC) - grounded > OLD:
        yield f"What is stored was found out on {age_text(grounded)}; groundql ground reads it anew."


def age_text(moment: dt.datetime, now: dt.datetime | None = None) -> str:
    """Write a moment to the minute, and how long ago it was."""
    passed = max((now or dt.datetime.now(dt.UTC)) - moment, dt.timedelta())
    minutes = int(passed.total_seconds()) // 60
    size, unit = next(((n, u) for n, u in ((1440, "day"), (60, "hour"), (1, "minute")) if minutes >= n), (1, "minute"))
    count = minutes // size
    ago = f"{count:,} {unit}{'' if count == 1 else 's'} ago" if count else "just now"
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC, {ago}"


def funnel_text(funnel: Iterable[StageCount]) -> str:
    """Write the counts after each stage in one line."""
    return " → ".join(f"{s.operator} {'?' if s.count is None else format(s.count, ',')}" for s in funnel)


def cost_text(answer: Answer) -> str:
    """Write calls, tokens, money and time in one line."""
    usage = answer.usage
    money = "price unknown" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    return (
        f"{answer.model} · {answer.solver} · {counted(usage.calls, 'call')}, {_tokens(usage)}, {money} · "
        f"{answer.elapsed_s:.1f} s ({usage.model_s:.1f} s model, {usage.database_s:.1f} s database)"
    )


def _tokens(usage: Usage) -> str:
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.prompt_tokens:,}{cached} + {usage.completion_tokens:,} tokens"


def show_notes(notes: Iterable[str], to: Console) -> None:
    """Write what of a pasted text was left out."""
    for note in notes:
        to.print(f"[yellow]note[/]     {safe(note)}")


def show_findings(findings: Iterable[Finding], to: Console) -> None:
    """Write findings, one a line, blocking first."""
    for finding in sorted(findings, key=lambda f: not f.blocking):
        mark = "[bold red]blocking[/]" if finding.blocking else "[yellow]advisory[/]"
        to.print(f"{mark} {finding.code.value}: {safe(str(finding))}")


def rows_line(rows: Rows) -> str:
    """Say how many rows there are, and whether they are all."""
    count = len(rows.records)
    if rows.truncated:
        limit = rows.truncated_by or "rows"
        return f"{counted(count, 'row')} shown, at least one more exists: the limit on {limit} was reached"
    return counted(count, "row")
