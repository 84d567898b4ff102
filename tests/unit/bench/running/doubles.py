"""A suite of a few questions about one small collection, and what a run of it needs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from groundql.bench.case import Case, CaseId
from groundql.bench.prediction import Prediction
from groundql.bench.running.budget import Spending
from groundql.bench.running.journal import Journal
from groundql.bench.running.plan import Task, tasks_of
from groundql.bench.running.runner import Halt, Runner
from groundql.core.answer import Answer, Grounding, Outcome, Question
from groundql.core.budget import Meter
from groundql.core.catalog import Catalog
from groundql.core.chat import ModelRequest
from groundql.core.ports import Database, Env, Model
from groundql.core.program import MqlProgram
from groundql.core.trace import Trace
from groundql.databases.memory import MemoryDatabase
from groundql.llm.scripted import Line, Scripted
from groundql.llm.wrap import metered
from tiny_catalog import container_of

HEROES = ({"_id": 1, "name": "Storm", "side": "good"}, {"_id": 2, "name": "Venom", "side": "bad"})
CATALOG = Catalog("comics", (container_of("heroes", HEROES),), "f" * 32)
PROGRAM = MqlProgram("heroes", ({"$match": {"side": "good"}},))
REPLY = json.dumps({"reading": "r", "assumptions": [], "collection": "heroes", "pipeline": list(PROGRAM.stages)})


def case(number: int, database: str = "comics") -> Case:
    return Case(CaseId(database, number), Question(f"question {number}"))


def tasks(count: int, solver: str = "probe", database: str = "comics") -> tuple[Task, ...]:
    return tasks_of([case(number, database) for number in range(count)], [solver], 1)


class Grounder:
    catalog = CATALOG

    async def ground(self, question: Question, /) -> Grounding:
        return Grounding(question, CATALOG)


class Hosts:
    """One memory database under every name; `opened` lists each time that one was opened anew."""

    def __init__(self, make: Callable[[], Database] | None = None) -> None:
        self._make = make or (lambda: MemoryDatabase({"heroes": HEROES}, lambda _: HEROES[:1]))
        self._open: dict[str, Database] = {}
        self.opened: list[str] = []

    async def database(self, name: str) -> Database:
        if name not in self._open:
            self._open[name] = self._make()
        return self._open[name]

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[Database]:
        yield await self.database(name)

    async def grounder(self, name: str) -> Any:
        return Grounder()

    async def reopen(self, name: str) -> Database:
        self.opened.append(name)
        self._open[name] = self._make()
        return self._open[name]


class Probe:
    """A solver of one step: a call to its model, then whatever the test says."""

    def __init__(self, act: Callable[[Question, Env], Any] | None = None, name: str = "probe") -> None:
        self.name = name
        self.asked: list[str] = []
        self._act = act

    async def __call__(self, question: Question, env: Env, /) -> Answer:
        self.asked.append(question.text)
        if self._act:
            found = await self._act(question, env)
            if isinstance(found, Answer):
                return found
        return Answer(Outcome.ANSWERED, question, PROGRAM, usage=env.meter.spent, model=env.model.name)


async def one_call(_: Question, env: Env) -> None:
    await env.model.complete(ModelRequest(()))


def scripted(lines: Iterable[Line] | Callable[[ModelRequest], Line]) -> Callable[[Task, Meter, Trace], Model]:
    model = Scripted(lines)
    return lambda _, meter, trace: metered(model, meter, trace)


async def no_wait(_: float) -> None:
    await anyio.lowlevel.checkpoint()


def run(folder: Path, todo: Sequence[Task], *solvers: Any, **options: Any) -> tuple[Halt | None, dict[Any, Prediction]]:
    """Run tasks into a folder, and return what stopped the run and what the journal then holds."""

    async def work() -> tuple[Halt | None, dict[Any, Prediction]]:
        with Journal(folder) as journal:
            given: dict[str, Any] = {
                "hosts": Hosts(), "open_model": scripted(lambda _: "ok"), "task_timeout_s": 30.0, "sleep": no_wait,
                "model": "test:model", "spending": Spending(), **options,
            }  # fmt: skip
            runner = Runner(solvers={s.name: s for s in solvers}, journal=journal, **given)
            return await runner.run(todo), dict(journal.done)

    return anyio.run(work)
