"""Whether a database is still the one that was grounded, told without reading it.

The fingerprint covers the database's name, the containers with their types, counts and indexes, and the greatest `_id`
of each container (ids mostly grow, so appended data shows). It leaves out the host, so that the same data behind
another address is the same. Documents changed in place, without a change of any of these, do not show: that is what
refreshing is for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

import anyio

from groundql.core.catalog import ContainerInfo, ContainerType
from groundql.core.ports import Database, Description
from groundql.core.program import Admitted, MqlProgram
from groundql.core.rows import Limits
from groundql.errors import DatabaseError
from groundql.grounding.ejson import to_ejson
from groundql.languages.safety import admit

MOST_TAILS: Final = 40
_LIMITS: Final = Limits(rows=1, elapsed_s=2.0, read_bytes=100_000)


async def fingerprint_of(description: Description, database: Database) -> str:
    """Return the fingerprint of a described database, as 32 hexadecimal digits."""
    containers = sorted(description.containers, key=lambda c: c.name)
    facts: list[Any] = [description.database, description.is_partial]
    facts.extend([c.name, c.type.value, c.documents, sorted(c.indexes), c.error] for c in containers)
    facts.append(await _tails([c for c in containers if _has_tail(c)][:MOST_TAILS], database))
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _has_tail(info: ContainerInfo) -> bool:
    """Whether the greatest `_id` can be had from an index: not so for views and time series."""
    return info.type in {ContainerType.COLLECTION, ContainerType.CAPPED} and not info.error


async def _tails(containers: Sequence[ContainerInfo], database: Database) -> list[Any]:
    found: list[Any] = [None] * len(containers)

    async def ask(i: int) -> None:
        found[i] = await _tail(containers[i].name, database)

    async with anyio.create_task_group() as tasks:
        for i in range(len(containers)):
            tasks.start_soon(ask, i)
    return found


async def _tail(container: str, database: Database) -> Any:
    """The greatest `_id`, or None where it cannot be had: an unreadable container must not keep the rest away."""
    admitted = admit(MqlProgram(container, ({"$sort": {"_id": -1}}, {"$limit": 1}, {"$project": {"_id": 1}})))
    if not isinstance(admitted, Admitted):
        return None
    try:
        rows = await database.execute(admitted, _LIMITS)
    except DatabaseError:
        return None
    return to_ejson(rows.records[0].get("_id")) if rows.records else None
