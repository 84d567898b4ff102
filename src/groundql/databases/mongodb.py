"""MongoDB through pymongo: the one place that runs programs, and only admitted ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, Final

import anyio
import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError, InvalidBSON
from bson.raw_bson import RawBSONDocument
from pymongo import AsyncMongoClient
from pymongo.asynchronous.command_cursor import AsyncCommandCursor
from pymongo.asynchronous.cursor import AsyncCursor
from pymongo.driver_info import DriverInfo
from pymongo.errors import ConfigurationError, PyMongoError, ServerSelectionTimeoutError

from groundql.core.ports import Description, Draw
from groundql.core.program import Admitted, MqlProgram
from groundql.core.rows import Limits, Rows
from groundql.databases.describe import list_containers
from groundql.databases.failures import ANSWERS_EXCEPTIONS, Met, translate
from groundql.databases.gather import Gatherer
from groundql.databases.sight import Sight
from groundql.databases.uri import Address, read_uri
from groundql.errors import DatabaseError, DatabaseTimeout, InputError, ProgramForbidden, ProgramRejected

Document = dict[str, Any]

CONNECT_S: Final = 10.0
SAMPLE_S: Final = 30.0
_GRACE_S: Final = 5.0
"""How long after its time limit a server is waited for; the embedded server's limit fires late."""
_CLOSE_S: Final = 1.0
"""How long a server is given to take notice that a cursor or a session ends; it forgets both by itself."""
_BATCH: Final = 1000
_SAMPLE_BATCH: Final = 200
_COMMENT: Final = "groundql"

CODEC: Final = CodecOptions[Document](
    document_class=dict,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,  # a date beyond the year 9999 must not lose the document
    unicode_decode_error_handler="replace",
)
"""How documents come out: bson types, dates naive in UTC, UUIDs as binary."""
_RAW: Final = CODEC.with_options(document_class=RawBSONDocument)


