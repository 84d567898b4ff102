"""What a MongoDB server says of a database by itself: its containers, before any document is read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import OperationFailure

from groundql.core.catalog import ContainerInfo, ContainerType
from groundql.databases.failures import is_unauthorised

Document = dict[str, Any]
T = TypeVar("T")

_AT_ONCE: Final = 8
_DETAILS_S: Final = 20.0
"""After this long the rest is listed without counts and indexes: thousands must not stall a question."""
_COMMAND_MS: Final = 5000
_HIDDEN: Final = ("system.", "enxcol_.")


@dataclass(frozen=True, slots=True)
class Listing:
    """The containers of a database; `is_partial` when the full list could not be read."""

    containers: tuple[ContainerInfo, ...]
    is_partial: bool


async def list_containers(
    database: AsyncDatabase[Document], declared: Sequence[str], *, with_size: bool = True
) -> Listing:
    """List the containers, with type, count, mean size and indexes as far as the user may see them.

    Falls back to the containers the user is authorised for, then to the declared names.
    Raises: the driver's exceptions, when nothing at all can be listed.
    """
    infos, is_partial = await _names(database, declared)
    gate = asyncio.Semaphore(_AT_ONCE)
    deadline = time.monotonic() + _DETAILS_S

    async def detailed(info: ContainerInfo) -> ContainerInfo:
        async with gate:
            return await _detail(database, info, with_size) if time.monotonic() < deadline else info

    return Listing(tuple(await asyncio.gather(*map(detailed, infos))), is_partial)


async def _names(database: AsyncDatabase[Document], declared: Sequence[str]) -> tuple[list[ContainerInfo], bool]:
    try:
        return await _listed(database), False
    except OperationFailure as error:
        if not is_unauthorised(error):
            raise
    try:
        known = await _listed(database, nameOnly=True, authorizedCollections=True)
    except OperationFailure as error:
        if not is_unauthorised(error) or not declared:
            raise
        known = []
    names = {info.name for info in known}
    known += [ContainerInfo(name) for name in declared if name not in names]
    return sorted(known, key=lambda info: info.name), True


async def _listed(database: AsyncDatabase[Document], **options: Any) -> list[ContainerInfo]:
    cursor = await database.list_collections(**options)
    async with cursor:
        found = [_info(document) async for document in cursor]
    return sorted((i for i in found if not i.name.startswith(_HIDDEN)), key=lambda info: info.name)


def _info(listed: Mapping[str, Any]) -> ContainerInfo:
    options: Mapping[str, Any] = listed.get("options") or {}
    if listed.get("type") == "view":
        kind = ContainerType.VIEW
    elif listed.get("type") == "timeseries" or "timeseries" in options:
        kind = ContainerType.TIME_SERIES
    elif options.get("capped"):
        kind = ContainerType.CAPPED
    else:
        kind = ContainerType.COLLECTION
    return ContainerInfo(str(listed["name"]), kind)


async def _detail(database: AsyncDatabase[Document], info: ContainerInfo, with_size: bool) -> ContainerInfo:
    if info.type is ContainerType.VIEW:  # counting one runs its pipeline
        return info
    try:
        documents = await database[info.name].estimated_document_count(maxTimeMS=_COMMAND_MS)
    except OperationFailure as error:
        if info.type is ContainerType.TIME_SERIES:
            return info
        return replace(info, error=_reason(error))
    info = replace(info, documents=documents)
    info = replace(info, indexes=await _allowed(lambda: _indexes(database, info.name), ()))
    if with_size and documents and info.type is not ContainerType.TIME_SERIES:
        info = replace(info, mean_bytes=await _allowed(lambda: _mean_bytes(database, info.name), None))
    return info


async def _allowed(ask: Callable[[], Awaitable[T]], otherwise: T) -> T:
    try:
        return await ask()
    except OperationFailure:  # nice to know, not needed: many users may read but not ask for statistics
        return otherwise


async def _indexes(database: AsyncDatabase[Document], name: str) -> tuple[str, ...]:
    cursor = await database[name].list_indexes()
    async with cursor:
        return tuple([",".join(map(str, index["key"])) async for index in cursor])


async def _mean_bytes(database: AsyncDatabase[Document], name: str) -> int | None:
    stages: list[Document] = [{"$collStats": {"storageStats": {}}}]
    cursor = await database[name].aggregate(stages, maxTimeMS=_COMMAND_MS)
    async with cursor:
        found = [document["storageStats"] async for document in cursor]
    # A sharded collection answers once a shard.
    documents = sum(int(s.get("count", 0)) for s in found)
    size_bytes = sum(int(s.get("size", 0)) for s in found)
    return round(size_bytes / documents) if documents and size_bytes else None


def _reason(error: OperationFailure) -> str:
    return "not authorised" if is_unauthorised(error) else str(error).partition(", full error")[0][:200]
