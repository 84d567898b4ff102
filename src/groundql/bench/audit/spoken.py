"""Is a stored form spoken of by another name that the data itself puts beside it: DE as Germany, ie as its title?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.bench.audit.ground import Ground
from groundql.core.catalog import Field
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, Path, is_plain

_MOST_PATHS: Final = 24
_MOST_DOCUMENTS: Final = 3
_LEAST_LETTERS: Final = 3
"""Letters of a name that count; shorter ones turn up in any text."""


async def is_spoken(value: str, ground: Ground) -> bool:
    """Tell whether the question names a value by what stands beside it in the data."""
    if any(str(w.stored) == value for w in ground.grounding.witnesses):
        return True
    for container, paths in _places(value, ground):
        any_of = [{path.dotted: value} for path in paths[:_MOST_PATHS]]
        ran = await ground.run([{"$match": {"$or": any_of}}, {"$limit": _MOST_DOCUMENTS}], container)
        for document in ran.records:
            for holder in _holders(document, value):
                if any(ground.stated.has_text(name) for name in _names(holder, value)):
                    return True
    return False


def _places(value: str, ground: Ground) -> Iterator[tuple[str, list[Path]]]:
    """The paths of texts, by container, that hold the value, or may: few different long texts would be listed."""
    for container in ground.grounding.catalog.containers:
        fields = (f for f in container.fields if Kind.STRING in f.kind_set and _is_reachable(f.path))
        paths = [f.path for f in fields if _may_hold(f, value)]
        if paths:
            yield container.name, paths


def _may_hold(field: Field, value: str) -> bool:
    return value in field.values if field.complete else True


def _is_reachable(path: Path) -> bool:
    return ENTRIES not in path.steps and all(is_plain(s) and not s.startswith("$") for s in path.fields)


def _holders(node: Any, value: str) -> Iterator[Mapping[str, Any]]:
    """The objects that hold a value themselves, or in an array of theirs."""
    if isinstance(node, Mapping):
        found = cast("Mapping[str, Any]", node)
        if any(part == value for part in found.values()):
            yield found
        for part in found.values():
            yield from _holders(part, value)
    elif isinstance(node, list | tuple):
        for part in cast("Sequence[Any]", node):
            yield from _holders(part, value)


def _names(holder: Mapping[str, Any], value: str) -> Iterator[str]:
    for part in holder.values():
        if isinstance(part, str) and part != value and sum(c.isalpha() for c in part) >= _LEAST_LETTERS:
            yield part
