"""Other data of the same form: values exchanged among documents, and among the keys of maps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from copy import deepcopy
from random import Random
from typing import Any, Final, TypeAlias, cast

Place: TypeAlias = tuple[Any, Any]
"""A holder and the key or index under which it holds a value."""
Way: TypeAlias = tuple[str, ...]
SHARE: Final = 0.5
"""Half of the values change places: enough that filters select others, few enough that most still select some."""
ITEMS: Final = "[]"
ENTRIES: Final = "<*>"


def mutate(documents: Sequence[Mapping[str, Any]], maps: Collection[Way], seed: int) -> list[dict[str, Any]]:
    """Return documents in which half of the values at each path have changed places with others of their kind.

    What is stored at a path stays the same as a whole, so that the filters of a question still find something, but in
    other documents; within maps, values also change places between keys. `_id` at the root stays.
    Shape: `maps` are the ways to objects whose keys are data, as field names, `[]` and `<*>`.
    """
    copies: list[dict[str, Any]] = [deepcopy(dict(document)) for document in documents]
    random = Random(seed)
    columns: dict[tuple[Way, str], list[Place]] = {}
    for document in copies:
        for way, place in _leaves(document, (), frozenset(maps)):
            if way != ("_id",):
                holder, key = place
                columns.setdefault((way, type(holder[key]).__name__), []).append(place)
    for _, places in sorted(columns.items(), key=lambda pair: pair[0]):
        _exchange([place for place in places if random.random() < SHARE], random)
    return copies


def _exchange(places: Sequence[Place], random: Random) -> None:
    values = [holder[key] for holder, key in places]
    random.shuffle(values)
    for (holder, key), value in zip(places, values, strict=True):
        holder[key] = value


def _leaves(node: Any, way: Way, maps: frozenset[Way]) -> Iterator[tuple[Way, Place]]:
    """Give every place that holds a value which is no object or array, with its path; keys of maps become one step."""
    steps: list[tuple[Any, str]] = []
    if isinstance(node, MutableMapping):
        keys = cast("Mapping[str, Any]", node)
        steps = [(key, ENTRIES if way in maps else key) for key in keys]
    elif isinstance(node, MutableSequence):
        steps = [(index, ITEMS) for index in range(len(cast("Sequence[Any]", node)))]
    holder = cast("Any", node)
    for key, step in steps:
        value: Any = holder[key]
        if isinstance(value, MutableMapping | MutableSequence):
            yield from _leaves(value, (*way, step), maps)
        else:
            yield (*way, step), (holder, key)
