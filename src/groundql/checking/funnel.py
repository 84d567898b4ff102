"""How many rows leave each stage: by measuring as few prefixes as will do, and none that would cost too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groundql.checking.asking import count_rows
from groundql.core.answer import Candidate, Grounding, StageCount
from groundql.core.ports import Env
from groundql.core.program import MqlProgram, Stage

KEEPING: Final = frozenset(
    {"$project", "$addFields", "$set", "$unset", "$sort", "$replaceRoot", "$replaceWith", "$setWindowFields", "$lookup",
     "$graphLookup", "$fill"}
)  # fmt: skip
"""Stages that let every row through, so the count before them is the count after them."""
REFILLING: Final = frozenset({"$unionWith", "$facet", "$densify", "$documents"})
"""Stages that can make rows out of none, so that emptiness does not carry on past them."""


FUNNEL_S: Final = 4.0
"""The most time that counting may take, a prefix taken to cost what the whole program did. Units: seconds."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """The first stage that no row leaves, and how many rows reached it (None: not measured)."""

    stage: int
    before: int | None


async def first_empty_stage(program: MqlProgram, env: Env) -> Funnel | None:
    """Find the stage that empties the result, by bisection over prefixes; None when it cannot be measured."""
    start = _after_last_refill(program)
    low, high = start, len(program.stages)  # the prefix of length low has rows (or is the start), that of high has none
    while high - low > 1:
        middle = (low + high) // 2
        count = await count_rows(program, middle, env)
        if count is None:
            return None
        low, high = (low, middle) if count == 0 else (middle, high)
    return Funnel(high - 1, await count_rows(program, high - 1, env))


def _after_last_refill(program: MqlProgram) -> int:
    refills = [n for n, stage in enumerate(program.stages) if next(iter(stage), "") in REFILLING]
    return refills[-1] if refills else 0


async def measure_funnel(candidate: Candidate, grounding: Grounding, env: Env) -> tuple[StageCount, ...]:
    """Count the rows after each stage of an executed candidate; None where a count would cost too much."""
    program, rows = candidate.program, candidate.rows
    if not isinstance(program, MqlProgram) or rows is None:
        return ()
    container = grounding.catalog.get(program.container)
    count = container.info.documents if container else None
    counts = [StageCount(-1, program.container, count)]
    last = len(program.stages) - 1
    affordable = int(FUNNEL_S / max(rows.elapsed_s, 0.001))
    for n, stage in enumerate(program.stages):
        operator = next(iter(stage), "")
        if n == last and not rows.truncated:
            count = len(rows.records)
        elif operator not in KEEPING:
            known = _after_limit(stage, count)
            affordable -= known is None
            count = known if known is not None or affordable < 0 else await count_rows(program, n + 1, env)
        counts.append(StageCount(n, operator, count))
    return tuple(counts)


def _after_limit(stage: Stage, before: int | None) -> int | None:
    size = stage.get("$limit")
    return min(size, before) if isinstance(size, int) and before is not None else None
