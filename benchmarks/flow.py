"""Time the program analysis and the gates on the gold pipelines of the sample worlds.

    python benchmarks/flow.py [--rounds 20] [--world NAME] [--json]

For each world: how many programs, stages and reads; the time of the first analysis on a fresh catalog (which builds
the document types); the median and the worst program after that; and the gates that ask no database, with the
question at hand; each the best of the rounds. Milliseconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median

from groundql.bench.worlds import World, list_worlds
from groundql.checking.gates import RULES
from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo
from groundql.core.program import MqlProgram
from groundql.grounding.profile import Profiler
from groundql.languages.flow import analyse
from groundql.languages.mongosh import parse_program


@dataclass(frozen=True)
class Timing:
    """One world's figures. Units: milliseconds."""

    world: str
    paths: int
    programs: int
    stages: int
    reads: int
    first_ms: float
    median_ms: float
    worst_ms: float
    gates_ms: float
    gates_worst_ms: float


def build_catalog(world: World) -> Catalog:
    """Profile every document of a world."""
    containers = []
    for name, documents in world.documents().items():
        profiler = Profiler(ContainerInfo(name, documents=len(documents)))
        for document in documents:
            profiler.add(document)
        containers.append(profiler.finish().container)
    return Catalog(world.name, tuple(containers))


def measure(program: MqlProgram, catalog: Catalog) -> float:
    """Analyse once. Units: milliseconds."""
    start = time.perf_counter()
    analyse(program, catalog)
    return 1000 * (time.perf_counter() - start)


def measure_gates(program: MqlProgram, question: str, catalog: Catalog) -> float:
    """Run the pure gates once. Units: milliseconds."""
    claims, grounding = analyse(program, catalog), Grounding(Question(question), catalog)
    start = time.perf_counter()
    for rule in RULES:
        rule(claims, grounding)
    return 1000 * (time.perf_counter() - start)


def time_world(world: World, rounds: int) -> Timing:
    """Time every gold program of a world."""
    catalog = build_catalog(world)
    tasks = world.tasks()
    programs = [parse_program(task.mql) for task in tasks]
    first = measure(programs[0], catalog)
    best = [min(measure(program, catalog) for _ in range(rounds)) for program in programs]
    gates = [
        min(measure_gates(program, task.nlq, catalog) for _ in range(rounds))
        for program, task in zip(programs, tasks, strict=True)
    ]
    return Timing(
        world.name,
        sum(len(c.fields) for c in catalog.containers),
        len(programs),
        sum(len(program.stages) for program in programs),
        sum(len(analyse(program, catalog).reads) for program in programs),
        first,
        median(best),
        max(best),
        median(gates),
        max(gates),
    )


def table(timings: list[Timing]) -> Iterator[str]:
    """Write the figures as lines."""
    heads = ("paths", "programs", "stages", "reads", "first", "median", "worst", "gates", "worst")
    widths = (7, 10, 8, 7, 9, 9, 9, 9, 9)
    yield f"{'world':<12}" + "".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)) + "  ms"
    for t in timings:
        yield (
            f"{t.world:<12}{t.paths:>7}{t.programs:>10}{t.stages:>8}{t.reads:>7}"
            f"{t.first_ms:>9.2f}{t.median_ms:>9.2f}{t.worst_ms:>9.2f}{t.gates_ms:>9.2f}{t.gates_worst_ms:>9.2f}"
        )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Time the program analysis on the gold pipelines.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--world", choices=[world.name for world in list_worlds()])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    chosen = [world for world in list_worlds() if given.world in (None, world.name)]
    timings = [time_world(world, given.rounds) for world in chosen]
    for line in (json.dumps(asdict(t)) for t in timings) if given.json else table(timings):
        print(line)


if __name__ == "__main__":
    main()
