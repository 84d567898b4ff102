"""Drawing documents from one container until nothing new turns up.

Uniform random draws show what is common and bound how much is still unseen. They miss what is rare, so the two ends
are read as well (old and new documents differ), and every value of a field that may tell variants apart: the server
counts its values, and each that was drawn too seldom is drawn on purpose. Where random draws are refused, short
stretches at equal distances stand in for them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.lowlevel
import bson
from bson.errors import BSONError

from groundql.core.catalog import Sampling, StopReason
from groundql.core.ports import Database, Draw
from groundql.core.program import Admitted, MqlProgram, Stage
from groundql.core.rows import Limits
from groundql.errors import DatabaseError, DatabaseUnreachable
from groundql.grounding.profile import Profiler
from groundql.languages.safety import admit

BREATH: Final = 50
"""Documents between two chances for other tasks, and two looks at the clock."""
REPORTED: Final = 500
WEIGHED: Final = 20
COUNT_S: Final = 10.0
STRIDE: Final = 50
FRESH_SHARE: Final = 0.5
"""A random draw with fewer new documents than this share of what chance would give is not random."""
MOST_TAGS: Final = 8
MOST_FOR_VARIANTS: Final = 0.5
"""Share of the time budget after which no more variants are drawn on purpose: some is left to see the rest."""
MOST_COUNTED: Final = 100
GLANCE: Final = 20
"""Documents drawn for a rare value of a field that explains nothing so far: enough to see whether it would."""


@dataclass(frozen=True, slots=True)
class SamplePolicy:
    """How much of each container is read.

    `documents`, `read_bytes` and `elapsed_s` bound one container. Sampling ends earlier when the chance that the
    next document shows an unseen path is at most `unseen_share`, 0 to 1. `first` documents are drawn to begin with,
    `edge` at either end, `per_variant` of each variant. Containers of whose documents fewer than `least_documents`
    fit into `read_bytes` are described by the server, from at most `server_documents`. `at_once` containers are read
    side by side.
    """

    documents: int = 30_000
    read_bytes: int = 256_000_000
    elapsed_s: float = 60.0
    unseen_share: float = 0.001
    first: int = 1000
    edge: int = 200
    per_variant: int = 100
    least_documents: int = 50
    server_documents: int = 500
    at_once: int = 4


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one container is read. `total` is None when unknown; `stop` says why it is `done`."""

    container: str
    documents: int
    total: int | None
    paths: int
    done: bool = False
    stop: StopReason | None = None


