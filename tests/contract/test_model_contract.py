"""What every model owes its callers, whoever serves it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from groundql.core.budget import Usage
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.core.ports import Model
from groundql.errors import (
    ModelCutOff,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreadable,
)
from groundql.llm.models import Form, ProviderModel, open_model
from groundql.llm.scripted import Line, Scripted
from groundql.llm.structured import Fault, ReplyFault, complete_json
from groundql.llm.wrap import Retried, TimeLimited

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"collection": {"enum": ["heroes", "teams"]}, "limit": {"type": "integer"}},
    "required": ["collection", "limit"],
    "additionalProperties": False,
}
GOOD = '{"collection": "heroes", "limit": 3}'
ASKED = ModelRequest((Message("system", "Answer in JSON."), Message("user", "three heroes")), schema=SCHEMA)
PLAIN = ModelRequest((Message("user", "hello"),))


@dataclass(frozen=True)
class Turn:
    """How the model behaves at one request."""

    text: str | None = GOOD
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    retry_after_s: int | None = None
    delay_s: float = 0.0
    raw: str | None = None
    error: str = "it went wrong"
    tool: bool = False


@dataclass
class Stub:
    """An OpenAI-compatible server on loopback that behaves as told and remembers what it was asked."""

    turns: list[Turn] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""


def _handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stub.bodies.append(body)
            stub.paths.append(self.path)
            stub.keys.append(self.headers.get("authorization"))
            turn = stub.turns.pop(0) if len(stub.turns) > 1 else stub.turns[0]
            time.sleep(turn.delay_s)
            headers = {"retry-after": str(turn.retry_after_s)} if turn.retry_after_s is not None else {}
            if turn.raw is not None:
                self._send(turn.status, turn.raw, {"content-type": "text/html", **headers})
            elif turn.status != 200:
                error = {"error": {"message": turn.error, "type": "x", "code": None}}
                self._send(turn.status, json.dumps(error), {"content-type": "application/json", **headers})
            else:
                self._send(200, json.dumps(_completion(turn, body)), {"content-type": "application/json"})

        def _send(self, status: int, text: str, headers: dict[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in {**headers, "content-length": str(len(text.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())
            except (BrokenPipeError, ConnectionResetError):
                pass  # whoever asked has stopped waiting

    return Handler


def _completion(turn: Turn, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text, "refusal": turn.refusal}
    if turn.tool:
        name = body["tools"][0]["function"]["name"]
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": turn.text}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": turn.finish}],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "total_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }


@pytest.fixture
def stub() -> Iterator[Stub]:
    stub = Stub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(stub))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield stub
    server.shutdown()
    server.server_close()
    thread.join()


def compatible(stub: Stub, *turns: Turn, timeout_s: float = 10.0, name: str = "openai:some-model") -> ProviderModel:
    stub.turns = list(turns)
    environment = {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "a-key"}
    model = open_model(name, environment=environment, timeout_s=timeout_s)
    assert isinstance(model, ProviderModel)
    return model


def scripted(*turns: Turn) -> Scripted:
    left = list(turns)
    return Scripted(lambda request: _line(left.pop(0) if len(left) > 1 else left[0]))


def _line(turn: Turn) -> Line:
    if turn.delay_s:
        return ModelTimeout("no reply in time")
    if turn.status in (429, 503) and turn.retry_after_s is not None:
        return ModelRateLimited("wait", retry_after_s=turn.retry_after_s)
    if turn.status != 200:
        error = ModelUnavailable("failed")
        error.retryable = True
        return error
    if turn.raw is not None:
        return ModelUnreadable("not a chat completion")
    finish = {"length": Finish.LENGTH}.get(turn.finish, Finish.STOP)
    if turn.refusal or turn.finish == "content_filter":
        return ModelReply(turn.refusal or "", Finish.REFUSAL, Usage(calls=1))
    return ModelReply(turn.text or "", finish, Usage(calls=1, prompt_tokens=20, completion_tokens=5, cached_tokens=8))


Make = Callable[..., Model]


@pytest.fixture(params=["scripted", "openai-compatible"])
def make(request: pytest.FixtureRequest, stub: Stub) -> Make:
    """Make a model that behaves as the turns say; the last turn repeats."""
    if request.param == "scripted":
        return scripted
    return lambda *turns: compatible(stub, *turns, timeout_s=0.4 if any(t.delay_s for t in turns) else 10.0)


async def test_a_json_reply_comes_back_whole_with_its_usage(make: Make) -> None:
    model = make(Turn())
    reply = await model.complete(ASKED)
    assert json.loads(reply.text) == {"collection": "heroes", "limit": 3}
    assert (reply.finish, reply.cached) == (Finish.STOP, False)
    usage = reply.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1, 20, 5, 8)
    assert model.name
    await model.close()


async def test_a_model_can_be_closed_twice_and_asked_again_after(make: Make) -> None:
    model = make(Turn())
    await model.complete(PLAIN)
    await model.close()
    await model.close()
    assert (await model.complete(PLAIN)).text == GOOD
    await model.close()


async def test_prose_is_corrected_twice_and_then_reported_as_malformed(make: Make) -> None:
    model = make(Turn(text="I would count the heroes."))
    with pytest.raises(ReplyFault) as raised:
        await complete_json(model, ASKED)
    assert raised.value.fault is Fault.NOT_JSON
    assert "after 2 repair turns" in str(raised.value)
    await model.close()


async def test_a_model_that_ignores_the_schema_is_told_where_and_can_mend_it(make: Make) -> None:
    model = make(Turn(text='{"collection": "villains", "limit": 3}'), Turn())
    structured = await complete_json(model, ASKED)
    assert structured.value == {"collection": "heroes", "limit": 3}
    assert (structured.repairs, structured.usage.calls, structured.usage.prompt_tokens) == (1, 2, 40)
    await model.close()


async def test_an_empty_reply_is_a_fault_of_its_own(make: Make) -> None:
    model = make(Turn(text=""))
    with pytest.raises(ReplyFault) as raised:
        await complete_json(model, ASKED, repairs=0)
    assert raised.value.fault is Fault.EMPTY
    await model.close()


async def test_a_refusal_is_final_and_quotes_the_model(make: Make) -> None:
    model = make(Turn(text=None, refusal="I cannot help with that."), Turn())
    with pytest.raises(ModelRefused, match="I cannot help with that"):
        await complete_json(model, ASKED)
    await model.close()


async def test_a_content_filter_counts_as_a_refusal(make: Make) -> None:
    model = make(Turn(text="", finish="content_filter"))
    assert (await model.complete(ASKED)).finish is Finish.REFUSAL
    await model.close()


async def test_a_reply_cut_off_by_length_is_never_taken_for_whole(make: Make) -> None:
    model = make(Turn(text=GOOD, finish="length"))
    with pytest.raises(ModelCutOff):
        await complete_json(model, ASKED)
    await model.close()


async def test_a_rate_limit_says_how_long_to_wait(make: Make) -> None:
    model = make(Turn(status=429, retry_after_s=7))
    with pytest.raises(ModelRateLimited) as raised:
        await model.complete(ASKED)
    assert raised.value.retry_after_s == 7
    assert raised.value.retryable
    await model.close()


async def test_a_retrying_model_waits_as_long_as_it_was_asked_to(make: Make) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = Retried(make(Turn(status=429, retry_after_s=7), Turn(status=500), Turn()), sleep=sleep)
    assert (await model.complete(ASKED)).text == GOOD
    assert waits[0] == 7
    assert 0 < waits[1] <= 2
    await model.close()


async def test_a_failing_server_is_a_passing_trouble(make: Make) -> None:
    model = make(Turn(status=500))
    with pytest.raises(ModelUnavailable) as raised:
        await model.complete(ASKED)
    assert raised.value.retryable
    await model.close()


async def test_a_slow_model_times_out(make: Make) -> None:
    model = make(Turn(delay_s=1.5))
    with pytest.raises(ModelTimeout):
        await model.complete(ASKED)
    await model.close()


async def test_a_page_instead_of_a_completion_is_told_as_unreadable(make: Make) -> None:
    model = make(Turn(raw="<html><body>Welcome to the proxy</body></html>"))
    with pytest.raises(ModelUnreadable):
        await model.complete(ASKED)
    await model.close()


# What only a server over the wire can do.


async def test_the_schema_is_sent_as_a_response_format_and_the_dialogue_in_order(stub: Stub) -> None:
    model = compatible(stub, Turn())
    turns = (Message("system", "s"), Message("user", "u1"), Message("assistant", "a1"), Message("user", "u2"))
    await model.complete(ModelRequest(turns, schema=SCHEMA, temperature=0.5, seed=11, max_tokens=99))
    body = stub.bodies[0]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "s"),
        ("user", "u1"),
        ("assistant", "a1"),
        ("user", "u2"),
    ]
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["collection", "limit"]
    assert (body["temperature"], body["seed"], body["model"]) == (0.5, 11, "some-model")
    assert 99 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert stub.paths == ["/v1/chat/completions"]
    assert stub.keys == ["Bearer a-key"]
    await model.close()


@pytest.mark.parametrize("form", ["native", "tool"])
async def test_objects_that_a_schema_leaves_open_are_open_when_they_arrive(stub: Stub, form: Form) -> None:
    stages = {"type": "array", "items": {"type": "object"}}
    schema = {"type": "object", "properties": {"pipeline": stages}, "required": ["pipeline"]}
    text = '{"pipeline": [{"$count": "n"}]}'
    plain = compatible(stub, Turn(text=text, tool=form == "tool"))
    model = ProviderModel("openai:some-model", plain._client, form=form)
    await complete_json(model, ModelRequest((Message("user", "count"),), schema=schema))
    body = stub.bodies[0]
    if form == "native":
        sent = body["response_format"]["json_schema"]
        arrived = sent["schema"]
    else:
        sent = body["tools"][0]["function"]
        arrived = sent["parameters"]
    assert arrived["properties"]["pipeline"]["items"].get("additionalProperties", True) is True
    assert not sent.get("strict")
    await model.close()


async def test_no_schema_sends_no_response_format(stub: Stub) -> None:
    model = compatible(stub, Turn(text="hi"))
    assert (await model.complete(PLAIN)).text == "hi"
    assert "response_format" not in stub.bodies[0]
    assert "tools" not in stub.bodies[0]
    await model.close()


@pytest.mark.parametrize(
    "rejection",
    [Turn(status=400, error="unknown field response_format"), Turn(status=500, error="json_schema is not supported")],
)
async def test_a_server_that_rejects_the_schema_is_asked_in_words_from_then_on(stub: Stub, rejection: Turn) -> None:
    model = compatible(stub, rejection, Turn())
    assert (await complete_json(model, ASKED)).value["limit"] == 3
    assert (await complete_json(model, ASKED)).value["limit"] == 3
    first, second, third = stub.bodies
    assert "response_format" in first
    for body in (second, third):
        assert "response_format" not in body
        assert '"enum": ["heroes", "teams"]' in body["messages"][0]["content"]
    assert model.form == "prompted"
    await model.close()


async def test_a_request_that_fails_for_another_reason_does_not_cost_the_schema(stub: Stub) -> None:
    model = compatible(stub, Turn(status=400, error="bad"), Turn(status=400, error="bad"), Turn())
    with pytest.raises(ModelError, match="bad"):
        await model.complete(ASKED)
    await model.complete(ASKED)
    assert model.form == "native"
    await model.close()


async def test_a_model_without_schema_support_replies_through_a_tool(stub: Stub) -> None:
    plain = compatible(stub, Turn(tool=True))
    model = ProviderModel("openai:some-model", plain._client, form="tool")
    assert (await complete_json(model, ASKED)).value["collection"] == "heroes"
    assert stub.bodies[0]["tools"][0]["function"]["parameters"]["required"] == ["collection", "limit"]
    await model.close()


async def test_a_wrong_key_and_an_unknown_model_say_what_to_check(stub: Stub) -> None:
    model = compatible(stub, Turn(status=401, error="Incorrect API key provided: sk-abcdefghijkl"))
    with pytest.raises(ModelUnavailable) as raised:
        await model.complete(PLAIN)
    assert "sk-abcdefghijkl" not in str(raised.value)
    assert "API key" in raised.value.hint
    assert not raised.value.retryable
    stub.turns = [Turn(status=404, error="no such model")]
    with pytest.raises(ModelUnavailable, match="no such model"):
        await model.complete(PLAIN)
    await model.close()


async def test_nothing_listening_is_reported_as_unreachable() -> None:
    model = open_model("openai:x", environment={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    with pytest.raises(ModelUnavailable) as raised:
        await model.complete(PLAIN)
    assert raised.value.retryable
    await model.close()


async def test_a_reasoning_model_is_asked_without_a_temperature_and_given_room_to_think(stub: Stub) -> None:
    model = compatible(stub, Turn(), name="openai:gpt-5")
    await model.complete(ASKED)
    assert "temperature" not in stub.bodies[0]
    assert stub.bodies[0]["max_completion_tokens"] > 2 * ASKED.max_tokens
    await model.close()


async def test_a_price_that_is_not_known_is_none_and_never_zero(stub: Stub) -> None:
    model = compatible(stub, Turn(), name="openai:a-model-nobody-sells")
    assert (await model.complete(PLAIN)).usage.cost_usd is None
    await model.close()


async def test_a_time_limit_around_any_model_ends_the_wait(stub: Stub) -> None:
    model = TimeLimited(compatible(stub, Turn(delay_s=1.5)), 0.2)
    with pytest.raises(ModelTimeout, match=r"0\.2 s"):
        await model.complete(PLAIN)
    await model.close()
