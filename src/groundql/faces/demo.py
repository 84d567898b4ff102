"""The demonstration: a sample world, a grounding, three questions of rising difficulty, no key and no account."""

from __future__ import annotations

from typing import Final

import anyio
from rich.markup import escape

from groundql.bench.worlds import open_world
from groundql.config import Settings, load_settings
from groundql.core.answer import Outcome
from groundql.core.trace import Trace
from groundql.faces.client import connect_async
from groundql.faces.options import Model, Quiet
from groundql.faces.progress import Live, pull_text
from groundql.faces.samples import resolve_db
from groundql.faces.show import Format, console, rows_line, show_answer, show_rows
from groundql.llm.models import open_model
from groundql.llm.pull import DEFAULT_MODEL_FILE, find_model_file, is_present, pull_model

WORLD: Final = "atlas"
QUESTIONS: Final = (
    "How many airports are there in the places collection?",
    "Which five cities have the largest population? Show name and population.",
    "Which territories have ever used the currency DEM? Return their names.",
)
err = console()


def demo(model: Model = "", quiet: Quiet = False) -> int:
    """Ask three questions of a sample world; with the local model unless --model names another."""
    settings = load_settings({"database": resolve_db(f"sample:{WORLD}"), "model": model or None}).settings
    announce(settings)
    if settings.model.split(":")[0] == "local":
        fetch(settings, quiet)  # outside of the loop: Ctrl-C ends it at once
    return anyio.run(show, settings, quiet)


def announce(settings: Settings) -> None:
    """Say what will be downloaded and how large it is, before anything is."""
    world = open_world(WORLD)
    err.print(f"[bold]GroundQL demo[/]: three questions of [bold]{WORLD}[/] ({escape(world.title)}; {world.licence}).")
    if settings.model.split(":")[0] != "local":
        open_model(settings.model)  # a missing key is told now, not after the data is read
        err.print(f"Model: {escape(settings.model)}. Nothing is downloaded.")
        return
    file = find_model_file(settings.model.partition(":")[2] or DEFAULT_MODEL_FILE)
    if is_present(file, settings.cache_folder):
        err.print(f"Model: {file.title}, already there. Nothing is downloaded. It is a small model on this machine's")
    else:
        err.print(
            f"Model: {file.title}. It will be downloaded once: {file.size_bytes / 1e6:,.0f} MB, {file.licence}, "
            f"to {settings.cache_folder / 'models'}. It is a small model on this machine's"
        )
    err.print("processors: it answers only where two of its readings agree. A larger one is set with --model.")


def fetch(settings: Settings, quiet: bool) -> None:
    """Download the local model, unless it is there."""
    name = settings.model.partition(":")[2] or DEFAULT_MODEL_FILE
    with Live(err, quiet=quiet) as live:
        pull_model(name, folder=settings.cache_folder, announce=live.finish, report=lambda p: live.say(pull_text(p)))


async def show(settings: Settings, quiet: bool) -> int:
    """Load, ground, ask; returns the exit code."""
    with Live(err, quiet=quiet) as live:
        service = await connect_async(settings=settings, on_load=live.loading, listen=live.grounding)
        async with service:
            await service.ground(refresh=True)
            live.stop()
            answered = 0
            for number, question in enumerate(QUESTIONS, 1):
                err.print(f"\n[bold]{number}. {escape(question)}[/]")
                answer = await service.ask(question, trace=Trace(listen=live.tracing))
                live.stop()
                show_answer(answer, "shell", err)
                if answer.rows is not None:
                    show_rows(answer.rows.records, answer.rows.columns, Format.TABLE)
                    err.print(f"[dim]{rows_line(answer.rows)}[/]")
                answered += answer.outcome is Outcome.ANSWERED
    err.print(f'\n{answered} of {len(QUESTIONS)} answered. Ask your own: groundql ask "..." --db sample:{WORLD}')
    return 0 if answered else 1
