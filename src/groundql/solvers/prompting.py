"""Grounding and findings to messages. The prompts' words are files; all logic is here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from groundql.core.answer import Grounding, Question
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
WriteCard: TypeAlias = Callable[[Grounding, int], Card]
"""(grounding, budget in tokens) -> card."""

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


def opening(grounding: Grounding, card: Card, approach: str, conventions: str) -> tuple[Message, Message]:
    """Return the two messages every draft begins with; the first does not depend on the question."""
    question = grounding.question
    return (
        system(card, conventions),
        Message(
            "user",
            fill(
                "sag/question",
                focus=card.focus,
                question=question.text.strip(),
                hints=hints_text(question),
                approach=approach,
            ),
        ),
    )


def system(card: Card, conventions: str) -> Message:
    """Return the message that holds the rules and the stable part of the card."""
    return Message("system", fill("sag/system", card=card.stable, conventions=conventions))


def hints_text(question: Question) -> str:
    """Return what the asker adds, as a line of the prompt; empty when nothing is added."""
    return f"The asker adds: {question.hints}" if question.hints else ""


def conventions_text() -> str:
    """Return what every solver is told about the form of the result: all of them, or none."""
    return template("conventions")


def draft_schema(names: Sequence[str]) -> Mapping[str, Any]:
    """Return the JSON schema of a drafted pipeline: the collection one of `names` where any are known."""
    return {
        "type": "object",
        "properties": {
            "reading": {"type": "string"},
            "assumptions": {"type": "array", "items": {"type": "string"}},
            "collection": {"type": "string", "enum": list(names)} if names else {"type": "string"},
            "pipeline": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["reading", "assumptions", "collection", "pipeline"],
        "additionalProperties": False,
    }


async def draft_pipeline(
    dialogue: Dialogue,
    grounding: Grounding,
    env: Env,
    attempt: int,
    /,
    *,
    card: WriteCard = write_card,
    conventions: str | None = None,
) -> Draft:
    """Ask for a pipeline over the card. `conventions` replaces what is said about the form of the result.

    Raises: the `ModelError` family; the repairable ones are turned into findings by the loop.
    """
    temperature, approach = APPROACHES[attempt % len(APPROACHES)]
    told = conventions_text() if conventions is None else conventions
    request = ModelRequest(
        (*opening(grounding, card(grounding, CARD_TOKENS), approach, told), *dialogue),
        schema=draft_schema([c.name for c in grounding.catalog.containers]),
        temperature=temperature,
        seed=attempt,
        purpose="repair" if dialogue else "draft",
    )
    return await ask_for_pipeline(request, env)


async def ask_for_pipeline(request: ModelRequest, env: Env) -> Draft:
    """Make a request whose reply is a drafted pipeline.

    Raises: the `ModelError` family.
    """
    done = await complete_json(env.model, request, check=_pipeline_problems)
    assumptions = tuple(clean(str(text), 240) for text in done.value.get("assumptions", ()))
    return Draft(read_pipeline(done.value), said=done.reply.text, assumptions=assumptions)


def read_pipeline(value: Mapping[str, Any]) -> MqlProgram:
    """Read a reply's collection and pipeline.

    Raises: InputError when a stage is no stage.
    """
    return MqlProgram(value["collection"], parse_pipeline(value["pipeline"]))


def _pipeline_problems(value: Any) -> Sequence[str]:
    try:
        read_pipeline(value)
    except InputError as error:
        return [f"pipeline: {error}"]
    return []
