"""An agent that tries pipelines, sees their first rows, and hands one in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bson import json_util

from groundql.checking.classify import REPAIRABLE, classify
from groundql.core.answer import Grounding
from groundql.core.budget import Usage
from groundql.core.chat import Message, ModelRequest
from groundql.core.finding import Code, Finding
from groundql.core.ports import Dialogue, Draft, Env
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.grounding.fence import clean
from groundql.languages.safety import admit
from groundql.llm.structured import complete_json
from groundql.solvers.direct import question_text
from groundql.solvers.prompting import APPROACHES, conventions_text, fill, read_pipeline
from groundql.solvers.views import See, View, seen_once

STEPS: Final = 50
ROWS_SHOWN: Final = 5
OBSERVATION_CHARS: Final = 2000
ERROR_CHARS: Final = 200
LAST_STEPS: Final = 4
"""In these the agent is reminded that its steps end."""


async def draft_by_acting(
    dialogue: Dialogue,
    grounding: Grounding,
    env: Env,
    attempt: int,
    /,
    *,
    see: See,
    conventions: str | None = None,
    steps: int = STEPS,
) -> Draft:
    """Let the model run pipelines until it submits one; running out of steps is a finding, never a guess.

    Source: the ReAct baseline of the TEND paper
    Raises: the `ModelError` and `DatabaseError` families.
    """
    view = await seen_once(see, env)
    talk = _opening(view, grounding, conventions, steps)
    for left in reversed(range(steps)):
        done = await complete_json(env.model, _request(talk, view, attempt))
        program = _read(done.value)
        if isinstance(program, MqlProgram) and done.value["action"] == "submit":
            return Draft(program, said=done.reply.text)
        told = await _observe(program, env) if isinstance(program, MqlProgram) else program
        talk = (*talk, Message("assistant", done.reply.text), Message("user", told + _reminder(left)))
    return Draft(None, findings=(Finding(Code.NOT_ANSWERED, f"nothing was submitted within {steps} steps"),))


def _opening(view: View, grounding: Grounding, conventions: str | None, steps: int) -> Dialogue:
    system = fill(
        "react/system",
        database=clean(view.database, 60),
        seen=view.text,
        conventions=conventions_text() if conventions is None else conventions,
        steps=str(steps),
        rows=str(ROWS_SHOWN),
    )
    return (Message("system", system), Message("user", question_text("direct/question", grounding.question)))


def _request(talk: Dialogue, view: View, attempt: int) -> ModelRequest:
    temperature = APPROACHES[attempt % len(APPROACHES)][0]
    return ModelRequest(talk, schema=_schema(view), temperature=temperature, seed=attempt, purpose="act")


def _schema(view: View) -> Mapping[str, Any]:
    names = list(view.names)
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "action": {"type": "string", "enum": ["execute", "submit"]},
            "collection": {"type": "string", "enum": names} if names else {"type": "string"},
            "pipeline": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["thought", "action", "collection", "pipeline"],
        "additionalProperties": False,
    }


def _read(value: Mapping[str, Any]) -> MqlProgram | str:
    """Read an action's program, or say what is wrong with it."""
    try:
        return read_pipeline(value)
    except InputError as error:
        return f"The pipeline cannot be read: {clean(str(error), ERROR_CHARS)}"


async def _observe(program: MqlProgram, env: Env) -> str:
    """Run a program and tell what came back, or what the database said against it."""
    admitted = admit(program)
    if isinstance(admitted, Finding):
        return f"Not run: {clean(str(admitted), ERROR_CHARS)}"
    try:
        rows = await env.database.execute(admitted, env.limits)
    except REPAIRABLE as error:
        return f"Error: {clean(str(classify(error)), ERROR_CHARS)}"
    env.meter.add(Usage(database_s=rows.elapsed_s))
    shown = [clean(json_util.dumps(record), OBSERVATION_CHARS) for record in rows.records[:ROWS_SHOWN]]
    more = " (cut off by a limit)" if rows.truncated else ""
    return "\n".join([f"{len(rows)} rows{more}", *shown])[:OBSERVATION_CHARS]


def _reminder(left: int) -> str:
    return "\n\n" + fill("react/reminder", left=str(left)) if 0 < left <= LAST_STEPS else ""
