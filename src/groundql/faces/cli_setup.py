"""The verbs that set things up: load data, look for what is missing, fetch the local model, list the samples."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from groundql.bench.worlds import list_worlds
from groundql.config import load_settings
from groundql.databases.load import load as load_source
from groundql.databases.uri import is_uri, read_uri
from groundql.errors import InputError
from groundql.faces.data import plain
from groundql.faces.doctor import State, examine
from groundql.faces.options import Db, Model, Output, Quiet
from groundql.faces.progress import Live, pull_text
from groundql.faces.samples import resolve_db
from groundql.faces.show import Format, console, safe, show_json, show_rows
from groundql.llm.local import model_status
from groundql.llm.pull import DEFAULT_MODEL_FILE, MODEL_FILES, pull_model

err = console()
MARKS = {State.FINE: "[green]ok[/]     ", State.MISSING: "[yellow]missing[/]", State.BROKEN: "[red]problem[/]"}


def load(
    source: Annotated[str, typer.Argument(help="A folder or file of documents: .json .jsonl .bson, also .gz.")],
    db: Db = "",
    collection: Annotated[str, typer.Option("--collection", help="The collection, for a single file.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Empty collections of the same names first.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Add to collections of the same names.")] = False,
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Load documents into a MongoDB database. The only verb that writes."""
    if replace and append:
        raise InputError("--replace and --append exclude each other")
    settings = load_settings({"database": db or None}).settings
    target = settings.database.get_secret_value() if settings.database else ""
    if not is_uri(target):
        raise InputError(
            "load needs the database to write to",
            hint="--db mongodb://HOST/NAME; to only ask questions of files, give them to --db and skip load",
        )
    address = read_uri(target)
    if not address.database:
        raise InputError(
            f"the connection string to {address.hosts} names no database to load into",
            hint="add it after the host, as in mongodb://localhost:27017/NAME",
        )
    with Live(err, quiet=quiet) as live:
        work = partial(
            load_source,
            Path(resolve_db(source)),
            target,
            container=collection,
            existing="replace" if replace else "append" if append else "refuse",
            on_progress=live.loading,
        )
        loaded = anyio.run(work)
        live.finish(f"loaded into the database {address.database} on {address.hosts}")
    show_rows(
        [{"collection": part.container, "documents": part.documents} for part in loaded],
        ["collection", "documents"],
        output,
    )
    return 0


def doctor(db: Db = "", model: Model = "", output: Output = Format.TABLE) -> int:
    """Say what is reachable, what is configured, what is missing, and how to mend it."""
    settings = load_settings({"database": resolve_db(db) or None, "model": model or None}).settings
    found = anyio.run(examine, settings)
    if output is Format.TABLE:
        for d in found:
            remedy = f"\n          [dim]{safe(d.remedy)}[/]" if d.remedy else ""
            out.print(f"{MARKS[d.state]}  [bold]{safe(d.part)}[/]: {safe(d.seen)}{remedy}")
    elif output is Format.JSON:
        show_json([plain(d) for d in found])
    else:
        show_rows([plain(d) for d in found], ["part", "state", "seen", "remedy"], output)
    return 1 if any(d.state is State.BROKEN for d in found) else 0


out = console(stderr=False)
model_app = typer.Typer(help="The local model: fetch it, see what is there.", no_args_is_help=True)
sample_app = typer.Typer(help="The sample worlds that ship with GroundQL.", no_args_is_help=True)


@model_app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help="1.5b answers questions; 0.5b only exercises the plumbing.")] = (
        DEFAULT_MODEL_FILE
    ),
    quiet: Quiet = False,
) -> int:
    """Fetch the local model; its size and licence are announced first."""
    settings = load_settings().settings
    if name not in MODEL_FILES:
        raise InputError(f"there is no local model named {name!r}", hint=f"choose one of: {', '.join(MODEL_FILES)}")
    with Live(err, quiet=quiet) as live:
        path = pull_model(
            name, folder=settings.cache_folder, announce=live.finish, report=lambda p: live.say(pull_text(p))
        )
    typer.echo(str(path))
    return 0


@model_app.command("status")
def status(output: Output = Format.TABLE) -> int:
    """Say which local models are there."""
    found = model_status(load_settings().settings.cache_folder)
    records = [
        {"name": s.name, "title": s.title, "MB": round(s.size_bytes / 1e6), "present": s.present, "path": str(s.path)}
        for s in found
    ]
    show_rows(records, list(records[0]), output)
    return 0


@sample_app.command("list")
def samples(output: Output = Format.TABLE) -> int:
    """List the sample worlds; use one with --db sample:NAME."""
    records = [{"name": w.name, "title": w.title, "licence": w.licence} for w in list_worlds()]
    show_rows(records, ["name", "title", "licence"], output)
    return 0


@sample_app.command("tasks")
def tasks(name: Annotated[str, typer.Argument(help="The sample world.")], output: Output = Format.TABLE) -> int:
    """List a sample world's questions with the pipelines that answer them."""
    resolve_db(f"sample:{name}")
    world = next(w for w in list_worlds() if w.name == name)
    records = [{"id": t.record_id, "question": t.nlq, "pipeline": t.mql} for t in world.tasks()]
    columns = ["id", "question"] if output is Format.TABLE else ["id", "question", "pipeline"]
    show_rows(records, columns, output)
    return 0
