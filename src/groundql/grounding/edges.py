"""Witnessed references: values at one path that occur at a path where every value stands for one document.

Worked out from the stored values alone. Ids that are short whole numbers overlap by accident everywhere, so numbers
also need a name that says where they point ("hero_id" to `heroes`, or to a field of that name); texts and object ids
do not, when nearly all of them are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bson import ObjectId

from groundql.core.catalog import Container, Edge
from groundql.core.path import Path
from groundql.grounding.profile import StoredValues
from groundql.grounding.words import split_words, stem

MOST_EDGES: Final = 80
_PER_SOURCE: Final = 2
_ID: Final = Path.of("_id")
_FEWEST: Final = 3
"""Distinct values below which an overlap says nothing."""
_NAMED_SHARE: Final = 0.5
_UNNAMED_SHARE: Final = 0.95
_ID_WORDS: Final = frozenset({"id", "key", "code", "name", "value", "ref", "no", "nr", "number", "pk", "fk", "uuid"})
_MANY_CODES: Final = 30
_MOST_LOOKED_UP: Final = 2000


@dataclass(frozen=True)
class _Target:
    """A path whose values each stand for one document."""

    container: Container
    path: Path
    values: frozenset[object]


def find_edges(containers: Sequence[Container], values: Sequence[StoredValues]) -> tuple[Edge, ...]:
    """Return the references between containers, the surest first for each source path."""
    by_name = {c.name: c for c in containers}
    targets = tuple(_targets(by_name, values))
    edges = [edge for source in values for edge in _best(source, targets)]
    edges.sort(key=lambda e: (e.container, e.path, e.to_container, e.to_path))
    return tuple(sorted(edges, key=lambda e: len(e.path.hops))[:MOST_EDGES])


def _targets(containers: Mapping[str, Container], values: Sequence[StoredValues]) -> Iterator[_Target]:
    for found in values:
        container = containers.get(found.container)
        if container is None or found.is_key or found.path.hops or len(found.counts) < _FEWEST:
            continue
        texts = [value for value, count in found.counts if count == 1 and _is_reference(value)]
        if len(texts) == len(found.counts):
            yield _Target(container, found.path, frozenset(map(_typed, texts)))


def _best(source: StoredValues, targets: Sequence[_Target]) -> list[Edge]:
    looked = [_typed(value) for value, _ in source.counts[:_MOST_LOOKED_UP] if _is_reference(value)]
    if len(looked) < min(_FEWEST, source.distinct):
        return []
    rated: list[tuple[bool, float, Edge]] = []
    for target in targets:
        if source.container == target.container.name and source.path.name == target.path.name:
            continue  # the same path, or a copy of a document's own id inside it
        if source.path == _ID != target.path:
            continue  # one to one: the id is what is referred to
        hits = sum(value in target.values for value in looked)
        share = hits / len(looked)
        named = _points_to(source, target)
        if hits >= _FEWEST and share >= (_NAMED_SHARE if named else _UNNAMED_SHARE) and (named or _is_telling(looked)):
            edge = Edge(source.container, source.path, target.container.name, target.path, share, 1.0, source.is_key)
            rated.append((named, share, edge))
    rated.sort(key=lambda r: (not r[0], -r[1], len(r[2].to_path), r[2].to_container, r[2].to_path))
    return [edge for _, _, edge in rated[:_PER_SOURCE]]


def _points_to(source: StoredValues, target: _Target) -> bool:
    """Whether a source's name says that it points there: the same name, or the target container's name and no more.

    `hero_id` and `hero` point to `heroes`; `hero_count` counts them.
    """
    words = split_words(source.path.name)
    if words == split_words(target.path.name) and not _ID_WORDS.issuperset(words):
        return True
    said = [stem(w) for w in words if w not in _ID_WORDS]
    names = {stem(w) for w in split_words(target.container.name)} | {stem(w) for w in split_words(target.path.name)}
    return bool(said) and set(said) <= names


def _is_telling(values: Sequence[object]) -> bool:
    """Whether values can hardly coincide: object ids, texts that are no handful of short words, or very many codes."""
    texts = [v for v in values if isinstance(v, str)]
    long_ones = len(texts) >= 5 and sum(map(len, texts)) >= 5 * len(texts)
    return any(isinstance(v, ObjectId) for v in values) or long_ones or len(texts) >= _MANY_CODES


def _is_reference(value: object) -> bool:
    return isinstance(value, str | int | ObjectId) and not isinstance(value, bool) and value != ""


def _typed(value: object) -> object:
    """Whole numbers compare across widths, as they do in the database; texts never equal numbers."""
    return int(value) if isinstance(value, int) else value
