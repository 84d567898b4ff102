"""What is said to a model and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from groundql.core.budget import Usage

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a dialogue."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call.

    `schema` is the JSON schema that the reply must take, or None for free text; `purpose` names the step for traces
    (draft, repair, arbitrate).
    Units: `max_tokens` of the reply.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 4096
    purpose: str = "draft"


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text that came back and what it cost."""

    text: str
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    model: str = ""
    cached: bool = False
