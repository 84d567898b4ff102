"""Drafting from a view of the database in a fixed number of calls: directly, by way of SQL, or in four steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from groundql.core.answer import Grounding, Question
from groundql.core.chat import Message, ModelRequest
from groundql.core.ports import Dialogue, Draft, Env
from groundql.grounding.fence import clean
from groundql.languages.read import write
from groundql.llm.structured import complete_json
from groundql.solvers.prompting import (
    APPROACHES,
    ask_for_pipeline,
    conventions_text,
    draft_schema,
    fill,
    hints_text,
    template,
)
from groundql.solvers.views import See, View, seen_once

STEP_CHARS: Final = 4000
SKETCH_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"tables": {"type": "string"}, "sql": {"type": "string"}},
    "required": ["sql"],
    "additionalProperties": False,
}
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
LINK_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"collections": _TEXTS, "fields": _TEXTS, "values": _TEXTS},
    "required": ["collections", "fields", "values"],
    "additionalProperties": False,
}
CLASSIFY_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"class": {"type": "string", "enum": ["easy", "nested", "joined"]}, "steps": _TEXTS},
    "required": ["class", "steps"],
    "additionalProperties": False,
}


async def draft_directly(
    dialogue: Dialogue,
    grounding: Grounding,
    env: Env,
    attempt: int,
    /,
    *,
    see: See,
    conventions: str | None = None,
) -> Draft:
    """Ask for a pipeline over a view, in one call.

    Raises: the `ModelError` family.
    """
    view = await seen_once(see, env)
    asked = Message("user", question_text("direct/question", grounding.question))
    return await ask_for_pipeline(pipeline_request(view, attempt, conventions, asked, *dialogue), env)


async def draft_by_sql(
    dialogue: Dialogue,
    grounding: Grounding,
    env: Env,
    attempt: int,
    /,
    *,
    see: See,
    conventions: str | None = None,
) -> Draft:
    """Ask for a sketch in SQL, then for the pipeline that means the same: two calls, the view in both.

    Source: the SQL pivot baseline of the TEND paper
    """
    view = await seen_once(see, env)
    question = grounding.question
    sketch = await _step("pivot/sketch", view, question_text("direct/question", question), SKETCH_SCHEMA, env, attempt)
    asked = Message("user", question_text("pivot/question", question, sketch=str(sketch["sql"])[:STEP_CHARS]))
    return await ask_for_pipeline(pipeline_request(view, attempt, conventions, asked, *dialogue), env)


async def draft_in_steps(
    dialogue: Dialogue,
    grounding: Grounding,
    env: Env,
    attempt: int,
    /,
    *,
    see: See,
    conventions: str | None = None,
) -> Draft:
    """Link the question to fields, classify it, generate with examples, correct: four calls, the view in each.

    Source: the steps of DIN-SQL (Pourreza and Rafiei, 2023), as the TEND paper carries them over
    """
    view = await seen_once(see, env)
    bare = question_text("direct/question", grounding.question)
    links = await _step("din/link", view, bare, LINK_SCHEMA, env, attempt)
    linked = f"It refers to: {json.dumps(links, ensure_ascii=False)[:STEP_CHARS]}"
    plan = await _step("din/classify", view, f"{bare}\n{linked}", CLASSIFY_SCHEMA, env, attempt)
    before = f"{linked}\nPlan: {json.dumps(plan, ensure_ascii=False)[:STEP_CHARS]}\n\n{template('din/examples')}"
    asked = Message("user", question_text("din/question", grounding.question, before=before))
    first = await ask_for_pipeline(pipeline_request(view, attempt, conventions, asked), env)
    program = write(first.program, "shell") if first.program else ""
    again = (Message("assistant", first.said), Message("user", fill("din/correct", draft=program)))
    return await ask_for_pipeline(pipeline_request(view, attempt, conventions, asked, *again), env)


def pipeline_request(view: View, attempt: int, conventions: str | None, *messages: Message) -> ModelRequest:
    """Make the request for a pipeline over a view."""
    told = conventions_text() if conventions is None else conventions
    system = Message("system", fill("direct/system", database=_name(view), seen=view.text, conventions=told))
    return ModelRequest(
        (system, *messages),
        schema=draft_schema(view.names),
        temperature=APPROACHES[attempt % len(APPROACHES)][0],
        seed=attempt,
    )


def question_text(name: str, question: Question, **parts: str) -> str:
    """Fill a prompt that asks the question."""
    return fill(name, question=question.text.strip(), hints=hints_text(question), **parts)


async def _step(
    name: str, view: View, asked: str, schema: Mapping[str, Any], env: Env, attempt: int
) -> Mapping[str, Any]:
    request = ModelRequest(
        (Message("system", fill(name, database=_name(view), seen=view.text)), Message("user", asked)),
        schema=schema,
        temperature=APPROACHES[attempt % len(APPROACHES)][0],
        seed=attempt,
        purpose=name.rpartition("/")[2],
    )
    return (await complete_json(env.model, request)).value


def _name(view: View) -> str:
    return clean(view.database, 60)
