"""Solvers whose model answers some day: a task is suspended as soon as all it can do is wait for replies.

A suspended task is done again from its start in a later round. Its solver asks the same, so that replies are found by
what was asked, and it comes further each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio

from groundql.bench.running.batch import BatchFolder, Fault, request_id
from groundql.bench.running.plan import Key, Task
from groundql.core.answer import Answer
from groundql.core.budget import Meter
from groundql.core.chat import ModelReply, ModelRequest
from groundql.core.ports import Database, Description, Draw, Env, Model, Solver
from groundql.core.program import Admitted
from groundql.core.rows import Limits, Rows
from groundql.core.trace import Trace
from groundql.errors import ModelError
from groundql.llm.wrap import metered

POLL_S: Final = 0.01
QUIET_POLLS: Final = 5
"""A task waits when nothing of it moved for so many looks; one that is cut short merely takes a round more."""


class Suspended(Exception):
    """Report that a task waits for replies."""


@dataclass(slots=True)
class Activity:
    """What one task is doing: calls that wait for a reply, calls that are at the database, and moves made so far."""

    waiting: int = 0
    at_database: int = 0
    moves: int = 0


@dataclass(slots=True)
class BatchDesk:
    """Open models on a batch folder, and run solvers until they have to wait."""

    folder: BatchFolder
    _activities: dict[Key, Activity] = field(default_factory=dict[Key, Activity])

    def open_model(self, task: Task, meter: Meter, trace: Trace) -> Model:
        """Return the model for one task."""
        activity = self._activities[task.key] = Activity()
        return metered(BatchModel(self.folder, task.repeat, activity), meter, trace)

    async def solve(self, solver: Solver, task: Task, env: Env) -> Answer:
        """Run a solver to its end, or until all it can do is wait.

        Raises: Suspended.
        """
        activity = self._activities.pop(task.key)
        watched = replace(env, database=_Watched(env.database, activity))
        answer: Answer | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_cut_when_quiet, activity, group.cancel_scope)
            answer = await solver(task.case.question, watched)
            group.cancel_scope.cancel()
        if answer is None:
            raise Suspended
        return answer


class BatchModel:
    """Answer from the replies of a batch folder; a request without one waits for good. Satisfies `core.ports.Model`.

    Raises (from `complete`): ModelError where the provider turned the request down.
    """

    def __init__(self, folder: BatchFolder, repeat: int, activity: Activity) -> None:
        self._folder = folder
        self._repeat = repeat
        self._activity = activity
        self._asked = Counter[str]()

    @property
    def name(self) -> str:
        return f"{self._folder.provider}:{self._folder.model}"

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request, if its reply is there."""
        alike = request_id("", request, 0, 0)
        occurrence = self._asked[alike]
        self._asked[alike] += 1
        self._activity.moves += 1
        _, found = self._folder.ask(request, self._repeat, occurrence)
        if isinstance(found, Fault):
            raise ModelError(f"{self.name} turned the request down: {found.message}")
        if found is None:
            self._activity.waiting += 1
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        assert found is not None
        return found

    async def close(self) -> None:
        """Nothing is open."""


class _Watched:
    """Pass on to a database, and note when something is at it. Satisfies `core.ports.Database`."""

    def __init__(self, inner: Database, activity: Activity) -> None:
        self._inner = inner
        self._activity = activity

    @property
    def dialect(self) -> str:
        return self._inner.dialect

    async def describe(self) -> Description:
        with _At(self._activity):
            return await self._inner.describe()

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        with _At(self._activity):
            async for document in self._inner.sample(container, size, draw, where):
                yield document

    async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
        with _At(self._activity):
            return await self._inner.execute(admitted, limits)

    async def close(self) -> None:
        await self._inner.close()


class _At:
    """Count a stay at the database."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def __enter__(self) -> None:
        self._activity.at_database += 1

    def __exit__(self, *_: object) -> None:
        self._activity.at_database -= 1
        self._activity.moves += 1


async def _cut_when_quiet(activity: Activity, scope: anyio.CancelScope) -> None:
    """Cancel a task once it only waits for replies."""
    quiet, moves = 0, -1
    while quiet < QUIET_POLLS:
        await anyio.sleep(POLL_S)
        is_still = activity.waiting > 0 and activity.at_database == 0 and activity.moves == moves
        quiet, moves = (quiet + 1 if is_still else 0), activity.moves
    scope.cancel()
