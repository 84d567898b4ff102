"""The command line: data on standard output, everything else on standard error; exit codes 0, 1 and 2.

0: done. 1: it ran, but there is no answer, something blocks the program, or a server, model or limit failed.
2: the command, its input or its settings are wrong; an unknown provider and a missing key are wrong settings.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
import typer
from rich.console import Console
from rich.markup import escape

from groundql.config import Settings, load_settings
from groundql.core.answer import Outcome, Question
from groundql.core.finding import Code
from groundql.core.trace import Trace
from groundql.databases.uri import redact
from groundql.errors import GroundQLError, InputError, ModelUnset
from groundql.faces.bench import app as bench_app
from groundql.faces.cli_setup import doctor, load, model_app, sample_app
from groundql.faces.client import connect_async
from groundql.faces.data import answer_data, catalog_data, field_data, profile_data, report_data
from groundql.faces.demo import demo
from groundql.faces.options import As, Db, Model, Output, Quiet, Refresh, Rows, Seconds
from groundql.faces.progress import Live
from groundql.faces.samples import resolve_db
from groundql.faces.show import (
    LINE_CHARS,
    Format,
    age_text,
    console,
    rows_line,
    safe,
    show_answer,
    show_evidence,
    show_findings,
    show_json,
    show_notes,
    show_rows,
)
from groundql.grounding.fence import clean
from groundql.service import Report, Service

T = TypeVar("T")
INTERRUPTED = 130
STOPPED = frozenset({Code.REJECTED, Code.TIMEOUT})
NEVER_RUN = frozenset({Code.FORBIDDEN, Code.UNKNOWN_OPERATOR, Code.MALFORMED})
app = typer.Typer(
    name="groundql",
    help="Ask document databases in plain English; get a verified read-only query, its rows, and the evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(load)
app.command()(doctor)
app.command()(demo)
app.add_typer(model_app, name="model")
app.add_typer(sample_app, name="samples")
app.add_typer(bench_app, name="bench")
err = console()


def main() -> None:
    """Run the command line; every error becomes one clear line and an exit code."""
    sys.exit(run(app))


def run(command: Callable[..., Any], arguments: list[str] | None = None) -> int:
    """Run a typer app and return its exit code instead of raising."""
    try:
        code = command(args=arguments, prog_name="groundql", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer turns Ctrl-C into this code by itself
            err.print("interrupted")
        return code if isinstance(code, int) else 0
    except GroundQLError as error:
        show_error(error, err)
        return 2 if isinstance(error, (InputError, ModelUnset)) else 1
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted")
        return INTERRUPTED
    except SystemExit:  # typer's way to end when whoever read the output has seen enough
        return 0
    except BrokenPipeError:
        # whoever read has seen enough; what is left in the buffer must not be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        show_error(GroundQLError(f"{error.filename or 'the system'}: {error.strerror or error}"), err)
        return 1
    except typer.Exit as error:
        return error.exit_code
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            raise
        if usage():  # empty when the help was shown for want of arguments
            err.print(f"[bold red]error:[/] {escape(usage())}")
            err.print("[dim]groundql --help lists the verbs; groundql VERB --help their options.[/]")
        return 2


def show_error(error: GroundQLError, to: Console) -> None:
    """Write one clear line, and what to do next; what looks like a password in it is hidden."""
    place, message = getattr(error, "line", 0), redact(str(error))
    where = "" if not place or f"line {place}" in message else f" (line {place}, column {getattr(error, 'column', 0)})"
    to.print(f"[bold red]error:[/] {safe(message)}{where}")
    if error.hint:
        lead = "" if error.hint.startswith("did you mean") else "try: "
        to.print(f"[dim]  {lead}{safe(redact(error.hint))}[/]")


def go(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run async work; Ctrl-C cancels it, so that cursors and child processes are closed."""
    return anyio.run(work)


def settings_for(db: str = "", model: str = "", **flags: Any) -> Settings:
    """Read the settings with a command's flags on top."""
    given = {"database": resolve_db(db) or None, "model": model or None}
    return load_settings(given | {name.replace("__", "."): value for name, value in flags.items()}).settings


