from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database as MongoDatabase

from groundql.databases.embedded import EmbeddedServer
from groundql.errors import EmbeddedUnavailable

Document = dict[str, Any]


@pytest.fixture(scope="session")
def mongo_uri() -> Iterator[str]:
    """The server under the tests: MONGODB_URI when set, else an embedded one that lives as long as the run."""
    given = os.environ.get("MONGODB_URI")
    if given:
        yield given
        return
    server = EmbeddedServer()
    try:
        server.start()
    except EmbeddedUnavailable as error:
        pytest.fail(f"{error}; install it with: pip install -e companions/groundql-embedded", pytrace=False)
    with server:
        yield server.uri


@pytest.fixture(scope="session")
def is_real_server() -> bool:
    """Whether MONGODB_URI names a server that is the authority on what MongoDB answers."""
    return bool(os.environ.get("MONGODB_URI"))


@pytest.fixture(scope="session")
def mongo_client(mongo_uri: str) -> Iterator[MongoClient[Document]]:
    """A plain driver on the server under the tests, for setting up data."""
    with MongoClient[Document](mongo_uri, serverSelectionTimeoutMS=10_000) as client:
        yield client


@pytest.fixture
def fresh_database(mongo_client: MongoClient[Document]) -> Iterator[MongoDatabase[Document]]:
    """An empty database with a name of its own, dropped afterwards."""
    name = f"groundql_test_{uuid.uuid4().hex[:12]}"
    yield mongo_client[name]
    mongo_client.drop_database(name)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