class _Stop(Exception):
    """A budget is spent."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Drawing:
    """Fill a profiler with documents of its container."""

    def __init__(
        self,
        database: Database,
        profiler: Profiler,
        policy: SamplePolicy,
        listen: Callable[[Progress], None] | None = None,
        version: str = "",
    ) -> None:
        self.read_bytes = 0
        self._database = database
        self._profiler = profiler
        self._policy = policy
        self._listen = listen
        self._version = version
        self._info = profiler.info
        self._started_s = time.monotonic()
        self._total = self._info.documents
        self._seen: set[str] = set()
        self._weighed = 0
        self._weighed_bytes = 0
        self._drawn = 0
        self._asked: set[tuple[str, Any, int]] = set()
        self._values: dict[str, tuple[Any, ...]] = {}
        self._can_list = database.dialect == "mongodb"

    async def run(self) -> Sampling:
        """Read the container.

        Raises: DatabaseError when nothing at all can be read.
        """
        if self._total is None:
            self._total = await self._counted()
        stop = StopReason.TIME
        with anyio.move_on_after(self._policy.elapsed_s):
            try:
                stop = await (self._whole() if self._fits() else self._sampled())
            except _Stop as spent:
                stop = spent.reason
        unseen = 0.0 if stop is StopReason.EXHAUSTED else self._unseen_share()
        elapsed_s = time.monotonic() - self._started_s
        return Sampling(self._profiler.documents, stop, unseen, self.read_bytes, elapsed_s)

    @property
    def total(self) -> int | None:
        """How many documents the container has, as far as is known."""
        return self._total

    def progress(self, profiler: Profiler, stop: StopReason | None = None) -> Progress:
        """Say how far the reading is."""
        return Progress(self._info.name, profiler.documents, self._total, profiler.paths, stop is not None, stop)

    def _fits(self) -> bool:
        if self._total is None:
            return False
        size_bytes = self._total * (self._info.mean_bytes or 0)
        return self._total <= self._policy.documents and size_bytes <= self._policy.read_bytes

    async def _whole(self) -> StopReason:
        """Read everything in stored order; a count that was too low an estimate turns it into a sample."""
        asked = self._policy.documents + 1
        await self._take(Draw.HEAD, asked)
        if self._drawn < asked:
            return StopReason.EXHAUSTED
        self._total = max(await self._counted() or 0, asked)
        return await self._sampled()

    async def _sampled(self) -> StopReason:
        is_random = await self._random(self._policy.first)
        if self._is_small():
            return await self._whole_after_all()
        for edge in (Draw.HEAD, Draw.TAIL):
            await self._tried(edge, self._policy.edge)
        size = self._policy.first
        while True:
            await self._variants()
            if self._unseen_share() <= self._policy.unseen_share:
                return StopReason.SATURATED
            size *= 2
            if is_random:
                is_random = await self._random(size)
            else:
                before = self._profiler.documents
                await self._strides(size)
                if self._profiler.documents == before:
                    return StopReason.EXHAUSTED if self._saw_all() else StopReason.DOCUMENTS

    def _is_small(self) -> bool:
        """Tell whether a container of unknown size turned out to be smaller than the first draw."""
        return self._total is None and self._drawn < self._policy.first

    async def _whole_after_all(self) -> StopReason:
        self._drawn = 0
        return await self._whole()

    def _saw_all(self) -> bool:
        return self._total is not None and self._profiler.documents >= self._total

    def _unseen_share(self) -> float:
        # Nothing lonely among N documents does not make the chance zero, only small: about one in N.
        documents = self._profiler.documents
        return max(self._profiler.unseen_share(), 1.0 / (documents + 1))

    async def _random(self, size: int) -> bool:
        """Draw at random; tell whether the draw was answered and looks random."""
        known = self._profiler.documents
        try:
            await self._take(Draw.RANDOM, size)
        except DatabaseUnreachable:
            raise
        except DatabaseError:
            return False
        fresh = self._profiler.documents - known
        expected = size * (1.0 - known / self._total) if self._total else float(size)
        if self._total is None and known == 0:
            return True
        return fresh >= FRESH_SHARE * min(expected, (self._total or size) - known)

    async def _tried(self, draw: Draw, size: int, where: Mapping[str, Any] | None = None) -> None:
        try:
            await self._take(draw, size, where)
        except DatabaseUnreachable:
            raise
        except DatabaseError:
            if not self._profiler.documents:
                raise

    async def _take(self, draw: Draw, size: int, where: Mapping[str, Any] | None = None) -> None:
        stream = self._database.sample(self._info.name, size, draw, where)
        async with aclosing(_closeable(stream)) as documents:
            async for document in documents:
                self._drawn += 1
                self._add(document)
                if self._drawn % BREATH == 0:
                    await anyio.lowlevel.checkpoint()
                    self._check_time()

    def _add(self, document: Mapping[str, Any]) -> None:
        if not self._is_new(document):
            return
        if self._profiler.documents >= self._policy.documents and not self._fits():
            raise _Stop(StopReason.DOCUMENTS)
        self.read_bytes += self._weigh(document)
        self._profiler.add(document)
        if self._listen is not None and self._profiler.documents % REPORTED == 0:
            self._listen(self.progress(self._profiler))
        if self.read_bytes > self._policy.read_bytes and not self._saw_all():
            raise _Stop(StopReason.BYTES)

    def _check_time(self) -> None:
        if time.monotonic() - self._started_s > self._policy.elapsed_s:
            raise _Stop(StopReason.TIME)

    def _is_new(self, document: Mapping[str, Any]) -> bool:
        """Tell whether a document was not drawn before; one without an id always counts."""
        if "_id" not in document:
            return True
        found = document["_id"]
        mark = f"{type(found).__name__} {found!r}"
        if mark in self._seen:
            return False
        self._seen.add(mark)
        return True

    def _weigh(self, document: Mapping[str, Any]) -> int:
        if self._info.mean_bytes:
            return self._info.mean_bytes
        # Encoding costs as much as reading: the first documents and every fiftieth stand for the others.
        if self._weighed < WEIGHED or self._profiler.documents % BREATH == 0:
            self._weighed += 1
            size_bytes = _encoded_bytes(document)
            self._weighed_bytes += size_bytes
            return size_bytes
        return self._weighed_bytes // self._weighed

    async def _variants(self) -> None:
        """Draw the values of fields that may tell variants apart, as far as they were seen too seldom."""
        tags = self._profiler.tags()[:MOST_TAGS]
        await self._count_values([tag.name for tag in tags if tag.name not in self._values])
        for tag in tags:
            # A glance need not be random, and a head is found without reading the whole container.
            draw, enough = (Draw.RANDOM, self._policy.per_variant) if tag.discriminates else (Draw.HEAD, GLANCE)
            values = {*self._values.get(tag.name, ()), *tag.counts}
            for value in sorted(values, key=lambda v: (type(v).__name__, str(v))):
                if tag.counts.get(value, 0) < enough and (tag.name, value, enough) not in self._asked:
                    if time.monotonic() - self._started_s > MOST_FOR_VARIANTS * self._policy.elapsed_s:
                        return
                    self._asked.add((tag.name, value, enough))
                    await self._tried(draw, enough, {tag.name: value})

    async def _count_values(self, names: list[str]) -> None:
        """Have the server list all values of some fields, in one scan; without it those seen must do."""
        self._values.update(dict.fromkeys(names, ()))
        if not names or not self._can_list:
            return
        sets: dict[str, Any] = {f"v{at}": {"$addToSet": "$" + name} for at, name in enumerate(names)}
        rows = await self._run([{"$group": {"_id": None, **sets}}])
        self._can_list = rows is not None
        for at, name in enumerate(names):
            found = [v for row in rows or () for v in row.get(f"v{at}", ()) if type(v) in (str, int, bool)]
            if len(found) < MOST_COUNTED:
                self._values[name] = tuple(found)

    async def _strides(self, size: int) -> None:
        """Read short stretches at equal distances, each time between those read before."""
        total = self._total or await self._counted() or 0
        pieces = max(1, size // STRIDE)
        for piece in range(pieces):
            skip = int((piece + 0.5) * total / pieces)
            for row in await self._run([{"$skip": skip}, {"$limit": STRIDE}]) or ():
                self._add(row)
            self._check_time()

    async def _counted(self) -> int | None:
        rows = await self._run([{"$count": "n"}])
        return None if rows is None else int(rows[0]["n"]) if rows else 0

    async def _run(self, stages: list[Stage]) -> tuple[Mapping[str, Any], ...] | None:
        """Run a program of ours; None when the server would not."""
        if self._database.dialect != "mongodb":
            return None
        sealed = admit(MqlProgram(self._info.name, tuple(stages)), self._version)
        if not isinstance(sealed, Admitted):
            return None
        try:
            rows = await self._database.execute(sealed, Limits(elapsed_s=COUNT_S))
        except DatabaseUnreachable:
            raise
        except DatabaseError:
            return None
        return rows.records


def _encoded_bytes(document: Mapping[str, Any]) -> int:
    try:
        return len(bson.encode(document))
    except (BSONError, OverflowError, ValueError):
        return len(repr(document))


async def _closeable(stream: AsyncIterator[Mapping[str, Any]]) -> AsyncGenerator[Mapping[str, Any]]:
    try:
        async for document in stream:
            yield document
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
