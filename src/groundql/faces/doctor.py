"""What is reachable, what is configured, what is missing, and how to mend it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import anyio

from groundql.config import Settings
from groundql.core.counted import counted
from groundql.databases.embedded import find_command
from groundql.databases.mongodb import MongoDatabase
from groundql.databases.uri import is_uri, redact
from groundql.errors import GroundQLError
from groundql.llm.local import model_status
from groundql.llm.models import open_model

CHECKED_S = 5.0


class State(StrEnum):
    """How a part is."""

    FINE = "ok"
    MISSING = "missing"
    BROKEN = "problem"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One part: how it is, what was seen, and what to do when it is not fine."""

    part: str
    state: State
    seen: str
    remedy: str = ""


async def examine(settings: Settings) -> tuple[Diagnosis, ...]:
    """Examine every part; nothing is started but a connection, nothing is downloaded."""
    return (
        _product(),
        _guarded("embedded server", _embedded),
        await _database(settings),
        _guarded("model", lambda: _model(settings)),
        *_local_models(settings),
        _cache(settings.cache_folder),
    )


def _product() -> Diagnosis:
    version = importlib.metadata.version("groundql")
    return Diagnosis("groundql", State.FINE, f"{version} on Python {platform.python_version()}, {platform.system()}")


def _guarded(part: str, look: Callable[[], Diagnosis]) -> Diagnosis:
    try:
        return look()
    except GroundQLError as error:
        return Diagnosis(part, State.MISSING, str(error), error.hint)


def _embedded() -> Diagnosis:
    return Diagnosis("embedded server", State.FINE, f"installed: {find_command()[0]}")


async def _database(settings: Settings) -> Diagnosis:
    target = settings.database.get_secret_value() if settings.database else ""
    if not target:
        return Diagnosis("database", State.MISSING, "none is configured", "set MONGODB_URI, or give --db")
    if not is_uri(target):
        there = await (await anyio.Path(target).expanduser()).exists()
        state = State.FINE if there else State.BROKEN
        return Diagnosis(
            "database", state, f"files: {redact(target)}", "" if there else "there is no such file or folder"
        )
    try:
        return await _server(target)
    except GroundQLError as error:
        return Diagnosis("database", State.BROKEN, str(error), error.hint)


async def _server(uri: str) -> Diagnosis:
    database = MongoDatabase(uri, connect_s=CHECKED_S)
    try:
        found = await database.describe()
    finally:
        await database.close()
    names = counted(len(found.containers), "collection")
    seen = f"{found.engine} {found.version} at {database.hosts}, database {found.database}: {names}"
    if not found.containers:
        return Diagnosis("database", State.BROKEN, seen, "the database is empty: check its name, or load data")
    return Diagnosis("database", State.FINE, seen)


def _model(settings: Settings) -> Diagnosis:
    model = open_model(settings.model)
    if settings.model.split(":")[0] != "local":
        return Diagnosis("model", State.FINE, f"{model.name} is configured (not called)")
    name = settings.model.partition(":")[2]
    chosen = next((s for s in model_status(settings.cache_folder) if not name or s.name == name), None)
    if chosen is None or not (chosen.present and chosen.server_installed):
        return Diagnosis(
            "model", State.MISSING, f"{settings.model} is not ready", "groundql model pull, or set another --model"
        )
    return Diagnosis("model", State.FINE, f"{chosen.title} in {chosen.path.parent}")


def _local_models(settings: Settings) -> Iterator[Diagnosis]:
    for status in model_status(settings.cache_folder):
        if not status.server_installed:
            yield Diagnosis(
                f"local model {status.name}",
                State.MISSING,
                "its server is not installed",
                "pip install 'groundql[local]'",
            )
        elif status.present:
            yield Diagnosis(f"local model {status.name}", State.FINE, str(status.path))
        else:
            size = f"{status.size_bytes / 1e6:,.0f} MB"
            yield Diagnosis(
                f"local model {status.name}",
                State.MISSING,
                f"not downloaded ({size})",
                f"groundql model pull {status.name}",
            )


def _cache(folder: Path) -> Diagnosis:
    place = next(p for p in (folder, *folder.parents) if p.exists())
    if not os.access(place, os.W_OK):
        return Diagnosis(
            "cache", State.BROKEN, f"{folder} cannot be written", "set GROUNDQL_CACHE_DIR to a folder of yours"
        )
    free = shutil.disk_usage(place).free / 1e9
    return Diagnosis("cache", State.FINE, f"{folder}, {free:,.0f} GB free")
