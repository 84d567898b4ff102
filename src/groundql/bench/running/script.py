"""A model that reads its replies from a file, so that a run needs no model: `scripted:FILE.jsonl`.

Each line is an object: `reply` (a text, or JSON that is written as text), and optionally `match`, a regular expression
that is searched for in what the user's turns say; `purpose`, the step that asks (draft, arbitrate, ...); and `wait_s`,
how long the reply takes. The first line whose conditions hold answers, as often as they do. Lines without `match` and
`purpose` answer in their order, each once, when no other line does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import anyio

from groundql.core.chat import ModelReply, ModelRequest
from groundql.errors import LoadError, ModelUnavailable
from groundql.llm.scripted import Scripted

SCRIPTED: Final = "scripted"
KEYS: Final = frozenset({"reply", "match", "purpose", "wait_s"})


@dataclass(frozen=True, slots=True)
class Line:
    """One reply and when it is given. Units: `wait_s` seconds."""

    reply: str
    match: re.Pattern[str] | None = None
    purpose: str = ""
    wait_s: float = 0.0

    @property
    def is_conditional(self) -> bool:
        """Whether it answers certain requests only."""
        return self.match is not None or bool(self.purpose)

    def fits(self, request: ModelRequest) -> bool:
        """Whether its conditions hold."""
        if self.purpose and request.purpose.partition(".")[0] != self.purpose:
            return False
        said = "\n".join(m.text for m in request.messages if m.role == "user")
        return self.match is None or self.match.search(said) is not None


class ScriptedModel:
    """Answer from a script's lines. Satisfies `core.ports.Model`.

    Raises (from `complete`): ModelUnavailable when no line is left that fits.
    """

    def __init__(self, lines: tuple[Line, ...], name: str) -> None:
        self._conditional = [line for line in lines if line.is_conditional]
        self._ordered = iter([line for line in lines if not line.is_conditional])
        self._inner = Scripted(self._reply, name=name)
        self._chosen = ""

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request by the first line that fits it."""
        line = next((line for line in self._conditional if line.fits(request)), None) or next(self._ordered, None)
        if line is None:
            raise ModelUnavailable("the script has no reply for this request", hint="add a line that matches it")
        if line.wait_s:
            await anyio.sleep(line.wait_s)
        self._chosen = line.reply
        return await self._inner.complete(request)

    async def close(self) -> None:
        """Nothing is open."""

    def _reply(self, _: ModelRequest) -> str:
        return self._chosen


def read_script(path: Path) -> ScriptedModel:
    """Read a script.

    Raises: LoadError naming the line that is wrong.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return ScriptedModel(tuple(_line(line, f"{path}, line {n}") for n, line in numbered), f"{SCRIPTED}:{path.name}")


def _line(text: str, place: str) -> Line:
    try:
        data: Any = json.loads(text)
        given = cast("Mapping[str, Any]", data if isinstance(data, dict) else {})
        if "reply" not in given or not given.keys() <= KEYS:
            raise LoadError(
                f"{place}: a line is an object with reply, and perhaps {', '.join(sorted(KEYS - {'reply'}))}"
            )
        reply: Any = given["reply"]
        return Line(
            reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False),
            re.compile(given["match"]) if given.get("match") else None,
            given.get("purpose", ""),
            float(given.get("wait_s", 0.0)),
        )
    except (json.JSONDecodeError, re.error, ValueError, TypeError) as error:
        raise LoadError(f"{place}: {error}") from None