class MongoDatabase:
    """One database of a MongoDB server (or of the embedded one), read only.

    Connects when first asked. `containers` declares names for a user who may not list them.
    Units: `connect_s` seconds to look for a server, `sample_s` the time limit of one sample.
    Raises: InputError when the connection string is broken or no database is named.
    """

    def __init__(
        self,
        uri: str,
        name: str = "",
        *,
        containers: Sequence[str] = (),
        connect_s: float = CONNECT_S,
        sample_s: float = SAMPLE_S,
    ) -> None:
        self._address = read_uri(uri)
        self.name = name or self._address.database
        if not self.name:
            raise InputError(
                f"the connection string to {self._address.hosts} names no database",
                hint="add it after the host, as in mongodb://localhost:27017/NAME",
            )
        self._declared = tuple(containers)
        self._connect_s = connect_s
        self._sample_s = sample_s
        self._build: Mapping[str, Any] | None = None
        self._calls_open = 0
        self._client = _client(self._address, connect_s)
        self._sight = Sight(lambda: self._client.topology_description.has_known_servers)
        self._database = self._client.get_database(self.name, codec_options=CODEC)

    @property
    def dialect(self) -> str:
        """`mongodb`."""
        return "mongodb"

    @property
    def hosts(self) -> str:
        """The server's address as a person may see it."""
        return self._address.hosts

    @property
    def is_embedded(self) -> bool:
        """Whether the server is the embedded one; known once it was asked anything with `server` or `describe`."""
        return "secantusVersion" in (self._build or {})

    @property
    def is_idle(self) -> bool:
        """Whether every call has come to its end at the server; one that was given up may still run there."""
        return self._calls_open == 0

    async def server(self) -> Mapping[str, Any]:
        """Return the server's build information, asked once."""
        if self._build is None:
            async with self._limited(self._connect_s):
                self._build = await self._client.admin.command("buildInfo")
        return self._build

    async def database_names(self) -> tuple[str, ...]:
        """List the databases that the user may see, the server's own left out."""
        async with self._limited(self._connect_s):
            names: list[str] = await self._client.list_database_names()
        return tuple(sorted(set(names) - {"admin", "config", "local"}))

    async def describe(self) -> Description:
        """List the containers with what the server knows of them."""
        build = await self.server()
        async with self._limited(self._sample_s):
            listing = await list_containers(self._database, self._declared, with_size=not self.is_embedded)
        return Description(
            self.name,
            engine="SecantusDB" if self.is_embedded else "MongoDB",
            version=str(build.get("secantusVersion" if self.is_embedded else "version", "")),
            containers=listing.containers,
            is_embedded=self.is_embedded,
            is_partial=listing.is_partial,
        )

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Stream up to `size` documents; `where` is an equality filter (dotted name -> value).

        A random draw that the server refuses or cannot finish in time becomes one from the head.
        """
        await self.server()
        given = 0
        try:
            async for document in self._drawn(container, size, draw, _equalities(where)):
                given += 1
                yield document
        except (ProgramRejected, DatabaseTimeout):
            if draw is not Draw.RANDOM or given:
                raise
        else:
            return
        async for document in self._drawn(container, size, Draw.HEAD, _equalities(where)):
            yield document

    async def _drawn(self, container: str, size: int, draw: Draw, where: Document) -> AsyncGenerator[Document]:
        async with self._limited(self._sample_s):
            cursor = await self._draw(container, size, draw, where)
        try:
            while True:
                async with self._limited(self._sample_s):
                    document = await anext(cursor, None)
                if document is None:
                    return
                yield document
        finally:
            await _close(cursor)

    async def _draw(
        self, container: str, size: int, draw: Draw, where: Document
    ) -> AsyncCommandCursor[Document] | AsyncCursor[Document]:
        collection = self._database[container]
        if draw is Draw.RANDOM:
            stages: list[Document] = [{"$match": where}] if where else []
            return await collection.aggregate(
                [*stages, {"$sample": {"size": size}}],
                allowDiskUse=True,
                batchSize=_SAMPLE_BATCH,
                maxTimeMS=_milliseconds(self._sample_s),
                comment=_COMMENT,
            )
        cursor = collection.find(where, limit=size, batch_size=min(size, _SAMPLE_BATCH), comment=_COMMENT)
        cursor = cursor.max_time_ms(_milliseconds(self._sample_s))
        if draw is Draw.TAIL:
            cursor = await self._from_the_end(container, cursor, size, where)
        return cursor

    async def _from_the_end(
        self, container: str, cursor: AsyncCursor[Document], size: int, where: Document
    ) -> AsyncCursor[Document]:
        if not self.is_embedded:
            listed = await self._database.list_collections(filter={"name": container}, nameOnly=True)
            if not any([c["type"] == "view" async for c in listed]):
                return cursor.sort("$natural", -1)
        # Views have no natural order to reverse, and the embedded server ignores the wish: skip to the end instead.
        documents = await self._database[container].count_documents(where)
        return cursor.skip(max(0, documents - size))

    async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
        """Run a sealed program within limits.

        Raises: ProgramRejected with the server's message; DatabaseTimeout; DatabaseUnreachable; DatabaseDenied.
        """
        if type(admitted) is not Admitted:  # types are not enforced at run time, and this is the last gate
            raise ProgramForbidden("only an admitted program is run")
        program = admitted.program
        if not isinstance(program, MqlProgram):
            raise ProgramRejected("a MongoDB server runs aggregation pipelines, not SQL")
        started_s = time.monotonic()
        gathered = Gatherer(limits)
        async with self._limited(limits.elapsed_s):
            cursor = await self._run(program, limits)
            try:
                async for raw in cursor:
                    if not gathered.has_room(len(raw.raw)):
                        break
                    gathered.add(_decode(raw.raw), len(raw.raw))
            finally:
                await _close(cursor)
        return gathered.rows(time.monotonic() - started_s)

    async def _run(self, program: MqlProgram, limits: Limits) -> AsyncCommandCursor[RawBSONDocument]:
        database = self._client.get_database(self.name, codec_options=_RAW)
        has_own_documents = bool(program.stages) and "$documents" in program.stages[0]
        source: Any = database if has_own_documents else database[program.container]
        return await source.aggregate(
            [dict(stage) for stage in program.stages],
            **({"allowDiskUse": True} if limits.disk else {}),
            batchSize=min(limits.rows + 1, _BATCH),
            maxTimeMS=_milliseconds(limits.elapsed_s),
            comment=_COMMENT,
        )

    async def close(self) -> None:
        """Let go of connections."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self._client.close()
        with anyio.CancelScope(shield=True):
            await asyncio.sleep(0)  # the transports close on the next turn of the loop

    @asynccontextmanager
    async def _limited(self, elapsed_s: float) -> AsyncGenerator[None]:
        """Bound a call by our own clock as well: a little later than the server's, so that its message comes first.

        A server that was reached before and goes away ends the call early, unless the connection string says how
        long to look for one.
        """
        grace_s = _GRACE_S if self._build is not None else _GRACE_S + self._connect_s
        self._calls_open += 1
        with self._translated(elapsed_s):
            try:
                async with asyncio.timeout(elapsed_s + grace_s) as bound:
                    with self._sight.kept(bound) if self._is_watched else nullcontext():
                        yield
            except TimeoutError:
                if self._client.topology_description.has_readable_server():
                    raise
                raise ServerSelectionTimeoutError("it did not come back in time") from None
            except (PyMongoError, BSONError):
                self._calls_open -= 1
                raise
            self._calls_open -= 1

    @property
    def _is_watched(self) -> bool:
        return self._build is not None and "serverselectiontimeoutms" not in self._address.options

    def _translated(self, elapsed_s: float) -> _Translated:
        met = Met.NEVER if self._build is None else Met.EMBEDDED if self.is_embedded else Met.SERVER
        return _Translated(self._address.hosts, elapsed_s, self._address.redact, met)


