"""One place in the documents of a container, and how places are laid over one another.

A node only counts; the walk that fills it is in `trie`, and what it means is read off in `profile`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from groundql.core.kind import Kind
from groundql.grounding.shapes import Shapes
from groundql.grounding.tally import OTHER_ROOM, ROOM, Spill, Table, kind_of, prune

FEW: Final = 8
WATCHED: Final = 2000
"""Objects in an array that are filed by their names after each new name; the root's are filed always."""


class MapKeys:
    """The slot of a map's spilled keys."""


class Node:
    """One place: what stood there, and the places below it.

    `fields` are its children by key; `items` the items of arrays here; `entries` the shared child of a map's keys,
    which `keys` counts. `tables` count scalar values by Python type, `spills` what left them.
    `documents` counts documents that show this place, `last` is the latest of them. The first `FEW` are kept by number,
    so that rare places that are laid over one another know their documents exactly; `few` is None when they were more.
    A place that no document shows twice (`once`: no array or map above it) is not counted beyond that: `settle` does.
    """

    __slots__ = (
        "arrays",
        "documents",
        "empties",
        "entries",
        "few",
        "fields",
        "folded",
        "items",
        "keys",
        "last",
        "longest",
        "objects",
        "once",
        "others",
        "shapes",
        "shortest",
        "slots",
        "spills",
        "summed",
        "tables",
        "watched",
    )

    def __init__(self) -> None:
        self.documents = 0
        self.summed = 0
        self.few: list[int] | None = []
        self.last = -1
        self.fields: dict[str, Node] = {}
        self.items: Node | None = None
        self.entries: Node | None = None
        self.keys: Table | None = None
        self.objects = 0
        self.empties = 0
        self.arrays = 0
        self.slots = 0
        self.shortest = 0
        self.longest = 0
        self.tables: dict[type, Table] = {}
        self.spills: dict[type, Spill] | None = None
        self.others: dict[Kind, int] | None = None
        self.shapes: Shapes | None = None
        self.watched = WATCHED
        self.once = False
        self.folded = False

    def spill(self, of: type) -> Spill:
        """Give the spill of a type, made when there is none."""
        if self.spills is None:
            self.spills = {}
        return self.spills.setdefault(of, Spill())

    def scalars(self) -> int:
        """Count the values here that are neither objects nor arrays."""
        kept = sum(sum(table.values()) for table in self.tables.values())
        left = sum(spill.count for slot, spill in self.spills.items() if slot is not MapKeys) if self.spills else 0
        return kept + left + (sum(self.others.values()) if self.others else 0)

    def count(self) -> int:
        """Count the values here."""
        return self.objects + self.arrays + self.scalars()

    def kinds(self) -> dict[Kind, int]:
        """Count the values here by kind."""
        found: dict[Kind, int] = dict(self.others or {})
        if self.objects:
            found[Kind.OBJECT] = self.objects
        if self.arrays:
            found[Kind.ARRAY] = self.arrays
        for of, table in self.tables.items():
            if of is int:
                for value, count in table.items():
                    kind = kind_of(int, value)
                    found[kind] = found.get(kind, 0) + count
            elif table:
                kind = kind_of(of, None)
                found[kind] = found.get(kind, 0) + sum(table.values())
        for slot, spill in (self.spills or {}).items():
            if slot is MapKeys:
                continue
            for kind, count in spill.kinds.items():
                found[kind] = found.get(kind, 0) + count
        return found

    def children(self) -> Iterator[Node]:
        """Yield the places directly below."""
        yield from self.fields.values()
        if self.items is not None:
            yield self.items
        if self.entries is not None:
            yield self.entries


def walk(node: Node) -> Iterator[Node]:
    """Yield a place and all places below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children())


def size(node: Node) -> int:
    """Count a place and all places below it."""
    return sum(1 for _ in walk(node))


def settle(node: Node) -> None:
    """Count the documents of the places that each document shows at most once: as many as values."""
    for place in walk(node):
        if place.once and place.documents >= FEW:
            place.documents = place.count()


def fold(node: Node, kept: Collection[str] = ()) -> int:
    """Make a map of an object in place: its keys come to share one child. Return how many nodes this saved.

    The names in `kept` stay names beside the map.
    """
    settle(node)
    before = size(node)
    keys = node.keys or {}
    folded = {key: child for key, child in node.fields.items() if key not in kept}
    for key, child in folded.items():
        keys[key] = keys.get(key, 0) + child.count()
    entries = merged((node.entries, *folded.values()) if node.entries else folded.values())
    node.keys, node.entries = keys, entries
    node.fields = {key: node.fields[key] for key in kept}
    return before - size(node)


def merged(nodes: Iterable[Node]) -> Node:
    """Lay places over one another into a new one; the given ones stay as they are."""
    target = Node()
    for node in nodes:
        _lay(target, node)
    return target


def _lay(target: Node, source: Node) -> None:
    _lay_documents(target, source)
    target.objects += source.objects
    target.empties += source.empties
    target.folded = target.folded or source.folded
    _lay_arrays(target, source)
    _lay_values(target, source)
    for key, child in source.fields.items():
        _lay(target.fields.setdefault(key, Node()), child)
    if source.items is not None:
        target.items = target.items or Node()
        _lay(target.items, source.items)
    if source.entries is not None:
        target.entries = target.entries or Node()
        _lay(target.entries, source.entries)
    if source.shapes is not None:
        target.shapes = source.shapes.joined(target.shapes)


def _lay_documents(target: Node, source: Node) -> None:
    """Count documents: exactly while few, else as if no document showed both places; order changes nothing."""
    target.summed += source.documents
    target.last = max(target.last, source.last)
    if target.few is not None:
        known = source.few if source.few is not None and len(source.few) == source.documents else None
        both = sorted({*target.few, *known}) if known is not None else []
        target.few = both if known is not None and len(both) <= FEW else None
    target.documents = target.summed if target.few is None else len(target.few)


def _lay_arrays(target: Node, source: Node) -> None:
    if not source.arrays:
        return
    shortest, longest = source.shortest, max(source.shortest, source.longest)
    target.shortest = min(target.shortest, shortest) if target.arrays else shortest
    target.longest = max(target.longest, longest) if target.arrays else longest
    target.arrays += source.arrays
    target.slots += source.slots


def _lay_values(target: Node, source: Node) -> None:
    for of, spill in (source.spills or {}).items():
        target.spill(of).merge(spill)
    for of, table in source.tables.items():
        _lay_table(target, of, of, target.tables.setdefault(of, {}), table)
    if source.keys is not None:
        target.keys = target.keys or {}
        _lay_table(target, MapKeys, str, target.keys, source.keys)
    for kind, count in (source.others or {}).items():
        others = target.others = target.others or {}
        others[kind] = others.get(kind, 0) + count


def _lay_table(target: Node, slot: type, of: type, table: Table, source: Table) -> None:
    for value, count in source.items():
        table[value] = table.get(value, 0) + count
    room = ROOM.get(of, OTHER_ROOM)
    if len(table) > room:
        prune(table, target.spill(slot), of, room)
