"""Run tasks side by side until all are finished, or until something stops the run; what is finished is kept."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

import anyio

from groundql.bench.prediction import Prediction
from groundql.bench.running.budget import Spending
from groundql.bench.running.calls import OpenModel
from groundql.bench.running.journal import Journal
from groundql.bench.running.outcome import failure_of, of_answer, of_failure
from groundql.bench.running.plan import Task
from groundql.bench.running.suspending import Suspended
from groundql.core.answer import Answer
from groundql.core.budget import Budget, Meter, Usage
from groundql.core.ports import Database, Env, Model, Solver
from groundql.core.rows import Limits
from groundql.core.trace import Trace
from groundql.errors import (
    DatabaseUnreachable,
    EmbeddedUnavailable,
    GroundQLError,
    ModelRateLimited,
    ModelUnavailable,
    ModelUnset,
)
from groundql.grounding.grounder import CatalogGrounder
from groundql.wiring import open_env

TRIES: Final = 3
"""How often a task is begun that fails for want of a server; each time a model has been asked several times already."""
STREAK: Final = 5
"""So many such failures in a row, or twice the tasks in flight, mean that the server is gone for all."""
FIRST_WAIT_S: Final = 2.0
MOST_WAIT_S: Final = 60.0
PASSING: Final = (ModelUnavailable, ModelRateLimited, DatabaseUnreachable, EmbeddedUnavailable)
"""What says nothing of a solver: nobody answers at the moment."""

Solve: TypeAlias = Callable[[Solver, Task, Env], Awaitable[Answer]]


class Hosts(Protocol):
    """Whatever opens the databases of a suite by name."""

    def use(self, name: str) -> AbstractAsyncContextManager[Database]:
        """Keep a database open as long as the block lasts."""
        ...

    async def database(self, name: str) -> Database:
        """Return the database that is open now."""
        ...

    async def grounder(self, name: str) -> CatalogGrounder:
        """Open a database's grounding."""
        ...

    async def reopen(self, name: str) -> Database:
        """Close a database whose server went away and open it anew."""
        ...


class Reason(StrEnum):
    """Why a run ended before all tasks were finished."""

    BUDGET = "budget"
    REPLIES = "replies"
    """Tasks wait for replies of a batch API."""
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Halt:
    """What stopped a run. `error` is set for trouble."""

    reason: Reason
    message: str
    error: GroundQLError | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A task in the queue. `successes` counts the run's when it failed first."""

    task: Task
    tries: int = 0
    successes: int = 0


async def solve_plainly(solver: Solver, task: Task, env: Env) -> Answer:
    """Ask a solver."""
    return await solver(task.case.question, env)


