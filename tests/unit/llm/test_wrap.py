from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from groundql.core.budget import Budget, Meter, Usage
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.core.trace import Event, Trace
from groundql.errors import (
    BudgetExhausted,
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from groundql.llm.replies import ReplyStore
from groundql.llm.scripted import Line, Scripted
from groundql.llm.wrap import Budgeted, Cached, Retried, TimeLimited, Traced, metered, steady

pytestmark = pytest.mark.anyio

ASKED = ModelRequest((Message("user", "how many heroes?"),))
PAID = Usage(calls=1, prompt_tokens=100, completion_tokens=10, cached_tokens=50, model_s=1.5, cost_usd=0.25)


def passing(message: str = "down") -> ModelUnavailable:
    error = ModelUnavailable(message)
    error.retryable = True
    return error


class Waits:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


# Retries


async def test_rate_limits_and_passing_failures_are_tried_again() -> None:
    waits = Waits()
    model = Scripted([ModelRateLimited("wait", retry_after_s=3.0), passing(), "done"])
    assert (await Retried(model, sleep=waits).complete(ASKED)).text == "done"
    assert waits.seconds[0] == 3.0
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    "error",
    [ModelRefused("no"), ModelMalformed("odd"), ModelTimeout("slow"), ModelUnavailable("no key"), BudgetExhausted("x")],
)
async def test_everything_else_is_final(error: ModelError) -> None:
    model = Scripted([error, "done"])
    with pytest.raises(type(error)):
        await Retried(model, sleep=Waits()).complete(ASKED)
    assert len(model.requests) == 1


async def test_tries_are_bounded_and_the_last_error_comes_through() -> None:
    waits = Waits()
    model = Scripted(lambda _: passing("still down"))
    with pytest.raises(ModelUnavailable, match="still down"):
        await Retried(model, tries=3, sleep=waits).complete(ASKED)
    assert len(model.requests) == 3
    assert len(waits.seconds) == 2


async def test_waits_grow_and_stay_under_their_bound() -> None:
    waits = Waits()
    with pytest.raises(ModelUnavailable):
        await Retried(Scripted(lambda _: passing()), tries=9, max_wait_s=8.0, sleep=waits).complete(ASKED)
    assert max(waits.seconds) <= 8.0
    assert waits.seconds[-1] > waits.seconds[0]


async def test_a_wait_beyond_the_bound_is_not_waited_for() -> None:
    model = Scripted([ModelRateLimited("tomorrow", retry_after_s=86_400.0), "done"])
    with pytest.raises(ModelRateLimited, match="tomorrow"):
        await Retried(model, sleep=Waits()).complete(ASKED)


async def test_a_wait_that_would_outlast_the_time_for_one_reply_is_not_waited_for() -> None:
    waits = Waits()
    model = Scripted(lambda _: ModelRateLimited("wait", retry_after_s=30.0))
    with pytest.raises(ModelRateLimited):
        await Retried(model, within_s=20.0, sleep=waits).complete(ASKED)
    assert (len(model.requests), waits.seconds) == (1, [])


# Time


class Sleeper(Scripted):
    async def complete(self, request: ModelRequest, /) -> ModelReply:
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_model_that_never_answers_times_out() -> None:
    with pytest.raises(ModelTimeout):
        await TimeLimited(Sleeper([]), 0.01).complete(ASKED)


async def test_cancelling_the_caller_is_not_a_time_out() -> None:
    with anyio.move_on_after(0.01) as scope:
        await TimeLimited(Sleeper([]), 60).complete(ASKED)
    assert scope.cancelled_caught


async def test_all_tries_of_one_reply_share_its_time() -> None:
    model = steady(Scripted(lambda _: passing()), timeout_s=0.2, tries=1000)
    with anyio.fail_after(60), pytest.raises((ModelUnavailable, ModelTimeout)):
        await model.complete(ASKED)


# Budget


