"""Time `ask` without the model: grounding terms, card, flow, gates, rewrites, probes and evidence, on a warm grounding.

    python benchmarks/ask_overhead.py [RUNS]

The model is a script that replies at once with the task's own pipeline, in one attempt. Reported are the seconds of
this process (waiting for the database costs none), and the wall time less what the database took.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from groundql.bench.worlds import WorldTask, open_world
from groundql.core.budget import Meter
from groundql.core.chat import ModelRequest
from groundql.core.ports import Model
from groundql.core.program import MqlProgram
from groundql.core.trace import Trace
from groundql.databases.embedded import EmbeddedServer
from groundql.databases.load import load
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.store import GroundingStore
from groundql.languages.mongosh import parse_program
from groundql.languages.writing import to_ejson
from groundql.llm.scripted import Scripted
from groundql.llm.wrap import metered
from groundql.service import Service

WORLD = "atlas"


def scripted(task: WorldTask) -> Callable[[Meter, Trace], Model]:
    program = parse_program(task.mql)
    assert isinstance(program, MqlProgram)
    stages = json.loads(to_ejson(program))
    pipeline = stages["pipeline"] if isinstance(stages, dict) else stages
    text = json.dumps({"reading": "r", "assumptions": [], "collection": program.container, "pipeline": pipeline})

    def reply(_: ModelRequest) -> str:
        return text

    return lambda meter, trace: metered(Scripted(reply), meter, trace)


async def main(runs: int) -> None:
    world = open_world(WORLD)
    with EmbeddedServer() as server, tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / f"{WORLD}.json.gz"
        archive.write_bytes(world.packed())
        await load(archive, server.uri, WORLD)
        tasks = world.tasks()
        service = Service(MongoDatabase(server.uri, WORLD), GroundingStore(Path(folder)), scripted(tasks[0]))
        await service.ground()
        spent: list[float] = []
        overheads: list[float] = []
        for _ in range(runs):
            for task in tasks:
                service.open_model = scripted(task)
                started_s, used_s = time.perf_counter(), time.process_time()
                answer = await service.ask(task.nlq, solver="value-bisect")
                spent.append(time.process_time() - used_s)
                overheads.append(time.perf_counter() - started_s - answer.usage.database_s)
        await service.close()
    print(f"ask without model and database, {len(spent)} questions of {WORLD}:")
    for name, figures in (("process", spent), ("wall less database", overheads)):
        high = sorted(figures)[len(figures) * 9 // 10]
        print(f"  {name}: median {statistics.median(figures) * 1000:.0f} ms, 90th percentile {high * 1000:.0f} ms")


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 3)
