"""Two drafts for a small model, in two forms: a compact query that code compiles, and a raw pipeline.

Both share one prompt up to its last line, so that the model's server reads it once. Its long beginning (rules, and
examples made from the user's own data) does not depend on the question and stays in the server's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bson import json_util

from groundql.core.answer import Grounding
from groundql.core.catalog import Catalog
from groundql.core.chat import Message, ModelRequest
from groundql.core.finding import Code, Finding
from groundql.core.ports import Dialogue, Draft, Env
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.grounding.fence import fence_name
from groundql.languages.mongosh import parse_pipeline
from groundql.llm.structured import complete_json
from groundql.semantic.examples import Example, make_examples
from groundql.semantic.query import parse_query, query_schema
from groundql.semantic.to_mql import compile_query
from groundql.solvers.local_focus import Focus, focus_on
from groundql.solvers.local_mend import mend_query
from groundql.solvers.prompting import fill

EXAMPLES: Final = 8
REPLY_TOKENS: Final = 320
SECOND_TEMPERATURE: Final = 0.6
MOST_OVERVIEW: Final = 24
QUERY: Final = "query"
PIPELINE: Final = "pipeline"
_RELAXED: Final = json_util.RELAXED_JSON_OPTIONS


async def draft_two_forms(dialogue: Dialogue, grounding: Grounding, env: Env, attempt: int, /) -> Draft:
    """Draft a compact query on even attempts and a pipeline on odd ones; from the third on, with some chance."""
    return await (draft_query, draft_raw_pipeline)[attempt % 2](dialogue, grounding, env, attempt)


async def draft_query(dialogue: Dialogue, grounding: Grounding, env: Env, attempt: int, /) -> Draft:
    """Ask for a compact query over few paths, mend what code can mend, and compile it.

    Raises: the `ModelError` family.
    """
    focus = focus_on(grounding)
    schema = query_schema(grounding.catalog, focus.containers, focus.paths)
    value, said = await _ask(dialogue, grounding, env, focus, schema, QUERY, attempt)
    query, notes = mend_query(value, grounding)
    try:
        program = compile_query(parse_query(query, grounding.catalog), grounding.catalog)
    except InputError as error:
        return Draft(None, said, (Finding(Code.MALFORMED, f"the query cannot be compiled: {error}"),), QUERY, query)
    return Draft(program, said, form=QUERY, query=query, assumptions=notes)


async def draft_raw_pipeline(dialogue: Dialogue, grounding: Grounding, env: Env, attempt: int, /) -> Draft:
    """Ask for a pipeline over the same few paths.

    Raises: the `ModelError` family.
    """
    focus = focus_on(grounding)
    value, said = await _ask(dialogue, grounding, env, focus, _pipeline_schema(focus), PIPELINE, attempt)
    try:
        program = MqlProgram(value["container"], parse_pipeline(value["pipeline"]))
    except InputError as error:
        return Draft(None, said, (Finding(Code.MALFORMED, f"pipeline: {error}"),), PIPELINE)
    return Draft(program, said, form=PIPELINE)


async def _ask(
    dialogue: Dialogue, grounding: Grounding, env: Env, focus: Focus, schema: Mapping[str, Any], form: str, attempt: int
) -> tuple[Mapping[str, Any], str]:
    request = ModelRequest(
        (*opening(grounding, focus, form), *dialogue),
        schema=schema,
        temperature=0.0 if attempt < 2 else SECOND_TEMPERATURE,
        seed=attempt if attempt >= 2 else None,
        max_tokens=REPLY_TOKENS,
        purpose="repair" if dialogue else "draft",
    )
    done = await complete_json(env.model, request, repairs=1)
    return done.value, done.reply.text


def opening(grounding: Grounding, focus: Focus, form: str) -> tuple[Message, ...]:
    """Return the messages of a draft; all but the last do not depend on the question."""
    question = grounding.question
    hints = f"({question.hints})" if question.hints else ""
    text = fill("local/question", focus=focus.text, question=question.text.strip(), hints=hints, form=form)
    return (*stable_messages(grounding.catalog, question.text), Message("user", text))


def stable_messages(catalog: Catalog, never: str = "") -> tuple[Message, ...]:
    """Write the rules, then the examples as a dialogue; a question that is itself an example is left out of them."""
    names = ", ".join(fence_name(c.name) for c in catalog.containers[:MOST_OVERVIEW])
    rules = fill("local/system", database=fence_name(catalog.database), overview=names)
    examples = make_examples(catalog, count=EXAMPLES, never=never)
    return (Message("system", rules), *(turn for e in examples for turn in _turns(e)))


def _turns(example: Example) -> Iterator[Message]:
    pipeline = {"container": example.program.container, "pipeline": list(example.program.stages)}
    for form, reply in ((QUERY, example.query), (PIPELINE, pipeline)):
        yield Message("user", fill("local/question", focus="", question=example.question, hints="", form=form))
        yield Message(
            "assistant", json_util.dumps(reply, json_options=_RELAXED, ensure_ascii=False, separators=(",", ":"))
        )


def _pipeline_schema(focus: Focus) -> Mapping[str, Any]:
    """Stages that a small model handles, one operator each."""
    any_object: Mapping[str, Any] = {"type": "object"}
    text: Mapping[str, Any] = {"type": "string"}
    count: Mapping[str, Any] = {"type": "integer", "minimum": 1}
    stages: Sequence[tuple[str, Mapping[str, Any]]] = (
        ("$match", any_object),
        ("$unwind", text),
        ("$set", any_object),
        ("$group", any_object),
        ("$project", any_object),
        ("$sort", any_object),
        ("$limit", count),
        ("$count", text),
    )
    return {
        "type": "object",
        "properties": {
            "container": {"enum": list(focus.containers)},
            "pipeline": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
                "items": {"anyOf": [_one(name, value) for name, value in stages]},
            },
        },
        "required": ["container", "pipeline"],
        "additionalProperties": False,
    }


def _one(name: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": False}
