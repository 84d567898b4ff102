"""Models by name: any provider that pydantic-ai speaks to, any OpenAI-compatible server, and the local one.

Only its direct requests are used, no agents: the loop stays ours.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from groundql.core.budget import Usage
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.core.ports import Model
from groundql.errors import ModelError, ModelUnavailable, ModelUnset
from groundql.llm.failures import is_rejected_form, translate_error
from groundql.llm.local import SHARED_SERVERS, LocalServer, LocalServers
from groundql.llm.pull import DEFAULT_MODEL_FILE, find_model_file
from groundql.llm.wrap import Wrapped

if TYPE_CHECKING:
    import pydantic_ai.messages as chat
    from pydantic_ai.models import Model as Client
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

TIMEOUT_S = 120.0
LOCAL_TIMEOUT_S = 600.0
LOCAL_REPLY_TOKENS = 768
THINKING_TOKENS = 16_000
REPLY_TOOL = "reply"
LOCAL = "local"
OLLAMA_BASE_URL = "http://localhost:11434/v1"
EXTRAS = frozenset({"anthropic", "google", "groq", "mistral"})

Form: TypeAlias = Literal["native", "object", "tool", "prompted"]
"""How a model is held to a schema: by the provider, as JSON plus the schema in words, by a tool call, by words."""

OPEN_FORMS: Mapping[str, Form] = {"anthropic": "tool", "bedrock": "tool", "google": "object", "google-cloud": "object"}
"""How an open schema is put to providers whose own schema mode closes every object, and so would allow only `{}`."""


def open_model(
    spec: str,
    *,
    timeout_s: float = TIMEOUT_S,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    servers: LocalServers = SHARED_SERVERS,
) -> Model:
    """Return the model that a `provider:model` string names; nothing is called or started yet.

    `folder` is the cache folder that holds the local model's file, unless it is the default one.

    Raises: ModelUnset when the provider is unknown or its key is not set, ModelUnavailable without its library.
    """
    provider, _, name = spec.strip().partition(":")
    if provider == LOCAL:
        return LocalModel(name or DEFAULT_MODEL_FILE, folder=folder, servers=servers)
    if not provider or not name:
        raise ModelUnset(
            f"the model {spec!r} has no provider",
            hint="write provider:model, for example openai:gpt-5, anthropic:..., ollama:..., or local",
        )
    return ProviderModel(spec.strip(), _open_client(provider, name, environment), timeout_s=timeout_s)


class ProviderModel:
    """Complete dialogues through a provider's client. Satisfies `core.ports.Model`."""

    def __init__(
        self, name: str, client: Client, *, timeout_s: float = TIMEOUT_S, free: bool = False, form: Form | None = None
    ) -> None:
        self._name = name
        self._client = client
        self._timeout_s = timeout_s
        self._free = free
        self._form: Form = form or _best_form(client)
        # Providers count a model's thinking as part of its reply, so a bound on the reply alone would cut it off.
        profile = client.profile
        self._thinks = bool(profile.get("thinking_always_enabled") or profile.get("thinking_enabled_by_default"))
        self._entered = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def endpoint(self) -> str:
        """Where requests go; the same name at another address is another model."""
        return self._client.base_url or ""

    @property
    def form(self) -> Form:
        """How replies are held to a schema; falls back to words for good once the server rejects it."""
        return self._form

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request, with the schema in words if the server rejects it as a parameter.

        Raises: the ModelError family, never anything of the provider's library.
        """
        if not self._entered:
            self._entered = True
            await self._client.__aenter__()
        try:
            return await self._ask(request, self._form)
        except Exception as error:
            if request.schema is None or self._form == "prompted" or not is_rejected_form(error):
                return _reply_or_raise(error, self._name)
        try:
            reply = await self._ask(request, "prompted")
        except Exception as error:
            return _reply_or_raise(error, self._name)
        self._form = "prompted"
        return reply

    async def close(self) -> None:
        """Close the connections."""
        if self._entered:
            self._entered = False
            await self._client.__aexit__(None, None, None)

    async def _ask(self, request: ModelRequest, form: Form) -> ModelReply:
        from pydantic_ai.direct import model_request

        messages = request.messages
        form = fit_form(form, self._client.system, request.schema)
        if request.schema is not None and form == "prompted":
            messages = with_schema_in_words(messages, request.schema)
        started = time.monotonic()
        response = await model_request(
            self._client,
            _to_client(messages),
            model_settings=self._settings(request),
            model_request_parameters=_parameters(request.schema, form),
        )
        return self._reply(response, time.monotonic() - started)

    def _settings(self, request: ModelRequest) -> ModelSettings:
        wanted: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens + (THINKING_TOKENS if self._thinks else 0),
            "request_timeout": self._timeout_s,
            "timeout": self._timeout_s,
            "max_retries": 0,  # repeated by `wrap.Retried`, where it is counted and bounded
        }
        if request.seed is not None:
            wanted["seed"] = request.seed
        known = {key: value for key, value in wanted.items() if key not in self._client.unsupported_settings}
        return known  # pyright: ignore[reportReturnType]  (a TypedDict whose keys are chosen at run time)

    def _reply(self, response: chat.ModelResponse, elapsed_s: float) -> ModelReply:
        counts = response.usage
        usage = Usage(
            calls=1,
            prompt_tokens=counts.input_tokens,
            completion_tokens=counts.output_tokens,
            cached_tokens=counts.cache_read_tokens,
            model_s=elapsed_s,
            cost_usd=0.0 if self._free else price_usd(response),
        )
        finish = {"length": Finish.LENGTH, "content_filter": Finish.REFUSAL}.get(
            response.finish_reason or "", Finish.STOP
        )
        refusal = str((response.provider_details or {}).get("refusal") or "")
        return ModelReply(_text(response) or refusal, finish, usage, response.model_name or self._name)


class LocalModel:
    """Complete dialogues with the local model, starting its server at the first request.

    Satisfies `core.ports.Model`. The server is shared within the process and outlives one model object.
    """

    def __init__(
        self, file: str = DEFAULT_MODEL_FILE, *, folder: Path | None = None, servers: LocalServers = SHARED_SERVERS
    ) -> None:
        self._file = find_model_file(file)
        self._folder = folder
        self._servers = servers
        self._model: tuple[LocalServer, ProviderModel] | None = None

    @property
    def name(self) -> str:
        return LOCAL if self._file.name == DEFAULT_MODEL_FILE else f"{LOCAL}:{self._file.name}"

    async def complete(self, request: ModelRequest, /) -> ModelReply:
        """Answer one request; the reply is kept short, since a small model that goes on is lost.

        Raises: the ModelError family.
        """
        _, model = await self._start()
        reply = await model.complete(replace(request, max_tokens=min(request.max_tokens, LOCAL_REPLY_TOKENS)))
        return replace(reply, model=self._file.title)

    async def warm(self, messages: tuple[Message, ...]) -> int:
        """Read a prompt's fixed beginning ahead of the questions. Returns the prompt tokens held."""
        server, _ = await self._start()
        turns = [{"role": message.role, "content": message.text} for message in messages]
        return await anyio.to_thread.run_sync(server.warm, turns)

    async def close(self) -> None:
        """Close the connections; the server goes with the process."""
        if self._model:
            await self._model[1].close()
            self._model = None

    async def _start(self) -> tuple[LocalServer, ProviderModel]:
        if self._model and self._model[0].running:
            return self._model
        await self.close()
        server = await anyio.to_thread.run_sync(self._servers.get, self._file.name, self._folder)
        client = _open_compatible(LOCAL, self._file.name, server.base_url, server.api_key, raw_schemas=True)
        self._model = server, ProviderModel(self.name, client, timeout_s=LOCAL_TIMEOUT_S, free=True, form="native")
        return self._model


