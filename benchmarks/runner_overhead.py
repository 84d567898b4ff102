"""Time what a run adds to each task beside its solver: queue, environment, journal with its write to the disk, counts.

    python benchmarks/runner_overhead.py [--tasks 1210] [--json]

The solver hands in a fixed program after one call to a scripted model, on a database in memory. Milliseconds of wall
time and of processor time per task.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from groundql.bench.case import Case, CaseId
from groundql.bench.running.plan import Plan, Terms
from groundql.bench.running.stint import Parts, work_on
from groundql.core.answer import Answer, Candidate, Grounding, Outcome, Question
from groundql.core.catalog import Catalog
from groundql.core.chat import Message, ModelRequest
from groundql.core.ports import Database, Env
from groundql.core.program import MqlProgram
from groundql.databases.memory import MemoryDatabase
from groundql.llm.scripted import Scripted
from groundql.llm.wrap import metered

PROGRAM = MqlProgram("heroes", ({"$match": {"side": "good"}}, {"$project": {"_id": 0, "name": 1}}))


class Grounder:
    catalog = Catalog("comics", (), "0" * 32)

    async def ground(self, question: Question, /) -> Grounding:
        return Grounding(question, self.catalog)


class Hosts:
    def __init__(self) -> None:
        self._database = MemoryDatabase()

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[Database]:
        yield self._database

    async def database(self, name: str) -> Database:
        return self._database

    async def reopen(self, name: str) -> Database:
        return self._database

    async def grounder(self, name: str) -> Any:
        return Grounder()


class Fixed:
    """A solver that takes no time of its own."""

    name = "path-card"  # a name that has a disclosure

    async def __call__(self, question: Question, env: Env, /) -> Answer:
        await env.model.complete(ModelRequest((Message("user", question.text),)))
        tried = Candidate(PROGRAM)
        return Answer(Outcome.ANSWERED, question, PROGRAM, candidates=(tried,), usage=env.meter.spent)


async def measure(tasks: int, concurrency: int, folder: Path) -> dict[str, float]:
    model = Scripted(lambda _: "ok")
    cases = [Case(CaseId("comics", n), Question(f"How many of kind {n} are there?")) for n in range(tasks)]
    plan = Plan(suite="synthetic", solvers=("path-card",), model="scripted")
    parts = Parts(
        hosts=Hosts(),
        solvers={"path-card": Fixed()},
        open_model=lambda _, meter, trace: metered(model, meter, trace),
        listen=lambda board: board.line() and None,
    )
    began_s, used_s = time.perf_counter(), time.process_time()
    ended = await work_on(folder, plan, "", cases, Terms(concurrency=concurrency), parts)
    assert ended.board.done == tasks
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - used_s
    return {"wall_ms": 1000 * wall_s / tasks, "processor_ms": 1000 * cpu_s / tasks}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1210)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for concurrency in (1, 8):
        with tempfile.TemporaryDirectory() as folder:
            found[f"{concurrency} at a time"] = anyio.run(measure, given.tasks, concurrency, Path(folder))
    if given.json:
        print(json.dumps({"tasks": given.tasks, **found}))
        return
    print(f"runner beside the solver, {given.tasks:,} tasks:")
    for name, figures in found.items():
        print(f"  {name}: {figures['wall_ms']:.2f} ms a task, {figures['processor_ms']:.2f} ms of the processor")


if __name__ == "__main__":
    main()