async def test_the_time_for_one_question_ends_a_call_under_way_and_refuses_the_next() -> None:
    budgeted = Budgeted(Sleeper([]), Meter(Budget(elapsed_s=0.05)))
    for _ in range(2):
        with pytest.raises(BudgetExhausted, match=r"budget of 0\.05 s") as raised:
            await budgeted.complete(ASKED)
        assert "budget.elapsed_s" in raised.value.hint


async def test_what_is_spent_is_counted_once() -> None:
    meter = Meter()
    await Budgeted(Scripted([ModelReply("a", usage=PAID)]), meter).complete(ASKED)
    assert meter.spent == PAID


async def test_a_spent_budget_refuses_before_the_call() -> None:
    model = Scripted(["a", "b", "c"])
    budgeted = Budgeted(model, Meter(Budget(calls=2)))
    await budgeted.complete(ASKED)
    await budgeted.complete(ASKED)
    with pytest.raises(BudgetExhausted, match="2 model calls"):
        await budgeted.complete(ASKED)
    assert len(model.requests) == 2


async def test_calls_side_by_side_cannot_slip_under_the_bound() -> None:
    class Slow(Scripted):
        async def complete(self, request: ModelRequest, /) -> ModelReply:
            await anyio.sleep(0.01)
            return await super().complete(request)

    model, meter, refused = Slow(lambda _: "a"), Meter(Budget(calls=2)), list[int]()
    budgeted = Budgeted(model, meter)

    async def ask(index: int) -> None:
        try:
            await budgeted.complete(ASKED)
        except BudgetExhausted:
            refused.append(index)

    async with anyio.create_task_group() as group:
        for index in range(5):
            group.start_soon(ask, index)
    assert (len(model.requests), len(refused), meter.spent.calls) == (2, 3, 2)


async def test_a_call_that_failed_was_still_made() -> None:
    meter = Meter()
    with pytest.raises(ModelRefused):
        await Budgeted(Scripted([ModelRefused("no")]), meter).complete(ASKED)
    assert meter.spent.calls == 1


async def test_an_unknown_price_makes_the_sum_unknown() -> None:
    meter = Meter()
    model = Scripted([ModelReply("a", usage=PAID), ModelReply("b", usage=replace(PAID, cost_usd=None))])
    budgeted = Budgeted(model, meter)
    await budgeted.complete(ASKED)
    await budgeted.complete(ASKED)
    assert meter.spent.cost_usd is None
    assert meter.spent.prompt_tokens == 200


# Cache


@pytest.fixture
def store(tmp_path: Path) -> ReplyStore:
    return ReplyStore(tmp_path / "deep" / "replies.sqlite3")


async def test_the_same_request_is_paid_for_once(store: ReplyStore) -> None:
    model = Scripted([ModelReply("a", usage=PAID, model="m"), "b"])
    first = await Cached(model, store).complete(ASKED)
    second = await Cached(model, store).complete(ASKED)
    assert (first.cached, second.cached) == (False, True)
    assert (second.text, second.model, second.usage) == ("a", "m", Usage())
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, messages=(Message("system", "how many heroes?"),)),
        replace(ASKED, messages=(*ASKED.messages, Message("user", ""))),
        replace(ASKED, schema={"type": "object"}),
        replace(ASKED, seed=1),
        replace(ASKED, temperature=0.5, seed=1),
        replace(ASKED, max_tokens=5),
    ],
)
async def test_whatever_decides_a_reply_is_part_of_its_key(store: ReplyStore, other: ModelRequest) -> None:
    cached = Cached(Scripted(["a", "b"]), store)
    await cached.complete(ASKED)
    assert (await cached.complete(other)).text == "b"


async def test_models_and_their_addresses_are_kept_apart(store: ReplyStore) -> None:
    await Cached(Scripted(["a"], name="x:m"), store, scope="http://one").complete(ASKED)
    assert (await Cached(Scripted(["b"], name="x:m"), store, scope="http://two").complete(ASKED)).text == "b"
    assert (await Cached(Scripted(["c"], name="y:m"), store, scope="http://one").complete(ASKED)).text == "c"