async def warm_model(model: Model, messages: tuple[Message, ...]) -> int:
    """Read a prompt's fixed beginning ahead where that helps: the local model, however wrapped.

    Returns: the prompt tokens held; 0 for every other model.
    """
    while isinstance(model, Wrapped):
        model = model.inner
    return await model.warm(messages) if isinstance(model, LocalModel) else 0


def endpoint_of(model: Model) -> str:
    """Return the address a model's requests go to, or nothing when its name says all."""
    return model.endpoint if isinstance(model, ProviderModel) else ""


def price_usd(response: chat.ModelResponse) -> float | None:
    """Return what a response cost, or None when the price is not known.

    Units: US dollars. Source: the genai-prices tables.
    """
    if not response.model_name or not response.usage.has_values():
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def with_schema_in_words(messages: tuple[Message, ...], schema: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages with the schema stated at the end of the system message."""
    words = (
        "Answer with one JSON object that fits this JSON schema, and with nothing before or after it:\n"
        + json.dumps(schema, ensure_ascii=False)
    )
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].text}\n\n{words}"), *messages[1:])
    return (Message("system", words), *messages)


def _open_client(provider: str, name: str, environment: Mapping[str, str]) -> Client:
    base_url = environment.get("OPENAI_BASE_URL", "")
    if provider in ("openai", "openai-chat") and base_url and urlsplit(base_url).hostname != "api.openai.com":
        return _open_compatible("openai-compatible", name, base_url, environment.get("OPENAI_API_KEY"))
    if provider == "ollama":
        return _open_ollama(name, environment)
    return _infer_client(provider, name)


def _infer_client(provider: str, name: str) -> Client:
    """Build a provider's client, which reads its own variables from the environment."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    _hush_sampling_warnings()
    try:
        return infer_model(f"{provider}:{name}")
    except ImportError as error:
        extra = f"groundql[{provider}]" if provider in EXTRAS else f"pydantic-ai-slim[{provider}]"
        raise ModelUnavailable(f"the provider {provider} needs its library", hint=f"pip install '{extra}'") from error
    except UserError as error:
        raise _unusable(provider, str(error)) from error
    except Exception as error:  # each library complains in its own way about a missing key
        raise _unusable(provider, str(error) or type(error).__name__) from error


def _unusable(provider: str, message: str) -> ModelUnset:
    """Say in one line what is missing: the variable that the library names, or that the provider is unknown."""
    variables = re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", message)
    if variables:
        return ModelUnset(f"{variables[0]} is not set, which {provider} needs", hint=f"export {variables[0]}=...")
    if message.startswith("Unknown"):
        return ModelUnset(
            f"there is no provider named {provider!r}",
            hint="for an OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL",
        )
    return ModelUnset(f"{provider} cannot be used: {message.splitlines()[0]}")


def _open_compatible(provider: str, name: str, base_url: str, key: str | None, *, raw_schemas: bool = False) -> Client:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    _hush_sampling_warnings()
    # Our own server takes a schema as it is; the rewriting that OpenAI's service needs would loosen it.
    profile = OpenAIModelProfile(json_schema_transformer=None) if raw_schemas else None
    connection = OpenAICompatibleProvider(provider, base_url=base_url, api_key=key, profile=profile)
    return OpenAIChatModel(name, provider=connection)


def _open_ollama(name: str, environment: Mapping[str, str]) -> Client:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    base_url = environment.get("OLLAMA_BASE_URL") or OLLAMA_BASE_URL
    return OllamaModel(name, provider=OllamaProvider(base_url, environment.get("OLLAMA_API_KEY")))


def _hush_sampling_warnings() -> None:
    """Keep quiet about temperatures: that a reasoning model ignores them is no news to whoever asks a question."""
    warnings.filterwarnings("ignore", message="Sampling parameters", category=UserWarning)


def _best_form(client: Client) -> Form:
    """Choose how to hold a model to a schema, by what its profile says it can do."""
    profile = client.profile
    if profile.get("supports_json_schema_output", False):
        return "native"
    if profile.get("supports_json_object_output", False):
        return "object"
    return "tool" if profile.get("supports_tools", True) else "prompted"


def fit_form(form: Form, provider: str, schema: Mapping[str, Any] | None) -> Form:
    """Return the form in which a provider takes this schema whole."""
    if form == "native" and schema is not None and is_open(schema):
        return OPEN_FORMS.get(provider, form)
    return form


def is_open(schema: Mapping[str, Any]) -> bool:
    """Say whether some object in a schema may hold keys that the schema does not name, as a query's stages do."""
    extra = schema.get("additionalProperties")
    if extra is True or isinstance(extra, Mapping):
        return True
    if schema.get("type") == "object" and not schema.get("properties") and extra is not False:
        return True
    return any(is_open(part) for part in _parts(schema))


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions"):
            yield from value.values()
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            yield from value
        elif key == "items" and isinstance(value, Mapping):
            yield cast("Mapping[str, Any]", value)


def _parameters(schema: Mapping[str, Any] | None, form: Form) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if schema is None or form == "prompted":
        return ModelRequestParameters()
    strict = False if is_open(schema) else None  # a strict schema has its open objects closed on the way
    if form == "tool":
        tool = ToolDefinition(
            name=REPLY_TOOL, parameters_json_schema=dict(schema), description="Give the reply.", strict=strict
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    mode = "native" if form == "native" else "prompted"
    return ModelRequestParameters(
        output_mode=mode,
        output_object=OutputObjectDefinition(json_schema=dict(schema), name=REPLY_TOOL, strict=strict),
        allow_text_output=True,
    )


def _to_client(messages: tuple[Message, ...]) -> list[chat.ModelMessage]:
    """Say a dialogue in the library's types. A system message after the first turn is said as the user's."""
    from pydantic_ai import messages as chat

    turns: list[chat.ModelMessage] = []
    asked: list[chat.ModelRequestPart] = []
    for message in messages:
        if message.role == "assistant":
            if asked:
                turns.append(chat.ModelRequest(parts=asked))
                asked = []
            turns.append(chat.ModelResponse(parts=[chat.TextPart(content=message.text)]))
        elif message.role == "system" and not turns and all(isinstance(p, chat.SystemPromptPart) for p in asked):
            asked.append(chat.SystemPromptPart(content=message.text))
        else:
            asked.append(chat.UserPromptPart(content=message.text))
    if asked:
        turns.append(chat.ModelRequest(parts=asked))
    return turns


def _text(response: chat.ModelResponse) -> str:
    from pydantic_ai import messages as chat

    for part in response.parts:
        if isinstance(part, chat.ToolCallPart):
            return part.args_as_json_str()
    return "".join(part.content for part in response.parts if isinstance(part, chat.TextPart))


def _reply_or_raise(error: Exception, name: str) -> ModelReply:
    """Turn the library's exception into a reply that says how it ended, or into one of ours."""
    outcome = translate_error(error, name)
    if isinstance(outcome, ModelError):
        raise outcome from error
    return outcome
