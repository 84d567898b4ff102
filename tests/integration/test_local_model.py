"""The real local model, where its file is in the cache: `groundql model pull` or `groundql model pull 0.5b`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from groundql.core.budget import Meter
from groundql.core.chat import Finish, Message, ModelRequest
from groundql.core.trace import Trace
from groundql.errors import ModelError, ModelUnavailable
from groundql.llm.local import LocalServer, LocalServers, model_status
from groundql.llm.models import LocalModel, warm_model
from groundql.llm.pull import MODEL_FILES
from groundql.llm.structured import complete_json
from groundql.llm.wrap import metered, steady

pytestmark = [pytest.mark.anyio, pytest.mark.integration, pytest.mark.timeout(300)]

USABLE = [entry.name for entry in model_status() if entry.advice is None]
SMALLEST = USABLE[-1] if USABLE else ""
SCHEMA = {
    "type": "object",
    "properties": {
        "collection": {"enum": ["heroes", "publishers"]},
        "pipeline": {"type": "array", "items": {"type": "object"}, "maxItems": 6},
    },
    "required": ["collection", "pipeline"],
    "additionalProperties": False,
}
CARD = "You write MongoDB aggregation pipelines as JSON.\nheroes: name string, publisher.name string, born int"
PARENT = """
import sys, time
from groundql.llm.local import SHARED_SERVERS
print(SHARED_SERVERS.get(sys.argv[1]).pid, flush=True)
time.sleep(600)
"""

if not USABLE:
    pytest.skip(
        "no local model here; run `groundql model pull 0.5b` and install the `local` extra", allow_module_level=True
    )


@pytest.fixture(scope="module")
def servers() -> Iterator[LocalServers]:
    servers = LocalServers()
    yield servers
    servers.stop()


@pytest.fixture
def model(servers: LocalServers) -> LocalModel:
    return LocalModel(SMALLEST, servers=servers)


async def test_it_answers_in_the_schema(model: LocalModel) -> None:
    asked = ModelRequest((Message("system", CARD), Message("user", "How many heroes are there?")), schema=SCHEMA)
    structured = await complete_json(model, asked)
    assert structured.value["collection"] in ("heroes", "publishers")
    usage = structured.usage
    assert usage.calls >= 1
    assert usage.prompt_tokens > 10
    assert usage.completion_tokens > 0
    assert usage.cost_usd == 0.0
    await model.close()


async def test_the_same_request_gets_the_same_reply(model: LocalModel) -> None:
    asked = ModelRequest((Message("system", CARD), Message("user", "Name one colour.")), max_tokens=12)
    assert (await model.complete(asked)).text == (await model.complete(asked)).text
    await model.close()


async def test_a_reply_that_ends_by_length_says_so(model: LocalModel) -> None:
    asked = ModelRequest((Message("user", "Write the first ten lines of a poem about the sea."),), max_tokens=2)
    assert (await model.complete(asked)).finish is Finish.LENGTH
    await model.close()


async def test_a_warmed_beginning_is_not_read_again(model: LocalModel) -> None:
    beginning = (Message("system", CARD + "\n" + "\n".join(f"heroes.f{n} string" for n in range(20))),)
    held = await model.warm(beginning)
    reply = await model.complete(ModelRequest((*beginning, Message("user", "Count the heroes.")), max_tokens=4))
    assert held > 60
    assert reply.usage.cached_tokens > 0.8 * held
    await model.close()


async def test_warming_reaches_the_local_model_through_its_wrappings(model: LocalModel) -> None:
    assert await warm_model(metered(steady(model), Meter(), Trace()), (Message("system", CARD),)) > 10
    await model.close()


async def test_a_prompt_beyond_the_context_is_an_error_and_not_a_guess(model: LocalModel) -> None:
    with pytest.raises(ModelError, match=r"too long|context"):
        await model.complete(ModelRequest((Message("user", "word " * 20_000),)))
    await model.close()


async def test_a_server_that_died_is_started_again(servers: LocalServers) -> None:
    model = LocalModel(SMALLEST, servers=servers)
    asked = ModelRequest((Message("user", "Say hello."),), max_tokens=4)
    await model.complete(asked)
    before = servers.get(SMALLEST)
    os.kill(before.pid, signal.SIGKILL)
    _wait_until_gone(before)
    assert (await model.complete(asked)).text
    assert servers.get(SMALLEST).pid != before.pid
    await model.close()


def test_one_server_is_shared_within_a_process(servers: LocalServers) -> None:
    assert servers.get(SMALLEST) is servers.get(SMALLEST)


def test_only_who_knows_the_key_is_served(servers: LocalServers) -> None:
    server = servers.get(SMALLEST)
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
    assert httpx.post(f"{server.base_url}/chat/completions", json=body).status_code == 401
    assert server.api_key not in repr(server)
    assert server.api_key not in _command_line(server.pid)


def test_a_damaged_file_is_reported_and_leaves_nothing_running(tmp_path: Path) -> None:
    file = replace(MODEL_FILES[SMALLEST], file_name="broken.gguf", size_bytes=4)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "broken.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelUnavailable, match="did not start"):
        LocalServer.start(file, folder=tmp_path, start_s=60)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_its_parent_however_that_ends(sign: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, SMALLEST], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert _is_alive(pid)
    parent.send_signal(sign)
    parent.wait(30)
    parent.stdout.close()
    for _ in range(600):
        if not _is_alive(pid):
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the server outlived its parent")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_until_gone(server: LocalServer) -> None:
    for _ in range(200):
        if not server.running:
            return
        time.sleep(0.05)
    pytest.fail("the server did not end")


def _command_line(pid: int) -> str:
    return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout


def test_the_reply_of_the_server_is_plain_json(servers: LocalServers) -> None:
    server = servers.get(SMALLEST)
    body = {
        "messages": [{"role": "user", "content": "Give a colour."}],
        "max_tokens": 40,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "c", "schema": {"type": "object", "properties": {"c": {"enum": ["red"]}}}},
        },
    }
    headers = {"authorization": f"Bearer {server.api_key}"}
    reply = httpx.post(f"{server.base_url}/chat/completions", json=body, headers=headers, timeout=120)
    assert json.loads(reply.json()["choices"][0]["message"]["content"]) in ({"c": "red"}, {})
