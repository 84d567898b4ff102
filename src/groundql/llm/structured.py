"""From a model's reply to validated JSON, with at most two turns to mend it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from groundql.core.budget import Usage
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.core.counted import counted
from groundql.core.ports import Model
from groundql.errors import ModelCutOff, ModelMalformed, ModelRefused
from groundql.llm.loose_json import NotJson, read_json

REPAIR_TURNS = 2
MOST_PROBLEMS = 4
QUOTED_CHARS = 4000
PROBLEM_CHARS = 240


class Fault(StrEnum):
    """What is wrong with a reply."""

    EMPTY = "empty"
    REFUSED = "refused"
    CUT_OFF = "cut_off"
    NOT_JSON = "not_json"
    WRONG_SCHEMA = "wrong_schema"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply came to: a value, or a fault with its problems in words the model can act on."""

    value: Any = None
    fault: Fault | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Structured:
    """A validated value, the reply it came from, and what all turns cost."""

    value: Any
    reply: ModelReply
    usage: Usage
    repairs: int = 0


class ReplyFault(ModelMalformed):
    """Report which fault was left after the repair turns, and the model's last words."""

    def __init__(self, message: str, fault: Fault, text: str) -> None:
        super().__init__(message, hint="try again, or use a more capable model")
        self.fault = fault
        self.text = text


Check = Callable[[Any], Sequence[str]]
"""Further conditions on a value that fits the schema: what is wrong with it, in words; nothing when it is right."""


def read_reply(reply: ModelReply, schema: Mapping[str, Any], check: Check | None = None) -> Reading:
    """Read one reply against a JSON schema. Nothing in it is ever run."""
    if reply.finish is Finish.REFUSAL:
        return Reading(fault=Fault.REFUSED, problems=(reply.text.strip()[:PROBLEM_CHARS],))
    if reply.finish is Finish.LENGTH:
        return Reading(fault=Fault.CUT_OFF, problems=("the reply ended by length",))
    if not reply.text.strip():
        return Reading(fault=Fault.EMPTY, problems=("the reply was empty",))
    try:
        value = read_json(reply.text, lambda found: not schema_problems(found, schema))
    except NotJson as error:
        return Reading(fault=Fault.NOT_JSON, problems=(f"the reply could not be read as JSON: {error}",))
    problems = schema_problems(value, schema) or (tuple(check(value)) if check else ())
    return Reading(value, Fault.WRONG_SCHEMA if problems else None, problems)


def schema_problems(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in words where a value departs from a schema: the first few places."""
    found = cast("Iterable[ValidationError]", Draft202012Validator(schema).iter_errors(value))  # pyright: ignore[reportUnknownMemberType]
    errors = sorted(found, key=lambda error: [str(step) for step in error.absolute_path])
    return tuple(_describe(error) for error in errors[:MOST_PROBLEMS])


def _describe(error: ValidationError) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    if error.validator == "enum":
        allowed = ", ".join(json.dumps(item, ensure_ascii=False) for item in cast("list[Any]", error.validator_value))
        text = f"{json.dumps(error.instance, ensure_ascii=False, default=str)} is none of: {allowed}"
    else:
        text = error.message
    return f"{where or 'the reply'}: {text}"[:PROBLEM_CHARS]


async def complete_json(
    model: Model, request: ModelRequest, *, repairs: int = REPAIR_TURNS, check: Check | None = None
) -> Structured:
    """Ask for JSON that fits `request.schema`, telling the model what is wrong up to `repairs` times.

    A refusal and a reply that ended by length are final: asking again in the same dialogue seldom mends them.

    Raises: ReplyFault, ModelRefused, ModelCutOff, and what the model raises. ValueError without a schema.
    """
    if request.schema is None:
        raise ValueError("complete_json needs a request with a schema")
    asked, spent = request, Usage()
    for turn in range(repairs + 1):
        reply = await model.complete(asked)
        spent = spent + reply.usage
        reading = read_reply(reply, request.schema, check)
        if reading.fault is None:
            return Structured(reading.value, reply, spent, turn)
        _stop_if_final(reading, model.name)
        if turn == repairs:
            raise ReplyFault(_final_words(model.name, reading, turn), reading.fault, reply.text[:QUOTED_CHARS])
        asked = _ask_again(request, reply, reading)
    raise AssertionError("unreachable")


def _stop_if_final(reading: Reading, name: str) -> None:
    if reading.fault is Fault.REFUSED:
        words = reading.problems[0] if reading.problems else ""
        raise ModelRefused(f"{name} declined to answer" + (f": {words}" if words else ""))
    if reading.fault is Fault.CUT_OFF:
        raise ModelCutOff(f"the reply of {name} ended by length before it was complete")


def _final_words(name: str, reading: Reading, turns: int) -> str:
    again = f" after {counted(turns, 'repair turn')}" if turns else ""
    return f"{name} did not answer in the asked form{again}: {'; '.join(reading.problems)}"


def _ask_again(request: ModelRequest, reply: ModelReply, reading: Reading) -> ModelRequest:
    """Quote the faulty reply and say what is wrong; only the last one, so that the dialogue does not grow."""
    problems = "\n".join(f"- {problem}" for problem in reading.problems)
    correction = (
        f"That reply cannot be used:\n{problems}\nAnswer again with one JSON object that fits the schema, nothing else."
    )
    quoted = reply.text.strip()[:QUOTED_CHARS] or "(nothing)"
    messages = (*request.messages, Message("assistant", quoted), Message("user", correction))
    return replace(request, messages=messages, purpose=f"{request.purpose}.reform")
