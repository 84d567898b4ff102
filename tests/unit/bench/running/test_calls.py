from __future__ import annotations

import anyio
import pytest

from groundql.bench.running.calls import limited_calls, seeded_calls
from groundql.bench.running.plan import Task
from groundql.core.budget import Meter
from groundql.core.chat import ModelReply, ModelRequest
from groundql.core.trace import Trace
from groundql.llm.scripted import Scripted
from unit.bench.running.doubles import case


class Crowded:
    """Count how many calls are in flight at once."""

    name = "test:crowded"

    def __init__(self) -> None:
        self.now = self.most = 0

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.01)
        self.now -= 1
        return ModelReply("ok")

    async def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("spec", "at_once", "most"), [("openai:gpt", 3, 3), ("local", 3, 1), ("local:file.gguf", 2, 1)]
)
def test_no_more_calls_are_made_at_a_time_than_the_provider_takes(spec: str, at_once: int, most: int) -> None:
    crowded = Crowded()
    opened = limited_calls(lambda _, __: crowded, spec, at_once)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for number in range(9):
                model = opened(Task(case(number), "sag"), Meter(), Trace())
                group.start_soon(model.complete, ModelRequest(()))

    anyio.run(work)
    assert crowded.most == most


def seeds(seed: int, task: Task, *asked: int | None) -> list[int | None]:
    model = Scripted(lambda _: "ok")
    opened = seeded_calls(lambda _, __, ___: model, seed)(task, Meter(), Trace())

    async def work() -> None:
        for number in asked:
            await opened.complete(ModelRequest((), seed=number))

    anyio.run(work)
    return [request.seed for request in model.requests]


def test_requests_have_seeds_of_their_own_that_come_again_with_the_same_run() -> None:
    one, again = Task(case(1), "sag"), Task(case(1), "sag", 1)
    found = seeds(5, one, 0, 1, 0, None)
    assert len(set(found)) == 4
    assert seeds(5, one, 0, 1, 0, None) == found
    assert not set(seeds(6, one, 0, 1, 0, None)) & set(found)
    assert not set(seeds(5, again, 0, 1, 0, None)) & set(found)
    assert all(seed is not None and 0 <= seed < 2**31 for seed in found)