@dataclass(slots=True, kw_only=True)
class Runner:
    """Run tasks with a number of workers.

    `on_done` is told each prediction once it is on disk; `on_open` each database when it is first used.
    Units: seconds
    """

    hosts: Hosts
    solvers: Mapping[str, Solver]
    open_model: OpenModel
    journal: Journal
    spending: Spending = field(default_factory=Spending)
    model: str = ""
    limits: Limits = Limits()
    budget: Budget = Budget()
    concurrency: int = 1
    task_timeout_s: float
    solve: Solve = solve_plainly
    on_done: Callable[[Prediction], None] | None = None
    on_open: Callable[[str, CatalogGrounder], None] | None = None
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    _queue: deque[_Waiting] = field(default_factory=deque[_Waiting])
    _halt: Halt | None = None
    _suspended: int = 0
    _successes: int = 0
    _streak: int = 0
    _opened: set[str] = field(default_factory=set[str])
    _reopening: anyio.Lock = field(default_factory=anyio.Lock)

    async def run(self, tasks: Iterable[Task]) -> Halt | None:
        """Run what the journal does not hold yet. Returns what stopped the run, None when all is finished."""
        self._queue = deque(_Waiting(task) for task in tasks if task.key not in self.journal.done)
        async with anyio.create_task_group() as group:
            for _ in range(min(self.concurrency, len(self._queue))):
                group.start_soon(self._work)
        if self._halt is None and self._suspended:
            self._halt = Halt(Reason.REPLIES, f"{self._suspended} tasks wait for replies")
        return self._halt

    async def _work(self) -> None:
        while (waiting := self._next()) is not None:
            try:
                prediction = await self._predict(waiting.task)
            except Suspended:
                self._suspended += 1
            except GroundQLError as error:
                await self._put_off(waiting, error)
            else:
                self._successes += 1
                self._streak = 0
                self._keep(prediction)

    def _next(self) -> _Waiting | None:
        reached = self.spending.reached() if self._queue else ""
        if reached and self._halt is None:
            self._halt = Halt(Reason.BUDGET, reached)
        return self._queue.popleft() if self._queue and self._halt is None else None

    def _keep(self, prediction: Prediction) -> None:
        try:
            self.journal.append(prediction)
        except OSError as error:  # a full disk: stop, and let the others in flight find the same
            told = GroundQLError(f"{self.journal.path}: {error.strerror or error}")
            self._halt = self._halt or Halt(Reason.TROUBLE, str(told), told)
            return
        if self.on_done:
            self.on_done(prediction)

    async def _put_off(self, waiting: _Waiting, error: GroundQLError) -> None:
        """Try a task again later; stop the run when this is no matter of one task."""
        self._streak += 1
        began = waiting.successes if waiting.tries else self._successes
        is_last = waiting.tries + 1 >= TRIES
        is_gone = self._streak >= max(STREAK, 2 * self.concurrency) or (is_last and began == self._successes)
        if is_lasting(error) or is_gone:
            self._halt = self._halt or Halt(Reason.TROUBLE, str(error), error)
        elif is_last:
            self._keep(self._failed(waiting.task, error, Usage(), Trace(), 0.0))
        else:
            self._queue.append(_Waiting(waiting.task, waiting.tries + 1, began))
            await self.sleep(min(MOST_WAIT_S, FIRST_WAIT_S * 2**waiting.tries))

    async def _predict(self, task: Task) -> Prediction:
        """Ask one task's solver; a database that went away is opened anew once.

        Raises: what can be expected to pass, and what keeps a database from being opened.
        """
        name = task.case.id.database
        async with self.hosts.use(name) as database:
            await self._grounder(name)  # before the clock runs: reading a database is nobody's task
            try:
                return await self._ask(task, database)
            except DatabaseUnreachable:
                return await self._ask(task, await self._reopened(name, database))

    async def _grounder(self, name: str) -> CatalogGrounder:
        grounder = await self.hosts.grounder(name)
        if name not in self._opened:
            self._opened.add(name)
            if self.on_open:
                self.on_open(name, grounder)
        return grounder

    async def _reopened(self, name: str, dead: Database) -> Database:
        """Open a database anew, unless another task that met the same has done so."""
        async with self._reopening:
            current = await self.hosts.database(name)
            return await self.hosts.reopen(name) if current is dead else current

    async def _ask(self, task: Task, database: Database) -> Prediction:
        trace, began_s = Trace(), time.monotonic()
        with self.spending.watch() as meters:
            try:
                with anyio.move_on_after(self.task_timeout_s):
                    answer = await self.solve(
                        self.solvers[task.solver], task, await self._env(task, database, trace, meters)
                    )
                    return of_answer(task, answer, self.model, time.monotonic() - began_s)
                raised: Exception = TimeoutError(f"not done within {self.task_timeout_s:g} s")
            except Suspended:
                raise
            except Exception as error:
                raised = error
            found = innermost(raised)
            if isinstance(found, PASSING):
                raise found from raised
            usage = meters[-1].spent if meters else Usage()
            return self._failed(task, found, usage, trace, time.monotonic() - began_s)

    async def _env(self, task: Task, database: Database, trace: Trace, meters: list[Meter]) -> Env:
        """Lay out what the solver may touch: the database, a model, the grounding. No gold is anywhere near."""

        def opened(meter: Meter, trace: Trace) -> Model:
            meters.append(meter)
            return self.open_model(task, meter, trace)

        name = task.case.id.database
        return await open_env(
            database, opened, lambda: self._grounder(name), limits=self.limits, budget=self.budget, trace=trace
        )

    def _failed(self, task: Task, error: BaseException, usage: Usage, trace: Trace, elapsed_s: float) -> Prediction:
        is_ours = isinstance(error, (GroundQLError, TimeoutError))
        return of_failure(
            task,
            "timeout" if isinstance(error, TimeoutError) else failure_of(error),
            str(error) if is_ours else f"{type(error).__name__}: {error}",
            self.model,
            usage=usage,
            elapsed_s=elapsed_s,
            events=trace.events,
        )


def is_lasting(error: GroundQLError) -> bool:
    """Whether trying again would meet the same: no key, no such model, an account without credit, a wrong file."""
    if isinstance(error, (ModelRateLimited, DatabaseUnreachable, EmbeddedUnavailable)):
        return False
    return not (isinstance(error, ModelUnavailable) and error.retryable and not isinstance(error, ModelUnset))


def innermost(error: BaseException) -> BaseException:
    """Take an error out of the groups that hold nothing else."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        error = error.exceptions[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return error  # pyright: ignore[reportUnknownVariableType]
