"""What solvers without a grounding are shown of a database, from its name alone to some of its documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog
from groundql.core.ports import Draw, Env
from groundql.grounding.documents import Bounds, distinct_strings, document_text
from groundql.grounding.fence import fence_name, fence_text

VALUES_FROM: Final = 200
"""Documents from the front of a collection that distinct strings are taken from."""
MOST_VALUES: Final = 24
_VALUE_CHARS: Final = 60
RICH: Final = Bounds()
WHOLE: Final = Bounds(string_chars=12_288, list_items=10_000, object_keys=10_000, depth=100)
"""Documents as they are; their text is cut instead."""


@dataclass(frozen=True, slots=True)
class View:
    """What a model is shown: the database's name, its collections' names where they are disclosed, and a text."""

    database: str
    names: tuple[str, ...] = ()
    text: str = ""


See: TypeAlias = Callable[[Env], Awaitable[View]]


async def ungrounded(question: Question, env: Env) -> Grounding:
    """Ground a question in nothing: solvers with a view do not use the catalog."""
    return Grounding(question, Catalog("", ()))


async def see_name(env: Env) -> View:
    """Show the database's name alone.

    Source: the question-only baseline of the TEND paper
    """
    return View((await env.database.describe()).database)


async def see_schema(env: Env) -> View:
    """Show collections and their document counts: all that the published schema files hold.

    Source: the schema baseline of the TEND paper, whose schema files name no fields
    """
    found = await env.database.describe()
    lines = [
        f"- {fence_name(c.name)}" + (f": {c.documents} documents" if c.documents is not None else "")
        for c in found.containers
    ]
    return View(found.database, tuple(c.name for c in found.containers), "\n".join(["Collections:", *lines]))


async def see_documents(
    env: Env, *, documents: int, bounds: Bounds = RICH, values: int = 0, document_chars: int | None = None
) -> View:
    """Show the first documents of every collection, within bounds, and the strings that some fields hold.

    `values` is the most distinct strings per field of depth one or two; `document_chars` cuts each document's text.
    Source: the sampled-document and rich-document baselines of the TEND paper
    """
    found = await env.database.describe()
    parts: list[str] = []
    for info in found.containers:
        first = [d async for d in _head(env, info.name, max(documents, VALUES_FROM if values else 0))]
        count = f", {info.documents} documents" if info.documents is not None else ""
        parts.append(f"Collection {fence_name(info.name)}{count}; the first {min(documents, len(first))}:")
        parts += [document_text(d, bounds)[:document_chars] for d in first[:documents]]
        parts += [
            f"strings of {fence_name(name)}: " + ", ".join(fence_text(t, _VALUE_CHARS) for t in texts)
            for name, texts in distinct_strings(first, values).items()
            if values
        ]
    return View(found.database, tuple(c.name for c in found.containers), "\n".join(parts))


def _head(env: Env, container: str, size: int) -> AsyncIterator[Any]:
    return env.database.sample(container, size, Draw.HEAD)


async def seen_once(see: See, env: Env) -> View:
    """Look once per question, however many steps ask to see."""
    kept = env.memory.get("view")
    if kept is None or kept[0] is not see:
        kept = env.memory["view"] = (see, await see(env))
    return kept[1]
