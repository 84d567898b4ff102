"""A folder through which requests go to a batch API, or are answered by hand, and replies come back.

Requests are written as `requests-001.jsonl` and so on, in the form of OpenAI's batch API. Every other .json or .jsonl
file in the folder is read as replies: that API's output files, or objects with `custom_id` and `text`.
Source: https://platform.openai.com/docs/guides/batch
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.running.files import replace_file
from groundql.core.budget import Usage
from groundql.core.chat import Finish, ModelReply, ModelRequest
from groundql.errors import LoadError
from groundql.llm.models import REPLY_TOOL, THINKING_TOKENS

MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 190_000_000
"""What one file may hold; the API takes 200 MB."""
URL: Final = "/v1/chat/completions"
OURS: Final = re.compile(r"requests-(\d{3,})\.jsonl")
AGAIN: Final = frozenset({408, 409, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Fault:
    """A request that was turned down for good, in the provider's words."""

    message: str


@dataclass(slots=True)
class BatchFolder:
    """Replies that came back, and requests that have none yet.

    `model` is the name without its provider; `provider` chooses how the body is written.
    """

    folder: Path
    provider: str
    model: str
    replies: dict[str, ModelReply | Fault] = field(default_factory=dict[str, ModelReply | Fault])
    pending: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    _sent: Counter[str] = field(default_factory=Counter[str])
    _lost: Counter[str] = field(default_factory=Counter[str])

    def read(self) -> None:
        """Read every file of the folder.

        Raises: LoadError naming the file and line that is wrong.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.folder.iterdir()):
            if OURS.fullmatch(path.name):
                self._sent.update(str(record["custom_id"]) for _, record in _records(path))
            elif path.suffix in (".jsonl", ".json"):
                for place, record in _records(path):
                    self._take(record, place)

    def ask(self, request: ModelRequest, repeat: int, occurrence: int) -> tuple[str, ModelReply | Fault | None]:
        """Return a request's id and its reply; without one, the request is pending."""
        name = request_id(f"{self.provider}:{self.model}", request, repeat, occurrence)
        found = self.replies.get(name)
        if found is None:
            self.pending[name] = self._body(request)
        return name, found

    def write(self) -> list[Path]:
        """Write the pending requests that are not on their way already, and return the files."""
        new = [_line(name, body) for name, body in self.pending.items() if self._sent[name] <= self._lost[name]]
        number = max((int(m[1]) for p in self.folder.iterdir() if (m := OURS.fullmatch(p.name))), default=0)
        files: list[Path] = []
        for lines in _parted(new):
            number += 1
            files.append(self.folder / f"requests-{number:03d}.jsonl")
            replace_file(files[-1], b"".join(lines))
        return files

    def awaited(self) -> list[Path]:
        """The request files that hold pending requests."""
        ours = [p for p in sorted(self.folder.iterdir()) if OURS.fullmatch(p.name)]
        return [p for p in ours if any(record["custom_id"] in self.pending for _, record in _records(p))]

    def _take(self, record: Mapping[str, Any], place: str) -> None:
        name = record.get("custom_id")
        if not isinstance(name, str):
            raise LoadError(
                f"{place}: a reply has a custom_id", hint="and text, or a response as the batch API writes it"
            )
        reply = _reply(record, place, self.provider, self.model)
        if reply is None:
            self._lost[name] += 1
        else:
            self.replies.setdefault(name, reply)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        thinks = self.provider in ("openai", "openai-chat") and _thinks(self.model)
        bound = "max_completion_tokens" if self.provider.startswith("openai") else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            bound: request.max_tokens + (THINKING_TOKENS if thinks else 0),
        }
        if not thinks:  # models that think take no temperature
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.schema is not None:
            schema = {"name": REPLY_TOOL, "strict": False, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def request_id(model: str, request: ModelRequest, repeat: int, occurrence: int) -> str:
    """Name a request by a hash of all that decides its reply; equal ones of several solvers are asked once."""
    decides = [
        1, model, [(m.role, m.text) for m in request.messages], request.schema, request.temperature, request.seed,
        request.max_tokens, repeat, occurrence,
    ]  # fmt: skip
    return "gql-" + hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:40]


def _line(name: str, body: Mapping[str, Any]) -> bytes:
    record = {"custom_id": name, "method": "POST", "url": URL, "body": body}
    return (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _parted(lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    part, size = list[bytes](), 0
    for line in lines:
        if part and (len(part) >= MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    if text.lstrip()[:1] == "[":
        yield from ((f"{path}, item {n}", record) for n, record in enumerate(_parsed(text, str(path)), 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            place = f"{path}, line {number}"
            record = _parsed(line, place)
            if not isinstance(record, dict):
                raise LoadError(f"{place}: not an object")
            yield place, cast("Mapping[str, Any]", record)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LoadError(f"{place}: not JSON ({error.msg})") from None


def _reply(record: Mapping[str, Any], place: str, provider: str, model: str) -> ModelReply | Fault | None:
    """Read one reply; None when the request was lost on the way and is to be sent again."""
    if "text" in record:
        text: Any = record["text"]
        return ModelReply(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), usage=Usage(calls=1))
    response = cast("Mapping[str, Any]", record.get("response") or {})
    body = cast("Mapping[str, Any]", response.get("body") or {})
    status = response.get("status_code")
    if record.get("error") and not body:
        return None  # expired or cancelled before it was tried
    if status in AGAIN:
        return None
    try:
        return _completion(body, provider, model)
    except (KeyError, IndexError, TypeError, AttributeError):
        if status is None or status == 200:
            raise LoadError(f"{place}: a reply holds text, or response.body with choices") from None
        said = cast("Mapping[str, Any]", body.get("error") or {}).get("message") or f"status {status}"
        return Fault(str(said)[:300])


def _completion(body: Mapping[str, Any], provider: str, model: str) -> ModelReply:
    choice = body["choices"][0]
    message = choice["message"]
    counts = cast("Mapping[str, Any]", body.get("usage") or {})
    finish = {"length": Finish.LENGTH, "content_filter": Finish.REFUSAL}.get(choice.get("finish_reason"), Finish.STOP)
    if message.get("refusal"):
        finish = Finish.REFUSAL
    named = body.get("model") or model
    return ModelReply(
        message.get("content") or message.get("refusal") or "", finish, _usage(counts, provider, named), named
    )


def _usage(counts: Mapping[str, Any], provider: str, model: str) -> Usage:
    details = cast("Mapping[str, Any]", counts.get("prompt_tokens_details") or {})
    cached: int = details.get("cached_tokens") or 0
    asked, said = counts.get("prompt_tokens") or 0, counts.get("completion_tokens") or 0
    return Usage(1, asked, said, cached, cost_usd=_price_usd(asked, said, cached, provider, model))


def _price_usd(asked: int, said: int, cached: int, provider: str, model: str) -> float | None:
    """Return the listed price; what a batch API takes off is not known here."""
    import genai_prices

    usage = genai_prices.Usage(input_tokens=asked, output_tokens=said, cache_read_tokens=cached)
    try:
        return float(genai_prices.calc_price(usage, model, provider_id=provider).total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def _thinks(model: str) -> bool:
    from pydantic_ai.profiles.openai import openai_model_profile

    profile = openai_model_profile(model) or {}
    return bool(profile.get("thinking_always_enabled") or profile.get("thinking_enabled_by_default"))
