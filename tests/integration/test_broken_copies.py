"""A copy of loaded files that cannot be opened is made anew."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from groundql.config import Settings
from groundql.databases.embedded import find_command
from groundql.errors import EmbeddedUnavailable
from groundql.wiring import open_database


def _has_server() -> bool:
    try:
        find_command()
    except EmbeddedUnavailable:
        return False
    return True


@pytest.mark.skipif(not _has_server(), reason="the embedded server is not installed")
def test_a_copy_that_cannot_be_opened_is_loaded_again(tmp_path: Path) -> None:
    data = tmp_path / "shop"
    data.mkdir()
    (data / "orders.json").write_text(json.dumps([{"_id": 1}, {"_id": 2}]), encoding="utf-8")
    settings = Settings(cache_dir=tmp_path / "cache")

    async def names() -> list[str]:
        opened = await open_database(str(data), settings)
        try:
            return [c.name for c in (await opened.database.describe()).containers]
        finally:
            await opened.database.close()
            await opened.stop()

    assert anyio.run(names) == ["orders"]
    (copy,) = (tmp_path / "cache" / "embedded").iterdir()
    for file in copy.glob("WiredTiger*"):
        file.write_bytes(b"torn")
    assert anyio.run(names) == ["orders"]
