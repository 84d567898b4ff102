"""What a small model is told of one question: few containers, few paths, and the question's words as found in the data.

Small models lose the thread in long prompts and invent what they do not see, so this is much less than the path card,
and every path is written as it can be used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Witness
from groundql.core.path import ENTRIES, Path
from groundql.errors import InputError
from groundql.grounding.fence import clean, fence_name, fence_value
from groundql.grounding.relevance import Relevance, weigh
from groundql.grounding.words import stems
from groundql.semantic.query_schema import usable_refs
from groundql.semantic.ref import Ref, field_at, resolve_ref
from groundql.semantic.roles import MOST_CATEGORIES, Roles
from groundql.solvers.local_counts import counted_container, holding_container

MOST_CONTAINERS: Final = 2
NEAR_SHARE: Final = 0.4
"""A second container is shown when it answers to at least this share of what the first one does."""
NEAR_TIE: Final = 0.65
SUMMED_UP: Final = 10
MOST_PATHS: Final = (8, 5)
FEWEST_PATHS: Final = 3
MOST_OTHERS: Final = 20
MOST_FACTS: Final = 9
_VALUES: Final = 3
_VALUE_WIDTH: Final = 24
_FOUND_PATH: Final = 20.0


@dataclass(frozen=True, slots=True)
class Focus:
    """The containers a question is likely about, the best first, with the references shown of each."""

    paths: Mapping[str, tuple[str, ...]]
    text: str

    @property
    def containers(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.paths)


def focus_on(grounding: Grounding) -> Focus:
    """Choose containers and paths for a question, and write them down."""
    relevance = weigh(grounding)
    chosen = _containers(grounding, relevance)
    paths: dict[str, tuple[str, ...]] = {}
    blocks: list[str] = []
    for place, container in enumerate(chosen):
        refs = _paths(container, grounding, relevance)[: MOST_PATHS[min(place, len(MOST_PATHS) - 1)]]
        paths[container.name] = tuple(str(ref) for ref in refs)
        others = [str(ref) for ref in usable_refs(container) if str(ref) not in paths[container.name]][:MOST_OTHERS]
        paths[container.name] += tuple(others)
        told = [f"- others: {clean(', '.join(others), 600)}"] if others else []
        blocks.append(
            "\n".join([f"{fence_name(container.name)} has:", *(_line(container, ref) for ref in refs), *told])
        )
    facts = _facts(grounding, chosen, relevance)[:MOST_FACTS]
    if facts:
        blocks.append("\n".join(["In the question:", *facts]))
    return Focus(paths, "\n".join(blocks))


def _containers(grounding: Grounding, relevance: Relevance) -> list[Container]:
    """The likely containers; one that holds only a part of the question's words that the best one holds is none."""
    best = max(relevance.containers.values(), default=0.0)
    counted = counted_container(grounding) or holding_container(grounding)
    ranked = [name for name in relevance.ranked() if relevance.containers[name] >= best * NEAR_SHARE]
    first = next(iter(ranked), "")
    ranked = sorted(ranked, key=lambda name: not _is_summarised(name, first, relevance, grounding))
    ranked = [*([counted] if counted else []), *(name for name in ranked if name != counted)]
    words = {name: {w.term for w in grounding.witnesses if w.container == name} for name in ranked}
    ranked = [name for n, name in enumerate(ranked) if n == 0 or not words[name] < words[ranked[0]]]
    found = [grounding.catalog.get(name) for name in ranked[:MOST_CONTAINERS]]
    return [c for c in found if c is not None and c.is_known]


def _is_summarised(name: str, first: str, relevance: Relevance, grounding: Grounding) -> bool:
    """Tell whether the first container seems to sum up another: the same words, and far fewer documents."""
    large, small = grounding.catalog.get(name), grounding.catalog.get(first)
    if large is None or small is None or name == first:
        return False
    near = relevance.containers[name] >= relevance.containers[first] * NEAR_TIE
    return near and (large.info.documents or 0) >= SUMMED_UP * max(small.info.documents or 0, 1)