async def opened(settings: Settings, live: Live) -> Service:
    """Open the service that a command works with."""
    service = await connect_async(settings=settings, on_load=live.loading, listen=live.grounding)
    live.stop()
    return service


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question in plain English; - reads it from standard input.")],
    db: Db = "",
    model: Model = "",
    output: Output = Format.TABLE,
    as_: As = "shell",
    hints: Annotated[str, typer.Option(help="What the data alone does not say, in plain words.")] = "",
    solver: Annotated[str, typer.Option(help="The recipe: sag, local, value-bisect, gated-repair, path-card.")] = "",
    today: Annotated[str, typer.Option(help='The date that "last month" counts from, as YYYY-MM-DD.')] = "",
    time_zone: Annotated[str, typer.Option(help="The time zone of dates in the question, such as Europe/Berlin.")] = "",
    rows: Rows = None,
    seconds: Seconds = None,
    trace_file: Annotated[
        Path | None, typer.Option("--trace", help="Write every step as JSON lines to a file.")
    ] = None,
    refresh: Refresh = False,
    quiet: Quiet = False,
) -> int:
    """Answer a question: a checked query, its rows, and the evidence for both."""
    settings = settings_for(
        db, model, solver=solver or None, today=today or None, time_zone=time_zone or None, limits__rows=rows,
        limits__elapsed_s=seconds,
    )  # fmt: skip
    asked = Question(_text(question), hints, settings.today or date.today(), settings.time_zone)
    _write_trace(Trace(), trace_file)  # a file that cannot be written is told before anything is paid for

    async def work() -> int:
        with Live(err, quiet=quiet) as live:
            service = await opened(settings, live)
            async with service:
                if refresh:
                    await service.ground()
                trace = Trace(listen=live.tracing)
                try:
                    answer = await service.ask(asked, trace=trace)
                finally:
                    live.stop()
                    _write_trace(trace, trace_file)
                _tell_age(answer.evidence.grounded, live)
        if output is Format.JSON:
            show_json(answer_data(answer))
        else:
            show_answer(answer, as_, err)
            if answer.rows is not None:
                show_rows(answer.rows.records, answer.rows.columns, output)
                err.print(f"[dim]{rows_line(answer.rows)}[/]")
        return 0 if answer.outcome is Outcome.ANSWERED else 1

    return go(work)


@app.command()
def describe(
    container: Annotated[str, typer.Argument(help="A collection; without it, the whole database.")] = "",
    path: Annotated[str, typer.Argument(help="A path in it, such as orders[].sku.")] = "",
    db: Db = "",
    output: Output = Format.TABLE,
    question: Annotated[str, typer.Option(help="Show the card as a model would see it for this question.")] = "",
    tokens: Annotated[int, typer.Option(help="The size of the card, in tokens.", min=200)] = 6000,
    refresh: Refresh = False,
    quiet: Quiet = False,
) -> int:
    """Show what was witnessed: the catalog and the path card, whole, of one collection, or of one path."""
    settings = settings_for(db)

    async def work() -> int:
        with Live(err, quiet=quiet) as live:
            async with await opened(settings, live) as service:
                if refresh:
                    await service.ground()
                profile = await service.describe(container, path, question=question, tokens=tokens)
                _tell_age(profile.catalog.created, live)
        show_notes(profile.notes, err)
        if output is Format.JSON:
            show_json(profile_data(profile))
        elif output is Format.TABLE:
            sys.stdout.write(profile.text.rstrip() + "\n")
        else:
            shown = [profile.container] if profile.container else profile.catalog.containers
            found = profile.fields or [f for c in shown for f in c.fields]
            names = {id(f): c.name for c in shown for f in c.fields}
            records = [{"container": names.get(id(f), ""), **field_data(f)} for f in found]
            show_rows(records, ["container", "path", "kinds", "present_share", "count"], output)
        return 0

    return go(work)


def _tell_age(grounded: datetime | None, live: Live) -> None:
    if grounded is not None:
        live.finish(f"grounding of {age_text(grounded)}")


Query = Annotated[str, typer.Argument(help="A query in shell syntax, EJSON or Python; - reads standard input.")]
Collection = Annotated[str, typer.Option("--collection", help="The collection, for a bare pipeline.")]


@app.command()
def check(
    query: Query = "-", db: Db = "", collection: Collection = "", output: Output = Format.TABLE, quiet: Quiet = False
) -> int:
    """Lint a pasted query against the data, without running it."""
    settings, text = settings_for(db), _text(query)

    async def work() -> int:
        with Live(err, quiet=quiet) as live:
            async with await opened(settings, live) as service:
                report = await service.check(text, container=collection or None)
        _show_findings(report, output)
        return 1 if report.is_blocked else 0

    return go(work)


