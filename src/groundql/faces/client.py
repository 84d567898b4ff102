"""The Python client: the same verbs as the command line, async and sync."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from groundql.config import Settings, load_settings
from groundql.core.answer import Answer, Question
from groundql.core.catalog import Catalog
from groundql.core.ports import Model
from groundql.core.program import Program
from groundql.databases.load import Loaded, LoadProgress, load
from groundql.databases.uri import read_uri
from groundql.errors import InputError
from groundql.faces.doctor import Diagnosis, examine
from groundql.faces.samples import resolve_db
from groundql.llm.wrap import metered
from groundql.service import Listen, Profile, Report, Service
from groundql.wiring import (
    ModelOpener,
    grounding_store,
    open_database,
    sample_policy,
    solver_name,
)

T = TypeVar("T")


async def connect_async(
    database: str = "",
    *,
    model: str | Model | None = None,
    settings: Settings | None = None,
    listen: Listen | None = None,
    on_load: Callable[[LoadProgress], None] | None = None,
    **flags: Any,
) -> Service:
    """Open a database and return its service; use it as `async with`.

    `database` is a connection string, or a folder or file of documents; `model` a `provider:model` string or a model
    object; further keywords are settings by their names, `__` for the dot: `limits__rows=100`.
    Raises: SettingsError, InputError, LoadError, EmbeddedUnavailable.
    """
    named = model if isinstance(model, str) else None
    database = resolve_db(database)
    flat = {"database": database or None, "model": named} | {k.replace("__", "."): v for k, v in flags.items()}
    chosen = settings or load_settings(flat).settings
    target = database or (chosen.database.get_secret_value() if chosen.database else "")
    if not target:
        raise InputError(
            "no database is named",
            hint="give mongodb://HOST/NAME, or a folder or file of JSON, or set MONGODB_URI",
        )
    if "://" in target:
        read_uri(target)  # a wrong scheme is told as that, and without its password, not as a file that is not there
    opened = await open_database(target, chosen, on_load=on_load)
    brought = None if model is None or isinstance(model, str) else model
    opened_model = ModelOpener(chosen)
    open_model = opened_model if brought is None else partial(metered, brought)
    return Service(
        opened.database,
        grounding_store(chosen),
        open_model,
        sample_policy(chosen),
        chosen.run_limits,
        chosen.question_budget,
        (chosen.solver or "sag") if brought is not None else solver_name(chosen),
        listen,
        (opened.stop, opened_model.close),
    )


def connect(database: str = "", **options: Any) -> Client:
    """Open a database for synchronous use; takes what `connect_async` takes."""
    return Client(database, **options)


class Client:
    """The six verbs, blocking. Close it, or use it in a `with` block."""

    def __init__(self, database: str = "", **options: Any) -> None:
        self._stack = ExitStack()
        portal: AbstractContextManager[BlockingPortal] = start_blocking_portal()
        self._portal = self._stack.enter_context(portal)
        try:
            self._service = self._portal.call(partial(connect_async, database, **options))
        except BaseException:
            self._stack.close()
            raise
        self._stack.callback(self._portal.call, self._service.close)
        # a script that never closes must end all the same, and take its server with it
        self._closer = weakref.finalize(self, self._stack.close)

    def ask(self, question: Question | str, **options: Any) -> Answer:
        """Answer a question; see `Service.ask`."""
        return self._portal.call(partial(self._service.ask, question, **options))

    def describe(self, container: str = "", path: str = "", **options: Any) -> Profile:
        """Show the catalog, one container or one path; see `Service.describe`."""
        return self._portal.call(partial(self._service.describe, container, path, **options))

    def check(self, program: Program | str, **options: Any) -> Report:
        """Lint a program against the data; see `Service.check`."""
        return self._portal.call(partial(self._service.check, program, **options))

    def run(self, program: Program | str, **options: Any) -> Report:
        """Check and run a program; see `Service.run`."""
        return self._portal.call(partial(self._service.run, program, **options))

    def ground(self, **options: Any) -> Catalog:
        """Build the stored grounding anew; see `Service.ground`."""
        return self._portal.call(partial(self._service.ground, **options))

    def close(self) -> None:
        """Let go of the database and of what was started for it; done at the latest when the program ends."""
        self._closer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load_files(source: str | Path, uri: str, **options: Any) -> tuple[Loaded, ...]:
    """Load a file or folder of documents into a database; see `groundql.databases.load.load`."""
    return anyio.run(partial(load, Path(source), uri, **options))


def doctor(settings: Settings | None = None) -> tuple[Diagnosis, ...]:
    """Say what is reachable, what is configured, what is missing, and how to mend it."""
    return anyio.run(examine, settings or load_settings().settings)