class _Translated:
    """Turn what a driver raises inside `with` into the errors callers know."""

    def __init__(self, where: str, elapsed_s: float, redact: Callable[[str], str], met: Met) -> None:
        self._where, self._elapsed_s, self._redact, self._met = where, elapsed_s, redact, met

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ANSWERS_EXCEPTIONS):
            # The driver's own exception may quote secrets, so it does not become the visible cause.
            raise translate(error, self._where, self._elapsed_s, self._redact, self._met) from None


def _client(address: Address, connect_s: float) -> AsyncMongoClient[Document]:
    try:
        return AsyncMongoClient(
            address.uri,
            document_class=dict[str, Any],
            driver=DriverInfo("groundql"),
            **address.connection_options(connect_s),
        )
    except (ConfigurationError, ValueError) as error:
        raise InputError(f"the connection string cannot be used: {address.redact(str(error))}") from None


def _decode(raw: bytes | memoryview) -> Document:
    try:
        return bson.decode(raw, CODEC)  # pyright: ignore[reportUnknownMemberType]
    except InvalidBSON as error:
        raise DatabaseError(f"a document that came back cannot be read: {error}") from None


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _equalities(where: Mapping[str, Any] | None) -> Document:
    """Build a filter in which no name and no value can act as an operator."""
    plain = {name: {"$eq": value} for name, value in (where or {}).items() if not name.startswith("$")}
    other = [
        {"$expr": {"$eq": [{"$getField": {"$literal": name}}, {"$literal": value}]}}
        for name, value in (where or {}).items()
        if name.startswith("$")
    ]
    return {**plain, **({"$and": other} if other else {})}


async def _close(cursor: AsyncCommandCursor[Any] | AsyncCursor[Any]) -> None:
    """Close a cursor at the server, also when the question was cancelled, but never wait long for it."""
    with anyio.move_on_after(_CLOSE_S, shield=True):
        try:
            await cursor.close()
        except (PyMongoError, OSError):
            return
