from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bson import Decimal128, Int64
from pymongo import MongoClient

from faces.command import CommandLine

EXACT = "0.1000000000000000000000000001"
ITEMS: list[dict[str, Any]] = [
    {
        "_id": number,
        "name": name,
        "price": Decimal128(EXACT if number == 1 else f"{number}.50"),
        "made": dt.datetime(2020, 1, number),
        "sold": Int64(number * 3_000_000_000),
        "tags": ["light", "home"][: number % 3],
        "size": {"w": number, "h": number * 2},
        **({"note": None} if number % 2 else {}),
    }
    for number, name in enumerate(("Lamp", 'Chair, "wide"', "Tür\nzwei", "Desk", "=1+1", "[bold]Shelf[/]"), 1)
]


@pytest.fixture(scope="session")
def shop_uri(mongo_uri: str, mongo_client: MongoClient[dict[str, Any]]) -> Iterator[str]:
    """A small database that no test writes to."""
    name = f"groundql_test_{uuid.uuid4().hex[:12]}"
    mongo_client[name].items.insert_many(ITEMS)
    mongo_client[name].people.insert_many([{"_id": n, "bought": n % 6 + 1, "age": 20 + n} for n in range(12)])
    yield named(mongo_uri, name)
    mongo_client.drop_database(name)


def named(uri: str, name: str) -> str:
    """Return a connection string with a database's name in it."""
    before, mark, options = uri.partition("?")
    scheme, _, rest = before.partition("://")
    return f"{scheme}://{rest.split('/')[0]}/{name}{mark}{options}"


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The command line, at home in an empty folder with a cache of its own."""
    home: Path = tmp_path_factory.mktemp("home")
    return CommandLine(home, {"GROUNDQL_CACHE_DIR": str(home / "cache")})


@pytest.fixture
def shop(command: CommandLine, shop_uri: str) -> CommandLine:
    """The command line with the small database configured."""
    return CommandLine(command.home, {**command.variables, "MONGODB_URI": shop_uri})
