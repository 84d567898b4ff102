from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from groundql.core.chat import Message
from groundql.errors import ModelUnavailable
from groundql.llm.models import ProviderModel, endpoint_of, fit_form, is_open, open_model, with_schema_in_words
from groundql.llm.scripted import Scripted

SCRIPT = """
import json, os, sys
from groundql.errors import ModelUnavailable
from groundql.llm.models import open_model
said = {}
for spec, key in json.loads(sys.argv[1]):
    os.environ.update({key: "k"} if key else {})
    try:
        said[spec] = open_model(spec).form
    except ModelUnavailable as error:
        said[spec] = f"{error} | {error.hint}"
    os.environ.pop(key, None)
print(json.dumps(said))
"""
SPECS = [
    ("openai:gpt-5", ""),
    ("deepseek:deepseek-reasoner", ""),
    ("anthropic:claude-x", ""),
    ("groq:x", ""),
    ("cohere:x", ""),
    ("nosuch:x", ""),
    ("openai:gpt-4o", "OPENAI_API_KEY"),
    ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
    ("ollama:qwen3", ""),
]
"""Models to open, each with the key that is set while it is."""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What opening each model came to, in a process whose environment holds no other keys."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    command = [sys.executable, "-c", SCRIPT, json.dumps(SPECS)]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("spec", "variable"), [("openai:gpt-5", "OPENAI_API_KEY"), ("deepseek:deepseek-reasoner", "DEEPSEEK_API_KEY")]
)
def test_a_missing_key_is_one_line_that_names_the_variable(said: dict[str, str], spec: str, variable: str) -> None:
    assert said[spec] == f"{variable} is not set, which {spec.partition(':')[0]} needs | export {variable}=..."


@pytest.mark.parametrize(
    ("spec", "extra"),
    [
        ("anthropic:claude-x", "groundql[anthropic]"),
        ("groq:x", "groundql[groq]"),
        ("cohere:x", "pydantic-ai-slim[cohere]"),
    ],
)
def test_a_missing_library_is_answered_with_the_command_that_installs_it(
    said: dict[str, str], spec: str, extra: str
) -> None:
    # where the library is installed, the key is what is missing
    assert f"pip install '{extra}'" in said[spec] or "_API_KEY is not set" in said[spec]


def test_an_unknown_provider_is_pointed_to_compatible_servers(said: dict[str, str]) -> None:
    assert said["nosuch:x"].startswith("there is no provider named 'nosuch' | for an OpenAI-compatible server")


@pytest.mark.parametrize("spec", ["gpt-5", ":x", "openai:", ""])
def test_a_model_without_provider_or_name_is_told_the_form(spec: str) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        open_model(spec)
    assert "provider:model" in raised.value.hint


def test_replies_are_held_to_a_schema_in_the_way_each_provider_knows(said: dict[str, str]) -> None:
    assert said["openai:gpt-4o"] == "native"
    assert said["deepseek:deepseek-chat"] == "object"
    assert said["ollama:qwen3"] == "native"


def test_the_address_of_a_compatible_server_tells_models_of_one_name_apart() -> None:
    one, two = (open_model("openai:m", environment={"OPENAI_BASE_URL": f"http://{host}/v1"}) for host in "ab")
    assert isinstance(one, ProviderModel)
    assert endpoint_of(one) != endpoint_of(two)
    assert endpoint_of(Scripted([])) == ""


def test_the_libraries_of_providers_are_loaded_only_when_one_is_opened() -> None:
    heavy = ("openai", "anthropic", "pydantic_ai")
    code = f"import sys, groundql.llm.models; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_schema_in_words_joins_the_system_message() -> None:
    schema = {"type": "object", "title": "Größe"}
    joined = with_schema_in_words((Message("system", "Be brief."), Message("user", "x")), schema)
    assert joined[0].text.startswith("Be brief.\n\n")
    assert '"title": "Größe"' in joined[0].text
    alone = with_schema_in_words((Message("user", "x"),), schema)
    assert [message.role for message in alone] == ["system", "user"]


STAGES = {"type": "object", "properties": {"pipeline": {"type": "array", "items": {"type": "object"}}}}
CLOSED = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "is_it"),
    [
        (STAGES, True),
        (CLOSED, False),
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}, True),
        ({"anyOf": [CLOSED, STAGES]}, True),
        ({"$defs": {"x": CLOSED}, "type": "array", "items": {"$ref": "#/$defs/x"}}, False),
    ],
)
def test_a_schema_is_open_where_it_allows_keys_it_does_not_name(schema: dict[str, Any], is_it: bool) -> None:
    assert is_open(schema) is is_it


def test_an_open_schema_is_not_put_to_a_mode_that_would_close_it() -> None:
    assert fit_form("native", "anthropic", STAGES) == "tool"
    assert fit_form("native", "google", STAGES) == "object"
    assert fit_form("native", "openai", STAGES) == "native"
    assert fit_form("native", "anthropic", CLOSED) == "native"
    assert fit_form("prompted", "anthropic", STAGES) == "prompted"
    assert fit_form("native", "anthropic", None) == "native"
