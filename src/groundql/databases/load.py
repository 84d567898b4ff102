"""Load data files into a database: the one place that writes, and only when the user asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import anyio.to_thread
import bson
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError

from groundql.databases.failures import ANSWERS_EXCEPTIONS, is_unauthorised, translate
from groundql.databases.files import DataFile, Located, NoDocuments, find_files, read_documents
from groundql.databases.uri import read_uri
from groundql.errors import DatabaseDenied, LoadError

Existing: TypeAlias = Literal["refuse", "replace", "append"]
"""What to do with a collection that holds documents already."""

_BATCH_DOCUMENTS: Final = 1000
_BATCH_BYTES: Final = 8_000_000
_LARGEST_BYTES: Final = 16 * 1024 * 1024
_CONNECT_S: Final = 10.0
_DUPLICATE: Final = 11000


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far loading is. Units: `read_bytes` of `size_bytes` of the current file, as they lie on disk."""

    file: Path
    container: str
    documents: int
    read_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """One collection that was loaded."""

    container: str
    documents: int


@dataclass(slots=True)
class _Batch:
    container: str
    documents: list[RawBSONDocument] = field(default_factory=list[RawBSONDocument])
    places: list[str] = field(default_factory=list[str])
    size_bytes: int = 0
    read_bytes: int = 0

    def add(self, located: Located, raw: bytes) -> None:
        self.documents.append(RawBSONDocument(raw))
        self.places.append(located.place)
        self.size_bytes += len(raw)
        self.read_bytes = located.read_bytes

    @property
    def is_full(self) -> bool:
        return len(self.documents) >= _BATCH_DOCUMENTS or self.size_bytes >= _BATCH_BYTES


def database_name(path: Path) -> str:
    """Name a database after a file or folder."""
    stem = path.resolve().name.split(".")[0]
    return re.sub(r"[^\w-]+", "_", stem).strip("_")[:60] or "data"


async def load(
    path: Path,
    uri: str,
    name: str = "",
    *,
    container: str = "",
    existing: Existing = "refuse",
    on_progress: Callable[[LoadProgress], None] | None = None,
) -> tuple[Loaded, ...]:
    """Load a data file, or a folder of them, into a database; returns what went where, ordered by collection.

    `name` names the database when the connection string does not; `container` the collection of a single file.
    Raises: LoadError naming file and line; the DatabaseError family.
    """
    address = read_uri(uri)
    name = name or address.database or database_name(path)
    files = find_files(path, container)
    try:
        async with AsyncMongoClient[dict[str, Any]](uri, **address.connection_options(_CONNECT_S)) as client:
            return await _Loading(client.get_database(name), existing, on_progress).run(files)
    except ANSWERS_EXCEPTIONS as error:
        if is_unauthorised(error):
            raise DatabaseDenied(
                f"the user may not write to {name!r} on {address.hosts}", hint="loading needs the role readWrite"
            ) from None
        raise translate(error, address.hosts, _CONNECT_S, address.redact) from None


class _Loading:
    def __init__(
        self,
        database: AsyncDatabase[dict[str, Any]],
        existing: Existing,
        on_progress: Callable[[LoadProgress], None] | None,
    ) -> None:
        self._database = database
        self._existing = existing
        self._on_progress = on_progress
        self._documents: dict[str, int] = {}

    async def run(self, files: Sequence[DataFile]) -> tuple[Loaded, ...]:
        try:
            for file in files:
                await self._take(file, is_alone=len(files) == 1)
            if not self._documents:
                raise NoDocuments(f"{files[0].path.parent}: none of its files holds a document")
        except LoadError as error:
            stored = sum(self._documents.values())
            if stored:
                error.hint = "; ".join(filter(None, (error.hint, self._after(stored))))
            raise
        return tuple(Loaded(c, n) for c, n in sorted(self._documents.items()))

    def _after(self, stored: int) -> str:
        """Say what a load that was broken off left behind; who replaces anyway need not be told."""
        match self._existing:
            case "refuse":
                return f"{stored} documents were stored before; once it is mended, load again with --replace"
            case "append":
                return f"{stored} documents were added before; appending again would add them twice"
            case _:
                return ""

    async def _take(self, file: DataFile, *, is_alone: bool) -> None:
        batches = _batches(file)
        try:
            while batch := await anyio.to_thread.run_sync(next, batches, None):
                await self._insert(file, batch)
        except NoDocuments:
            if is_alone:
                raise

    async def _insert(self, file: DataFile, batch: _Batch) -> None:
        collection: AsyncCollection[Any] = self._database[batch.container]
        if batch.container not in self._documents:
            await self._make_room(collection)
            self._documents[batch.container] = 0
        try:
            await collection.insert_many(batch.documents)
        except BulkWriteError as error:
            raise _refused(error, batch) from None
        self._documents[batch.container] += len(batch.documents)
        if self._on_progress:
            documents = self._documents[batch.container]
            self._on_progress(LoadProgress(file.path, batch.container, documents, batch.read_bytes, file.size_bytes))

    async def _make_room(self, collection: AsyncCollection[Any]) -> None:
        if self._existing == "replace":
            await collection.drop()
        elif self._existing == "refuse" and await collection.find_one({}, {"_id": 1}) is not None:
            raise LoadError(
                f"the collection {collection.name!r} of the database {self._database.name!r} holds documents already",
                hint="say whether to replace them or to append to them (--replace, --append)",
            )


def _batches(file: DataFile) -> Iterator[_Batch]:
    batch: _Batch | None = None
    for located in read_documents(file):
        if batch and (batch.is_full or batch.container != located.container):
            yield batch
            batch = None
        batch = batch or _Batch(located.container)
        batch.add(located, _encoded(located))
    if batch:
        yield batch


def _encoded(located: Located) -> bytes:
    """Encode a document now, so that one that cannot be stored is reported with its place."""
    document = located.document
    if isinstance(document, RawBSONDocument):
        raw = bytes(document.raw)
    else:
        try:
            raw = bson.encode(document)
        except (BSONError, OverflowError, TypeError, ValueError, RecursionError) as error:
            raise LoadError(f"{located.place}: cannot be stored: {error}") from None
    if len(raw) > _LARGEST_BYTES:
        raise LoadError(
            f"{located.place}: the document is too large ({len(raw) / 1e6:.1f} MB; a database stores up to 16 MB)"
        )
    return raw


def _refused(error: BulkWriteError, batch: _Batch) -> LoadError:
    details = cast("dict[str, Any]", error.details)
    writes = cast("list[dict[str, Any]]", details.get("writeErrors", []))
    if not writes:
        return LoadError(f"{batch.places[0]}: the server refused the documents from here on: {str(error)[:300]}")
    first = writes[0]
    place = batch.places[int(first["index"])]
    if first.get("code") == _DUPLICATE:
        keys = cast("dict[str, Any]", first.get("keyValue", {}))
        shown = ", ".join(f"{k}: {v!r}" for k, v in keys.items()) or str(first.get("errmsg", ""))
        return LoadError(f"{place}: another document has the same key ({shown[:200]})")
    return LoadError(f"{place}: the server refused the document: {str(first.get('errmsg', ''))[:300]}")
