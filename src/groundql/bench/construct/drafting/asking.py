"""Let a model draft tasks: the catalog's card in, questions with their pipelines out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, cast

from groundql.bench.construct.drafting.draft import Draft
from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog
from groundql.core.chat import Message, ModelRequest
from groundql.core.ports import Model
from groundql.grounding.card import write_card
from groundql.llm.structured import complete_json

FLEXES: Final = (
    "dynamic_key_object", "nested_event_stream", "polymorphic_collection", "missing_vs_present", "attribute_bag",
)  # fmt: skip
STRESSORS: Final = (
    "dynamic_keys", "nested_arrays", "optional_sparse_paths", "polymorphic_shapes", "embedded_records",
    "value_witnesses", "result_contracts",
)  # fmt: skip
AT_ONCE: Final = 5
"""Tasks asked for in one call; more grow alike."""
_MOST_TOLD: Final = 40


async def ask_for_drafts(model: Model, catalog: Catalog, known: Sequence[str], seed: int = 0) -> tuple[Draft, ...]:
    """Ask for a few tasks unlike the questions that are known.

    Raises: what the model raises, and ModelMalformed where its reply cannot be used.
    """
    names = [container.name for container in catalog.containers if container.is_known]
    told = "\n".join(f"- {question}" for question in known[-_MOST_TOLD:]) or "- none yet"
    shown = write_card(Grounding(Question(""), catalog)).text
    wish = f"Write {AT_ONCE} new tasks, unlike these and each other."
    asked = f"{shown}\n\nQuestions that exist already:\n{told}\n\n{wish}"
    system = files("groundql.prompts").joinpath("construct/draft.md").read_text(encoding="utf-8").strip()
    request = ModelRequest(
        (Message("system", system), Message("user", asked)), _schema(names), seed=seed, purpose="draft"
    )
    reply = await complete_json(model, request)
    return tuple(_read(reply.value))


def _read(value: Mapping[str, Any]) -> Iterator[Draft]:
    for task in cast("Sequence[Mapping[str, Any]]", value["tasks"]):
        yield Draft(
            "model",
            task["question"],
            task["colloquial"],
            task["collection"],
            task["pipeline"],
            task["schema_flex"],
            tuple(task["stressors"]),
        )


def _schema(names: Sequence[str]) -> dict[str, Any]:
    task = {
        "question": {"type": "string", "minLength": 10},
        "colloquial": {"type": "string", "minLength": 5},
        "collection": {"enum": list(names)},
        "pipeline": {"type": "array", "items": {"type": "object"}, "minItems": 1},
        "schema_flex": {"enum": list(FLEXES)},
        "stressors": {"type": "array", "items": {"enum": list(STRESSORS)}, "minItems": 1},
    }
    item = {"type": "object", "properties": task, "required": list(task), "additionalProperties": False}
    tasks = {"type": "array", "items": item, "minItems": 1}
    return {"type": "object", "properties": {"tasks": tasks}, "required": ["tasks"], "additionalProperties": False}
