"""Grounding and findings to messages. The prompts' words are files; all logic is here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from groundql.core.answer import Grounding
from groundql.core.chat import Message, ModelRequest
from groundql.core.ports import Dialogue, Draft, Env
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from groundql.grounding.card import Card, write_card
from groundql.grounding.fence import clean
from groundql.languages.mongosh import parse_pipeline
from groundql.llm.structured import complete_json

PLACEHOLDER: Final = re.compile(r"\{\{(\w+)\}\}")
CARD_TOKENS: Final = 6000

APPROACHES: Final[Sequence[tuple[float, str]]] = (
    (0.0, ""),
    (
        0.7,
        "How to go about it: work backwards. Decide first what one result row stands for and what columns it has, then "
        "which stored records make one such row, then which restrictions apply to them; only then write the stages.",
    ),
    (
        0.7,
        "How to go about it: begin with the restrictions. For every condition, number and named value in the question "
        "settle which path decides it, prefer the path closest to the question's own words, then group and order.",
    ),
)
"""Temperature and approach of each attempt, so that attempts are independent of each other."""


@cache
def template(name: str) -> str:
    """Return a prompt's text, such as `sag/system`."""
    return files("groundql.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def fill(name: str, **parts: str) -> str:
    """Fill a prompt's placeholders; what is put in is never filled again."""
    text = PLACEHOLDER.sub(lambda m: parts[m[1]], template(name))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def opening(grounding: Grounding, card: Card, approach: str) -> tuple[Message, Message]:
    """Return the two messages every draft begins with; the first does not depend on the question."""
    question = grounding.question
    return (
        Message("system", fill("sag/system", card=card.stable)),
        Message(
            "user",
            fill(
                "sag/question",
                focus=card.focus,
                question=question.text.strip(),
                hints=f"The asker adds: {question.hints}" if question.hints else "",
                approach=approach,
            ),
        ),
    )


def draft_schema(grounding: Grounding) -> Mapping[str, Any]:
    """Return the JSON schema of a drafted pipeline: the collection from a closed list, the stages open."""
    names = [c.name for c in grounding.catalog.containers]
    return {
        "type": "object",
        "properties": {
            "reading": {"type": "string"},
            "assumptions": {"type": "array", "items": {"type": "string"}},
            "collection": {"type": "string", "enum": names} if names else {"type": "string"},
            "pipeline": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["reading", "assumptions", "collection", "pipeline"],
        "additionalProperties": False,
    }


async def draft_pipeline(
    dialogue: Dialogue, grounding: Grounding, env: Env, attempt: int, /, *, card_tokens: int = CARD_TOKENS
) -> Draft:
    """Ask for a pipeline over the card.

    Raises: the `ModelError` family; the repairable ones are turned into findings by the loop.
    """
    temperature, approach = APPROACHES[attempt % len(APPROACHES)]
    card = write_card(grounding, card_tokens)
    request = ModelRequest(
        (*opening(grounding, card, approach), *dialogue),
        schema=draft_schema(grounding),
        temperature=temperature,
        seed=attempt,
        purpose="repair" if dialogue else "draft",
    )
    done = await complete_json(env.model, request, check=_pipeline_problems)
    value = done.value
    assumptions = tuple(clean(str(text), 240) for text in value.get("assumptions", ()))
    return Draft(_program(value), said=done.reply.text, assumptions=assumptions)


def _program(value: Mapping[str, Any]) -> MqlProgram:
    return MqlProgram(value["collection"], parse_pipeline(value["pipeline"]))


def _pipeline_problems(value: Any) -> Sequence[str]:
    try:
        _program(value)
    except InputError as error:
        return [f"pipeline: {error}"]
    return []
