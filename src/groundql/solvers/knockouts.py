"""What an ablation says differently: cards that hide something, and groundings without stored values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, Container, Field
from groundql.core.path import ENTRIES, Path
from groundql.core.ports import Env
from groundql.grounding.card import Card, write_card

MOST_FIELDS: Final = 4000
"""Of a container whose maps are spread out: enough to fill any card many times over."""


async def without_values(question: Question, env: Env) -> Grounding:
    """Ground a question in paths and kinds alone: no witnesses, and no stored value anywhere in the catalog."""
    found = await env.grounder.ground(question)
    catalog = _mapped(found.catalog, _without_values)
    return replace(found, catalog=catalog, witnesses=(), missing_terms=())


def top_level_card(grounding: Grounding, tokens: int) -> Card:
    """Write a card that shows the fields of the root alone.

    Source: the top-level card knockout of the TEND paper
    """
    return write_card(replace(grounding, catalog=_mapped(grounding.catalog, _top_level)), tokens)


def spread_card(grounding: Grounding, tokens: int) -> Card:
    """Write a card on which every known key of a map stands as a field of its own.

    Source: the no-collapse knockout of the TEND paper
    """
    return write_card(replace(grounding, catalog=_mapped(grounding.catalog, _spread)), tokens)


def _mapped(catalog: Catalog, change: Callable[[Container], Container]) -> Catalog:
    return replace(catalog, containers=tuple(change(c) for c in catalog.containers))


def _without_values(container: Container) -> Container:
    fields = tuple(_valueless(f) for f in container.fields)
    return replace(container, fields=fields, variants=())


def _valueless(field: Field) -> Field:
    keys = replace(field.keys, examples=(), complete=False) if field.keys else None
    return replace(field, values=(), complete=False, numbers=None, dates=None, non_finite=(), keys=keys)


def _top_level(container: Container) -> Container:
    kept = tuple(replace(f, keys=None) for f in container.fields if len(f.path.steps) <= 1)
    return replace(container, fields=kept, variants=())


def _spread(container: Container) -> Container:
    keys = {f.path: f.keys.examples for f in container.fields if f.keys is not None}
    spread = islice((s for f in container.fields for s in _spread_field(f, keys)), MOST_FIELDS)
    return replace(container, fields=tuple(sorted(spread, key=lambda f: str(f.path))))


def _spread_field(field: Field, keys: dict[Path, tuple[str, ...]]) -> Iterator[Field]:
    """Write a field once for every choice of keys of the maps above it; how often a key is there is not known."""
    plain = replace(field, keys=None)
    steps = field.path.steps
    maps = [i for i, step in enumerate(steps) if step is ENTRIES]
    if not maps:
        yield plain
        return
    choices: list[Sequence[str]] = [keys.get(Path(steps[:i]), ()) for i in maps]
    for chosen in product(*choices):
        by_place = dict(zip(maps, chosen, strict=True))
        path = Path(tuple(by_place.get(i, step) for i, step in enumerate(steps)))
        yield replace(plain, path=path, parents=plain.count)
