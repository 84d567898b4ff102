"""What a run lays around the model of each task: how many calls at a time, and its seeds."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

import anyio

from groundql.bench.running.plan import Task
from groundql.core.budget import Meter
from groundql.core.chat import ModelReply, ModelRequest
from groundql.core.ports import Model
from groundql.core.trace import Trace
from groundql.llm.wrap import Wrapped

OpenModel: TypeAlias = Callable[[Task, Meter, Trace], Model]
"""Return the model for one task, within its budget and trace."""

CALLS_AT_ONCE: Final = {"local": 1}
"""Providers that answer no more than so many requests at a time; a further one would only wait there."""


class Limited(Wrapped):
    """Make no more than so many calls at a time. Waiting for one's turn is not counted as time spent."""

    def __init__(self, inner: Model, turns: anyio.CapacityLimiter) -> None:
        super().__init__(inner)
        self._turns = turns

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        async with self._turns:
            return await self.inner.complete(request)


class Seeded(Wrapped):
    """Give every request of a task a seed of its own, the same whenever the run is done with the same seed."""

    def __init__(self, inner: Model, seed: int, task: Task) -> None:
        super().__init__(inner)
        self._root = f"{seed}\0{task.key}"
        self._asked = Counter[int | None]()

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        number = self._asked[request.seed]
        self._asked[request.seed] += 1
        digest = hashlib.sha256(f"{self._root}\0{request.seed}\0{number}".encode()).digest()
        return await self.inner.complete(replace(request, seed=int.from_bytes(digest[:4], "big") >> 1))


def limited_calls(open_model: Callable[[Meter, Trace], Model], spec: str, at_once: int) -> OpenModel:
    """Return an opener whose models share one bound on calls at a time."""
    provider = spec.partition(":")[0]
    turns = anyio.CapacityLimiter(min(at_once, CALLS_AT_ONCE.get(provider, at_once)))

    def opened(_: Task, meter: Meter, trace: Trace) -> Model:
        return Limited(open_model(meter, trace), turns)

    return opened


def seeded_calls(open_model: OpenModel, seed: int) -> OpenModel:
    """Return an opener whose models have seeds."""

    def opened(task: Task, meter: Meter, trace: Trace) -> Model:
        return Seeded(open_model(task, meter, trace), seed, task)

    return opened
