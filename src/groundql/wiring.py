"""From settings to running parts: the one place where a database, a model and a store are chosen."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from groundql.config import Settings
from groundql.core.budget import Budget, Meter
from groundql.core.ports import Database, Env, Grounder, Model
from groundql.core.rows import Limits
from groundql.core.trace import Trace
from groundql.databases.embedded import EmbeddedServer
from groundql.databases.files import find_files
from groundql.databases.load import LoadProgress, database_name, load
from groundql.databases.mongodb import MongoDatabase
from groundql.databases.uri import is_uri, redact
from groundql.errors import EmbeddedUnavailable, InputError
from groundql.grounding.sample import SamplePolicy
from groundql.grounding.store import GroundingStore
from groundql.llm.models import endpoint_of, open_model
from groundql.llm.replies import ReplyStore
from groundql.llm.wrap import metered, steady

MARK = "loaded.txt"


@dataclass(frozen=True, slots=True)
class Opened:
    """A database that answers, and the server that was started for it, if any."""

    database: MongoDatabase
    server: EmbeddedServer | None = None

    async def stop(self) -> None:
        """End what was started; what was asked of it and given up is not waited for."""
        if self.server is not None:
            await anyio.to_thread.run_sync(partial(self.server.stop, hurry=not self.database.is_idle))


async def open_database(
    target: str, settings: Settings, *, on_load: Callable[[LoadProgress], None] | None = None
) -> Opened:
    """Open what `--db` names: a connection string, or a folder or file that the embedded server holds.

    Raises: InputError when it is neither, LoadError for data of the wrong form, EmbeddedUnavailable.
    """
    if is_uri(target):
        return Opened(MongoDatabase(target))
    path = await anyio.Path(target).expanduser()
    if not await path.exists():
        raise InputError(
            f"{redact(target)!r} is neither a connection string nor a file or folder here",
            hint="a connection string starts with mongodb:// or mongodb+srv://",
        )
    return await _open_files(Path(path), settings, on_load)


async def _open_files(path: Path, settings: Settings, on_load: Callable[[LoadProgress], None] | None) -> Opened:
    """Load files into the embedded server once; as long as they do not change, the loaded copy serves again."""
    name = database_name(path)
    storage = settings.cache_folder / "embedded" / f"{name}-{_files_mark(path)}"
    try:
        server = await anyio.to_thread.run_sync(_start_copy, storage)
    except EmbeddedUnavailable as error:
        if "another process" not in str(error):
            raise
        server = await anyio.to_thread.run_sync(_start, None)  # someone else serves this copy: hold one of our own
    try:
        if not _is_loaded(server):
            await load(path, server.uri, name, existing="replace", on_progress=on_load)
            _mark_loaded(server)
        return Opened(MongoDatabase(f"{server.uri}{name}"), server)
    except BaseException:
        server.stop(hurry=True)
        raise


def _start_copy(storage: Path) -> EmbeddedServer:
    """Start on a copy of loaded files; one that cannot be opened (its process was killed) is thrown away once."""
    has_data = storage.exists() and any(storage.iterdir())
    try:
        return _start(storage)
    except EmbeddedUnavailable as error:
        if not has_data or "another process" in str(error):
            raise
        shutil.rmtree(storage)  # the files it was loaded from are what counts
        return _start(storage)


def _start(storage: Path | None) -> EmbeddedServer:
    if storage is not None:
        storage.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds the files' data
    return EmbeddedServer(storage).start()


def _is_loaded(server: EmbeddedServer) -> bool:
    return server.storage is not None and (server.storage / MARK).exists()


def _mark_loaded(server: EmbeddedServer) -> None:
    # written last: a load that was interrupted is done again
    if server.storage is not None:
        (server.storage / MARK).write_text("complete\n", encoding="utf-8")


def _files_mark(path: Path) -> str:
    """A mark that changes when a file is added, removed, or written."""
    digest = hashlib.sha256(str(path.resolve()).encode())
    for file in find_files(path):
        stat = file.path.stat()
        digest.update(f"{file.path.name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def sample_policy(settings: Settings) -> SamplePolicy:
    """The bounds on what is read to find out what is stored."""
    return SamplePolicy(**settings.sampling.model_dump())


def grounding_store(settings: Settings) -> GroundingStore:
    """Where groundings are kept."""
    return GroundingStore(settings.cache_folder / "groundings")


def solver_name(settings: Settings) -> str:
    """The recipe that is set, or the one that suits the model: a small local one is asked differently."""
    return settings.solver or ("local" if is_local(settings) else "sag")


def is_local(settings: Settings) -> bool:
    """Whether the model that is set runs on this machine, started by us."""
    return settings.model.split(":")[0] == "local"


async def open_env(
    database: Database,
    open_model: Callable[[Meter, Trace], Model],
    open_grounder: Callable[[], Awaitable[Grounder]],
    *,
    limits: Limits,
    budget: Budget,
    trace: Trace,
) -> Env:
    """Lay out all that a solver may touch for one question; a service and a measurement get theirs here alike.

    Raises: what opening raises. The model comes first: that it has no key is told before a database is read.
    """
    meter = Meter(budget)
    model = open_model(meter, trace)
    return Env(database, model, await open_grounder(), limits, meter, trace)


class ModelOpener:
    """Open the model that is set, once, and lay each question's budget and trace around it.

    Raises (when called): ModelUnavailable.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._model: Model | None = None

    def __call__(self, meter: Meter, trace: Trace) -> Model:
        """Return the model within one question's budget and trace."""
        if self._model is None:
            settings = self._settings
            model = open_model(settings.model, timeout_s=settings.model_timeout_s, folder=settings.cache_folder)
            replies = ReplyStore(settings.cache_folder / "replies.sqlite") if settings.cache_replies else None
            timeout_s = None if is_local(settings) else settings.model_timeout_s  # its own bounds are longer
            self._model = steady(model, timeout_s=timeout_s, store=replies, scope=endpoint_of(model))
        return metered(self._model, meter, trace)

    async def close(self) -> None:
        """Let go of the model's connections."""
        if self._model is not None:
            await self._model.close()