async def test_attempts_that_should_differ_are_not_made_to_agree(store: ReplyStore) -> None:
    cached = Cached(Scripted(["a", "b"]), store)
    hot = replace(ASKED, temperature=0.7)
    assert [(await cached.complete(hot)).text, (await cached.complete(hot)).text] == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    [ModelReply("{", Finish.LENGTH), ModelReply("no", Finish.REFUSAL), ModelReply(" ")],
)
async def test_only_whole_replies_are_kept(store: ReplyStore, line: Line) -> None:
    cached = Cached(Scripted([line, "whole"]), store)
    await cached.complete(ASKED)
    assert (await cached.complete(ASKED)).text == "whole"


async def test_a_damaged_store_is_as_good_as_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite3"
    path.write_bytes(b"this is no database at all" * 100)
    assert (await Cached(Scripted(["a"]), ReplyStore(path)).complete(ASKED)).text == "a"


def test_a_store_keeps_to_its_size_and_the_newest(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite3", most=10)
    for index in range(25):
        store.put(f"k{index}", ModelReply(str(index)))
    with sqlite3.connect(tmp_path / "r.sqlite3") as database:
        (count,) = database.execute("SELECT count(*) FROM replies").fetchone()
    database.close()
    assert count <= 10
    assert store.get("k24") == ModelReply("24")
    assert store.get("k0") is None


def test_only_its_owner_may_read_the_store(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite3")
    store.put("k", ModelReply("a"))
    assert (tmp_path / "r.sqlite3").stat().st_mode & 0o077 == 0


WRITER = """
import sys
from pathlib import Path
from groundql.core.chat import ModelReply
from groundql.llm.replies import ReplyStore
store = ReplyStore(Path(sys.argv[1]))
for index in range(40):
    store.put(f"{sys.argv[2]}-{index}", ModelReply(sys.argv[2]))
"""


def test_two_processes_can_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite3"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("one", "two")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    store = ReplyStore(path)
    assert all(store.get(f"{name}-{index}") == ModelReply(name) for name in ("one", "two") for index in range(40))


# Trace and the whole stack


async def test_the_trace_shows_what_was_asked_and_what_came_of_it() -> None:
    trace = Trace()
    traced = Traced(Scripted([ModelReply("a", usage=PAID, model="m-1"), ModelRefused("no")]), trace)
    await traced.complete(replace(ASKED, purpose="repair"))
    with pytest.raises(ModelRefused):
        await traced.complete(ASKED)
    assert [event.name for event in trace.events] == ["model.request", "model.reply", "model.request", "model.error"]
    asked, replied, _, failed = trace.events
    assert asked.data["messages"] == [{"role": "user", "text": "how many heroes?"}]
    assert (replied.data["purpose"], replied.data["text"], replied.data["cost_usd"]) == ("repair", "a", 0.25)
    assert (failed.data["code"], failed.data["message"]) == ("model_refused", "no")


async def test_the_whole_stack_caches_under_the_budget_and_closes_through(store: ReplyStore) -> None:
    events, meter, inner = list[Event](), Meter(), Scripted([passing(), ModelReply("a", usage=PAID)])
    still = steady(Retried(inner, sleep=Waits()), timeout_s=5, tries=1, store=store)
    model = metered(still, meter, Trace(listen=events.append))
    assert (await model.complete(ASKED)).text == "a"
    assert (await model.complete(ASKED)).cached
    assert meter.spent == PAID
    assert [event.data.get("cached") for event in events] == [None, False, None, True]
    assert model.name == "scripted"
    await model.close()
    assert inner.closed


async def test_a_script_that_has_run_out_says_so() -> None:
    with pytest.raises(ModelUnavailable, match="no more replies"):
        await Scripted([]).complete(ASKED)
