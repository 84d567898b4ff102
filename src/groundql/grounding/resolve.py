"""From a path as a person writes it to the stored paths it can mean.

People write a path as a query names it: without the `[]` of an array, with an item's number, with one key of a map
instead of `<*>`, or with a name's dots unquoted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groundql.core.catalog import Container, Field
from groundql.core.path import ENTRIES, ITEMS, ROOT, Hop, Path, Step


@dataclass(frozen=True, slots=True)
class Resolved:
    """A stored path that a written one can mean, with the map keys that were named on the way."""

    path: Path
    keys: tuple[str, ...] = ()


def resolve(container: Container, written: Path) -> tuple[Resolved, ...]:
    """Return the stored paths that a written path can mean, fewest hops first; itself alone where it is stored."""
    if container.get(written) is not None or not written.steps:
        return (Resolved(written),)
    found = {r.path: r for r in _walk(container, Resolved(ROOT), written.steps)}
    return tuple(sorted(found.values(), key=lambda r: (len(r.path), r.path)))


def _walk(container: Container, at: Resolved, steps: tuple[Step, ...]) -> Iterator[Resolved]:
    if not steps:
        yield at
        return
    for place in _inside(container, at):
        for reached, taken in _taken(container, place, steps):
            yield from _walk(container, reached, steps[taken:])


def _inside(container: Container, at: Resolved) -> Iterator[Resolved]:
    """Yield a place and, where it is an array, the items in it: a query looks through them by itself."""
    yield at
    items = at.path / ITEMS
    if container.get(items) is not None:
        yield from _inside(container, Resolved(items, at.keys))


def _taken(container: Container, at: Resolved, steps: tuple[Step, ...]) -> Iterator[tuple[Resolved, int]]:
    """Yield where the next steps lead from a place, and how many of them are used up."""
    step = steps[0]
    if isinstance(step, Hop):
        if container.get(at.path / step) is not None:
            yield Resolved(at.path / step, at.keys), 1
        return
    if step.isdigit() and container.get(at.path / ITEMS) is not None:
        yield Resolved(at.path / ITEMS, at.keys), 1
    for taken, name in _names(steps):
        if container.get(at.path / name) is not None:
            yield Resolved(at.path / name, at.keys), taken
        elif container.get(at.path / ENTRIES) is not None and _may_be_key(container.get(at.path), name, taken > 1):
            yield Resolved(at.path / ENTRIES, (*at.keys, name)), taken


def _names(steps: tuple[Step, ...]) -> Iterator[tuple[int, str]]:
    """Yield the names that the next steps can be: the first, and those that dots within a name have torn apart."""
    name = ""
    for taken, step in enumerate(steps, 1):
        if not isinstance(step, str):
            return
        name = f"{name}.{step}" if taken > 1 else step
        yield taken, name


def _may_be_key(field: Field | None, name: str, is_torn: bool) -> bool:
    """Tell whether a map can have a key: one of those seen, and any name as written where not all keys were kept."""
    if field is None or field.keys is None:
        return False
    return name in field.keys.examples or not (field.keys.complete or is_torn)
