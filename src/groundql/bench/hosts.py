"""Where a suite's databases run: the embedded server, one per database, or a server that holds them all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from groundql.bench.case import Suite
from groundql.config import Settings
from groundql.core.ports import Database
from groundql.databases.load import LoadProgress, load
from groundql.databases.mongodb import MongoDatabase
from groundql.errors import InputError
from groundql.grounding.grounder import CatalogGrounder, Listen, open_grounding
from groundql.wiring import Opened, grounding_store, open_database, sample_policy


@dataclass(slots=True)
class Host:
    """Open the databases of a suite when they are asked for, and close them at the end.

    `server` is a connection string without a database: each of the suite's databases is then expected there under its
    own name, or loaded there from the suite's file when `loads_missing` says so and nothing is there yet. Without one,
    the suite's files are held by embedded servers, at most `most_open` that nobody uses.
    Raises (from `database` and `grounder`): InputError when a database has neither file nor server, LoadError, the
    `DatabaseError` family.
    """

    suite: Suite
    settings: Settings
    server: str = ""
    most_open: int = 2
    loads_missing: bool = False
    on_load: Callable[[LoadProgress], None] | None = None
    listen: Listen | None = None
    _open: OrderedDict[str, Opened] = field(default_factory=OrderedDict[str, Opened])
    _grounders: dict[str, CatalogGrounder] = field(default_factory=dict[str, CatalogGrounder])
    _users: dict[str, int] = field(default_factory=dict[str, int])
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def database(self, name: str) -> Database:
        """Open a database of the suite, or return it when it is open."""
        async with self._lock:
            return (await self._opened(name)).database

    async def grounder(self, name: str) -> CatalogGrounder:
        """Open a database's grounding, stored or new."""
        async with self._lock:
            if name not in self._grounders:
                database = (await self._opened(name)).database
                policy, store = sample_policy(self.settings), grounding_store(self.settings)
                self._grounders[name] = await open_grounding(database, store, policy, listen=self.listen)
            return self._grounders[name]

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[Database]:
        """Keep a database open as long as the block lasts."""
        self._users[name] = self._users.get(name, 0) + 1
        try:
            yield await self.database(name)
        finally:
            self._users[name] -= 1

    async def reopen(self, name: str) -> Database:
        """Close a database whose server went away and open it anew."""
        async with self._lock:
            await self._shut(name)
            return (await self._opened(name)).database

    async def close(self) -> None:
        """Close every database and end every server that was started."""
        with anyio.CancelScope(shield=True):
            for name in list(self._open):
                await self._shut(name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _opened(self, name: str) -> Opened:
        if name not in self._open:
            await self._make_room()
            self._open[name] = await self._start(name)
        self._open.move_to_end(name)
        return self._open[name]

    async def _start(self, name: str) -> Opened:
        if self.server:
            return await self._on_server(name)
        return await open_database(str(self._source(name)), self.settings, on_load=self.on_load)

    async def _on_server(self, name: str) -> Opened:
        """Open a database of the server. An empty one would answer every gold with no rows, so it is refused."""
        uri = _with_database(self.server, name)
        database = MongoDatabase(uri)
        try:
            described = await database.describe()
            if not described.containers and not described.is_partial:
                if not self.loads_missing:
                    hint = "load it there with `groundql load`, or leave --db out to use the suite's files"
                    raise InputError(f"the server {database.hosts} holds no database {name!r}", hint=hint)
                await load(self._source(name), uri, name, existing="refuse", on_progress=self.on_load)
        except BaseException:
            await database.close()
            raise
        return Opened(database)

    def _source(self, name: str) -> Path:
        source = self.suite.sources.get(name)
        if source is None:
            raise InputError(
                f"the suite {self.suite.name} holds no documents of the database {name!r}",
                hint=f"put {name}.json into its mongodb_data folder, or give --db with a server that holds it",
            )
        return source

    async def _make_room(self) -> None:
        idle = [name for name in self._open if not self._users.get(name)]
        while idle and len(self._open) >= self.most_open:
            await self._shut(idle.pop(0))

    async def _shut(self, name: str) -> None:
        self._grounders.pop(name, None)
        opened = self._open.pop(name, None)
        if opened is not None:
            await opened.database.close()
            await opened.stop()


def _with_database(server: str, name: str) -> str:
    """Put a database's name into a connection string, before its options."""
    base, mark, options = server.partition("?")
    scheme, _, rest = base.partition("://")
    return f"{scheme}://{rest.split('/')[0]}/{name}{mark}{options}"