@app.command("run")
def run_query(
    query: Query = "-",
    db: Db = "",
    collection: Collection = "",
    output: Output = Format.TABLE,
    anyway: Annotated[bool, typer.Option("--anyway", help="Run it in spite of blocking findings.")] = False,
    rows: Rows = None,
    seconds: Seconds = None,
    quiet: Quiet = False,
) -> int:
    """Check a pasted query, then run it read-only and within limits."""
    settings, text = settings_for(db, limits__rows=rows, limits__elapsed_s=seconds), _text(query)

    async def work() -> int:
        with Live(err, quiet=quiet) as live:
            async with await opened(settings, live) as service:
                report = await service.run(text, container=collection or None, anyway=anyway)
        show_notes(report.notes, err)
        if output is Format.JSON:
            show_json(report_data(report))
        elif report.rows is not None:
            show_findings(report.findings, err)
            told = {str(f) for f in report.findings}
            others = tuple(w for w in report.evidence.warnings if w not in told)
            show_evidence(replace(report.evidence, warnings=others), err)
            show_rows(report.rows.records, report.rows.columns, output)
            err.print(f"[dim]{rows_line(report.rows)}[/]")
        else:
            show_findings(report.findings, err)
            err.print(why_no_rows(report, anyway=anyway))
        return 0 if report.rows is not None else 1

    return go(work)


@app.command()
def ground(
    db: Db = "",
    output: Output = Format.TABLE,
    if_changed: Annotated[bool, typer.Option("--if-changed", help="Keep the stored grounding where it fits.")] = False,
    quiet: Quiet = False,
) -> int:
    """Build or refresh the stored grounding, with progress."""
    settings = settings_for(db)

    async def work() -> int:
        with Live(err, quiet=quiet) as live:
            async with await opened(settings, live) as service:
                catalog = await service.ground(refresh=not if_changed)
        if output is Format.JSON:
            show_json(catalog_data(catalog))
        else:
            records = [_ground_record(c) for c in catalog.containers]
            show_rows(records, list(records[0]) if records else [], output)
        return 0 if all(c.is_known for c in catalog.containers) else 1

    return go(work)


def why_no_rows(report: Report, *, anyway: bool) -> str:
    """Say whether a query was stopped before it ran, or by the engine while it ran."""
    codes = {f.code for f in report.findings}
    if codes & STOPPED:
        hint = " --seconds (or the setting limits.elapsed_s) allows more time." if Code.TIMEOUT in codes else ""
        return f"[bold red]It was run and stopped by the database.[/]{hint}"
    hint = "" if anyway or codes & NEVER_RUN else " --anyway runs it in spite of what the data says."
    return f"[bold red]Not run.[/]{hint}"


def _ground_record(container: Any) -> dict[str, Any]:
    sampling = container.sampling
    return {
        "collection": container.name,
        "documents": container.info.documents,
        "read": sampling.documents,
        "paths": len(container.fields),
        "maps": sum(f.is_map for f in container.fields),
        "variants": len(container.variants),
        "stopped": container.error or sampling.stop.value,
        "seconds": round(sampling.elapsed_s, 2),
    }


def _show_findings(report: Report, output: Format) -> None:
    show_notes(report.notes, err)
    if output is Format.JSON:
        show_json(report_data(report))
    elif output is Format.TABLE:
        if not report.findings:
            err.print("[green]Nothing to remark.[/]")
        for finding in sorted(report.findings, key=lambda f: not f.blocking):
            weight, text = "blocking" if finding.blocking else "advisory", clean(str(finding), LINE_CHARS)
            sys.stdout.write(f"{weight} {finding.code.value}: {text}\n")
    else:
        records = report_data(report)["findings"]
        show_rows(records, ["code", "blocking", "stage", "path", "message", "evidence", "nearest"], output)


def _text(argument: str) -> str:
    """Take an argument, or standard input for `-`.

    Raises: InputError when standard input is a terminal or empty.
    """
    if argument != "-":
        return argument
    if sys.stdin.isatty():
        raise InputError("nothing to read", hint="give it as an argument, or pipe it in")
    text = sys.stdin.read()
    if not text.strip():
        raise InputError("standard input is empty")
    return text


def _write_trace(trace: Trace, file: Path | None) -> None:
    if file is None:
        return
    try:
        out = open(file, "w", encoding="utf-8", opener=_own)  # noqa: SIM115  (Path.open knows no opener)
    except OSError as error:
        raise InputError(f"the trace cannot be written to {file}: {error.strerror}") from None
    with out:
        for event in trace.events:
            line = {"trace": trace.id, "at_s": round(event.at_s, 4), "event": event.name, **event.data}
            out.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


def _own(path: str, flags: int) -> int:
    """Make a new file readable by its owner alone: a trace quotes stored data. An old one keeps its mode."""
    return os.open(path, flags, 0o600)
