from __future__ import annotations

import anyio
import pytest

from groundql.bench.case import Suite
from groundql.bench.hosts import Host
from groundql.config import Settings
from groundql.errors import InputError


def test_a_database_without_a_file_says_where_to_put_one() -> None:
    async def ask() -> None:
        async with Host(Suite("mine", (), {}, {}), Settings()) as host:
            await host.database("shop")

    with pytest.raises(InputError) as caught:
        anyio.run(ask)
    assert "holds no documents of the database 'shop'" in str(caught.value)
    assert "shop.json" in caught.value.hint