def _paths(container: Container, grounding: Grounding, relevance: Relevance) -> list[Ref]:
    """References of a container that answer to the question, the best first; found keys stand for their maps."""
    worth: dict[Ref, float] = {}
    for ref in usable_refs(container):
        read = (ref.path, ref.path.parent) if ref.is_key else (ref.path,)
        worth[ref] = sum(sum(relevance.of(container.name, path).values()) for path in read)
    for witness in grounding.witnesses:
        if witness.container == container.name and witness.is_key:
            for ref in _with_key(container, witness):
                worth[ref] = _FOUND_PATH * (1.0 if witness.hard else 0.5)
    named = {w.path for w in grounding.witnesses if w.is_key and w.container == container.name}
    for ref in worth:
        if ref.path.last is ENTRIES and ref.path.parent in named:
            worth[ref] = 0.0  # a found key says more than the map's other keys
    ranked = sorted(worth, key=lambda ref: -worth[ref])
    name = Roles(container).name().ref
    useful = [ref for ref in ranked if worth[ref] > 0 or ref == name]
    return [*useful, *(ref for ref in ranked if ref not in useful)][: max(len(useful), FEWEST_PATHS)]


def _with_key(container: Container, witness: Witness) -> Iterator[Ref]:
    """The places that a found key opens: the entry itself, and the values in it."""
    entry = witness.path / ENTRIES
    concrete = witness.path / str(witness.stored)
    if ENTRIES in witness.path.steps:
        return
    for found in container.fields:
        if found.path.starts_with(entry) and not found.path.steps[len(entry) :][1:]:
            below = Path(concrete.steps + found.path.steps[len(entry) :])
            try:
                yield resolve_ref(str(below), container, is_leaf=False)
            except InputError:
                continue


def _line(container: Container, ref: Ref) -> str:
    found = field_at(container, ref.path)
    values: Sequence[object] = found.values if found and found.path == ref.path else ()
    if ref.is_key:
        above = field_at(container, ref.path.parent)
        values = above.keys.examples if above and above.keys else ()
    shown = ", ".join(fence_value(v, _VALUE_WIDTH) for v in values[:_VALUES])
    kinds = "|".join(kind.value for kind, _ in found.kinds[:2]) if found and not ref.is_key else "key"
    return f"- {clean(str(ref), 80)}: {shown or kinds}"


def _facts(grounding: Grounding, containers: Sequence[Container], relevance: Relevance) -> list[str]:
    """Where the question's words are stored: the best place of each word in each container first."""
    names = [c.name for c in containers]
    fields = frozenset(stem for _, f in grounding.catalog.fields() for name in f.path.fields for stem in stems(name))
    by_term: dict[tuple[str, str], list[Witness]] = {}
    for witness in grounding.witnesses:
        if witness.container in names and not _is_mere_name(witness, grounding, fields):
            by_term.setdefault((witness.term, witness.container), []).append(witness)

    def order(witness: Witness) -> tuple[bool, int, float]:
        worth = sum(relevance.of(witness.container, witness.path).values())
        return not witness.hard, witness.distance, -worth

    ranked = [sorted(found, key=order) for found in by_term.values()]
    ranked.sort(key=lambda found: (not found[0].hard, names.index(found[0].container), -len(found[0].term)))
    told = [_fact(found[n]) for n in range(2) for found in ranked if n < len(found)]
    dates = [f"- {fence_value(said)} means {meant}" for said, meant in grounding.dates.items()]
    return [*dict.fromkeys([*dates, *told])]


def _is_mere_name(witness: Witness, grounding: Grounding, fields: frozenset[str]) -> bool:
    """Tell whether words that fields are named with are stored only by chance, among very many other values."""
    if witness.hard or witness.is_key or not (set(stems(witness.term)) <= fields):
        return False
    container = grounding.catalog.get(witness.container)
    found = container.get(witness.path) if container else None
    return found is not None and found.distinct > MOST_CATEGORIES


def _fact(witness: Witness) -> str:
    place = clean(str(witness.path / str(witness.stored)) if witness.is_key else str(witness.path), 80)
    found = f"{place} exists" if witness.is_key else f"{place} = {fence_value(witness.stored)}"
    return f"- {fence_value(witness.term, _VALUE_WIDTH)} -> {fence_name(witness.container)}: {found}"
