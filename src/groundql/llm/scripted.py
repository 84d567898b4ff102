"""A model that says what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from groundql.core.budget import Usage
from groundql.core.chat import ModelReply, ModelRequest
from groundql.errors import GroundQLError, ModelUnavailable

Line: TypeAlias = str | ModelReply | GroundQLError
"""A text, a whole reply, or an error to raise."""


class Scripted:
    """Answer from a list of lines, or by a function of the request. Records every request it gets.

    Satisfies `core.ports.Model`. A list that has run out raises ModelUnavailable.
    """

    def __init__(self, lines: Iterable[Line] | Callable[[ModelRequest], Line], *, name: str = "scripted") -> None:
        self._next = lines if callable(lines) else _reader(lines)
        self._name = name
        self.requests: list[ModelRequest] = []
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Return the next line as a reply, or raise it if it is an error."""
        self.requests.append(request)
        line = self._next(request)
        if isinstance(line, GroundQLError):
            raise line
        if isinstance(line, ModelReply):
            return line
        return ModelReply(line, usage=_words(request, line), model=self._name)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def _reader(lines: Iterable[Line]) -> Callable[[ModelRequest], Line]:
    left = iter(lines)

    def read(_: ModelRequest) -> Line:
        try:
            return next(left)
        except StopIteration:
            raise ModelUnavailable("the script has no more replies") from None

    return read


def _words(request: ModelRequest, reply: str) -> Usage:
    """Count words as tokens, so that budgets have something to count."""
    asked = sum(len(message.text.split()) for message in request.messages)
    return Usage(calls=1, prompt_tokens=asked, completion_tokens=len(reply.split()), cost_usd=0.0)
