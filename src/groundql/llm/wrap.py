"""What every model is wrapped in, each `Model -> Model`: time-out, retries, cache, budget, trace.

`steady` is laid around a model once; `metered` once per question, since budget and trace are the question's.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import anyio.to_thread
import tenacity

from groundql.core.budget import Meter, Usage
from groundql.core.chat import Finish, ModelReply, ModelRequest
from groundql.core.ports import Model
from groundql.core.trace import Trace
from groundql.errors import ModelError, ModelRateLimited, ModelTimeout, ModelUnavailable
from groundql.llm.failures import SLOW
from groundql.llm.replies import ReplyStore

TRIES = 4
MAX_WAIT_S = 60.0
FIRST_WAIT_S = 1.0

Sleep = Callable[[float], Awaitable[None]]


class Wrapped:
    """Pass everything on to the model inside. Satisfies `core.ports.Model`."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request."""
        return await self.inner.complete(request)

    async def close(self) -> None:
        """Close the model inside."""
        await self.inner.close()


class TimeLimited(Wrapped):
    """Give up on a reply that takes too long.

    Raises: ModelTimeout.
    """

    def __init__(self, inner: Model, timeout_s: float) -> None:
        super().__init__(inner)
        self._timeout_s = timeout_s

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        try:
            with anyio.fail_after(self._timeout_s):
                return await self.inner.complete(request)
        except TimeoutError as error:
            raise ModelTimeout(f"{self.name} gave no reply within {self._timeout_s:g} s", hint=SLOW) from error


class Retried(Wrapped):
    """Ask again after a rate limit or a failure on the way; anything else is final.

    The wait is the one the provider asks for, or grows with each try; one beyond `max_wait_s`, or that would end after
    `within_s` since the first try, is not waited for.
    """

    def __init__(
        self,
        inner: Model,
        *,
        tries: int = TRIES,
        max_wait_s: float = MAX_WAIT_S,
        within_s: float = math.inf,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        super().__init__(inner)
        self._tries = tries
        self._max_wait_s = max_wait_s
        self._within_s = within_s
        self._sleep = sleep

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        attempts = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(self._is_passing),
            stop=tenacity.stop_after_attempt(self._tries) | tenacity.stop_before_delay(self._within_s),
            wait=self._wait_s,
            sleep=self._sleep,
            reraise=True,
        )
        return await attempts(self.inner.complete, request)

    def _is_passing(self, error: BaseException) -> bool:
        if isinstance(error, ModelRateLimited):
            return (error.retry_after_s or 0.0) <= self._max_wait_s
        return isinstance(error, ModelUnavailable) and error.retryable

    def _wait_s(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, ModelRateLimited) and error.retry_after_s is not None:
            return error.retry_after_s
        longest = min(self._max_wait_s, FIRST_WAIT_S * 2 ** (state.attempt_number - 1))
        return longest * random.uniform(0.5, 1.0)


class Cached(Wrapped):
    """Keep whole replies on disk and give them again for the same request.

    Only what can be repeated is kept: temperature 0, or a seed; otherwise attempts that should differ would agree by
    having been one. `scope` tells models of one name apart (their address). A kept reply costs nothing.
    """

    def __init__(self, inner: Model, store: ReplyStore, *, scope: str = "") -> None:
        super().__init__(inner)
        self._store = store
        self._scope = scope

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        if request.temperature > 0 and request.seed is None:
            return await self.inner.complete(request)
        key = self._store.key(self.name, self._scope, request)
        kept = await anyio.to_thread.run_sync(self._store.get, key)
        if kept is not None:
            return replace(kept, usage=Usage(), cached=True)
        reply = await self.inner.complete(request)
        if reply.finish is Finish.STOP and reply.text.strip():
            await anyio.to_thread.run_sync(self._store.put, key, reply)
        return reply


class Budgeted(Wrapped):
    """Count what is spent, and refuse a call once the budget is used up.

    A call is counted before it is made, so that attempts that run side by side cannot all slip under the bound.

    Raises: BudgetExhausted.
    """

    def __init__(self, inner: Model, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        self._meter.require()
        self._meter.add(Usage(calls=1))
        with anyio.move_on_after(self._meter.left_s):
            reply = await self.inner.complete(request)
            self._meter.add(replace(reply.usage, calls=reply.usage.calls - 1))
            return reply
        raise self._meter.out_of_time()


class Traced(Wrapped):
    """Record every request and what came of it."""

    def __init__(self, inner: Model, trace: Trace) -> None:
        super().__init__(inner)
        self._trace = trace

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        messages = [{"role": message.role, "text": message.text} for message in request.messages]
        self._trace.add(
            "model.request",
            model=self.name,
            purpose=request.purpose,
            messages=messages,
            temperature=request.temperature,
            seed=request.seed,
            has_schema=request.schema is not None,
        )
        try:
            reply = await self.inner.complete(request)
        except ModelError as error:
            self._trace.add("model.error", purpose=request.purpose, code=error.code, message=str(error))
            raise
        self._trace.add("model.reply", purpose=request.purpose, **_reply_data(reply))
        return reply


def _reply_data(reply: ModelReply) -> dict[str, object]:
    usage = reply.usage
    return {
        "model": reply.model,
        "text": reply.text,
        "finish": str(reply.finish),
        "cached": reply.cached,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "model_s": round(usage.model_s, 3),
        "cost_usd": usage.cost_usd,
    }


def steady(
    model: Model,
    *,
    timeout_s: float | None = None,
    tries: int = TRIES,
    store: ReplyStore | None = None,
    scope: str = "",
) -> Model:
    """Wrap a model in retries, a time-out for all tries together, and the cache of replies where a store is given."""
    steadied: Model = Retried(model, tries=tries, within_s=timeout_s or math.inf) if tries > 1 else model
    steadied = TimeLimited(steadied, timeout_s) if timeout_s else steadied
    return Cached(steadied, store, scope=scope) if store else steadied


def metered(model: Model, meter: Meter, trace: Trace) -> Model:
    """Wrap a model in one question's budget and trace. The meter is kept here; callers must not add to it again."""
    return Traced(Budgeted(model, meter), trace)
