"""A database of canned answers, for tests."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import bson

from groundql.core.catalog import ContainerInfo
from groundql.core.ports import Description, Draw
from groundql.core.program import Admitted, Program
from groundql.core.rows import Limits, Rows
from groundql.databases.gather import Gatherer
from groundql.errors import ProgramRejected

Record = Mapping[str, Any]
Answers = Callable[[Program], Iterable[Record]]


class MemoryDatabase:
    """Documents by container, and for each program its records.

    `answers` maps a program to its records and may raise any error of `groundql.errors`; without it every program is
    rejected. What was executed is kept in `executed`, in order.
    """

    def __init__(
        self,
        documents: Mapping[str, Sequence[Record]] | None = None,
        answers: Answers | None = None,
        *,
        name: str = "memory",
        description: Description | None = None,
        seed: int = 7,
    ) -> None:
        self._documents = documents or {}
        self._answers = answers
        self._description = description or _described(name, self._documents)
        self._random = random.Random(seed)
        self.executed: list[Program] = []
        self.is_closed = False

    @property
    def dialect(self) -> str:
        """`mongodb`."""
        return "mongodb"

    async def describe(self) -> Description:
        """Return the given description, or one of the documents."""
        return self._description

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Record]:
        """Stream up to `size` documents."""
        found = [d for d in self._documents.get(container, ()) if _agrees(d, where or {})]
        for document in self._drawn(found, size, draw):
            yield document

    def _drawn(self, found: list[Record], size: int, draw: Draw) -> list[Record]:
        match draw:
            case Draw.HEAD:
                return found[:size]
            case Draw.TAIL:
                return found[-size:] if size else []
            case Draw.RANDOM:
                return self._random.sample(found, min(size, len(found)))

    async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
        """Return the canned records, cut to the limits."""
        self.executed.append(admitted.program)
        if self._answers is None:
            raise ProgramRejected("no canned answer for this program")
        gathered = Gatherer(limits)
        for record in self._answers(admitted.program):
            size_bytes = len(bson.encode(record))
            if not gathered.has_room(size_bytes):
                break
            gathered.add(record, size_bytes)
        return gathered.rows(0.0)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


def _described(name: str, documents: Mapping[str, Sequence[Record]]) -> Description:
    containers = tuple(ContainerInfo(c, documents=len(documents[c])) for c in sorted(documents))
    return Description(name, engine="memory", version="", containers=containers)


def _agrees(document: Record, where: Mapping[str, Any]) -> bool:
    return all(
        _matches(document, name.split(".") if not name.startswith("$") else [name], value)
        for name, value in where.items()
    )


def _matches(value: Any, steps: list[str], wanted: Any) -> bool:
    """Compare as the server does: through arrays, and null equals missing."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return any(_matches(item, steps, wanted) for item in items) or (not steps and items == wanted)
    if not steps:
        return value == wanted
    if not isinstance(value, Mapping):
        return wanted is None
    if steps[0] not in value:
        return wanted is None
    return _matches(value[steps[0]], steps[1:], wanted)
