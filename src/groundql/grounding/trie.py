"""The raw lattice: one node per place in the documents, filled by one fast walk.

This is the hot code of a grounding. A scalar costs a type lookup and two dict operations; everything that can be
derived later (kinds, ranges, shares) is derived later, from the tables of counted values.

Three bounds keep memory flat whatever the documents hold: an object that shows more than `FOLD_KEYS` different keys
becomes a map on the spot, its keys sharing one child; a lattice of more than `MOST_NODES` nodes is compacted; and the
values kept in all share one purse, with less room per path each time it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, cast

from bson import DBRef, Decimal128

from groundql.core.kind import Kind
from groundql.grounding.tally import (
    LEAST_ROOM,
    LONGEST_TEXT,
    OTHER_ROOM,
    ROOM,
    DecimalText,
    Spill,
    Table,
    kind_of,
    prune,
)
from groundql.grounding.variants import Shapes

WATCHED: Final = 2000
"""Objects in an array that are filed by their names after each new name; the root's are filed always."""

FEW: Final = 8

FOLD_KEYS: Final = 1000
"""Records with more fields are practically unknown: form builders and spreadsheets stop at a few hundred."""

FOLD_KEYS_FULL: Final = 64
"""The same once the lattice is full: a document of many wide maps is folded before it ends."""

MOST_NODES: Final = 40_000
MOST_VALUES: Final = 300_000
LEAST_PURSE: Final = 10_000
"""Values kept per container: as many as a value index can use, and at least so many where containers abound."""
LEAST_DOCUMENTS: Final = 3
SQUEEZED: Final = 4096
DEEPEST: Final = 180
"""MongoDB stores at most 100 levels and its drivers refuse more than 180: nothing storable is lost. Units: levels."""


class MapKeys:
    """The slot of a map's spilled keys."""


class Node:
    """One place: what stood there, and the places below it.

    `fields` are its children by key; `items` the items of arrays here; `entries` the shared child of a map's keys,
    which `keys` counts. `tables` count scalar values by Python type, `spills` what left them.
    `documents` counts documents that show this place, `last` is the latest of them. The first `FEW` are kept by number,
    so that rare places that are laid over one another know their documents exactly; `few` is None when they were more.
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


class Trie:
    """The lattice of one container under construction."""

    def __init__(self, compact: Callable[[Node], None] | None = None, most_values: int = MOST_VALUES) -> None:
        self.root = Node()
        self.documents = 0
        self.nodes = 1
        self.purse = most_values
        self._most_values = most_values
        self.squeeze = 1
        self._compact_at = MOST_NODES
        self._compact = compact

    def add(self, document: Mapping[str, Any]) -> None:
        """Take one document in."""
        plain = cast("dict[str, Any]", document if type(document) is dict else dict(document))
        root = self.root
        root.documents += 1
        if root.shapes is None:
            root.shapes = Shapes()
        root.shapes.add(plain)
        self._object(root, plain, self.documents, 0)
        self.documents += 1
        if self.nodes > self._compact_at and self._compact is not None:
            self._compact(root)
            self.nodes = size(root)
            self._compact_at = max(MOST_NODES, self.nodes * 3 // 2)

    def _object(self, node: Node, found: Mapping[str, Any], now: int, depth: int) -> None:
        node.objects += 1
        if not found:
            node.empties += 1
            return
        if depth >= DEEPEST:
            node.folded = True
            return
        fields = node.fields
        for key, value in found.items():
            child = fields.get(key)
            if child is None:
                child = self._child(node, key, now)
                if child is None:
                    continue
                fields = node.fields
            if child.last != now:
                child.last = now
                child.documents += 1
                if child.documents <= FEW and child.few is not None:
                    child.few.append(now)
            of: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
            table = child.tables.get(of)
            if table is not None:
                count = table.get(value)
                if count is None:
                    self._insert(child, of, table, value)
                else:
                    table[value] = count + 1
            elif of is dict:
                self._object(child, value, now, depth + 1)
            elif of is list:
                self._array(child, value, now, depth + 1)
            else:
                self._first(child, of, value, now, depth)

    def _array(self, node: Node, found: list[Any], now: int, depth: int) -> None:
        length = len(found)
        if node.arrays:
            if length < node.shortest:
                node.shortest = length
            elif length > node.longest:
                node.longest = length
        else:
            node.shortest = node.longest = length
        node.arrays += 1
        node.slots += length
        if not length:
            return
        if depth >= DEEPEST:
            node.folded = True
            return
        child = node.items
        if child is None:
            child = node.items = Node()
            self.nodes += 1
        if child.last != now:
            child.last = now
            child.documents += 1
            if child.documents <= FEW and child.few is not None:
                child.few.append(now)
        tables = child.tables
        for value in found:
            of: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
            if of is dict:
                if child.objects < child.watched:
                    shapes = child.shapes = child.shapes or Shapes()
                    shapes.add(value)
                self._object(child, value, now, depth + 1)
                continue
            table = tables.get(of)
            if table is not None:
                count = table.get(value)
                if count is None:
                    self._insert(child, of, table, value)
                else:
                    table[value] = count + 1
            elif of is list:
                self._array(child, value, now, depth + 1)
            else:
                self._first(child, of, value, now, depth)

    def _child(self, node: Node, key: str, now: int) -> Node | None:
        if node.entries is not None:
            self._count_key(node, key)
            return node.entries
        if len(node.fields) >= (FOLD_KEYS if self.nodes < MOST_NODES else FOLD_KEYS_FULL):
            self.nodes -= fold(node, _fixed(node) if node is self.root else ())
            self._count_key(node, key)
            return node.entries
        if self.nodes > 2 * MOST_NODES:
            # Neither maps nor compacting helped: the rest stays unknown, and is marked so.
            node.folded = True
            return None
        child = node.fields[key] = Node()
        self.nodes += 1
        node.watched = node.objects + WATCHED
        return child

    def _count_key(self, node: Node, key: str) -> None:
        keys = node.keys
        if keys is None:
            keys = node.keys = {}
        if key in keys:
            keys[key] += 1
        elif len(key) > LONGEST_TEXT:
            node.spill(MapKeys).add(str, key)
        else:
            self._keep(node, MapKeys, str, keys, key)

    def _first(self, child: Node, of: type, value: Any, now: int, depth: int) -> None:
        """Take in a value whose type has no table here yet, or never has one."""
        if of is Decimal128:
            self._decimal(child, str(value))
        elif isinstance(value, DBRef):
            self._object(child, value.as_doc().to_dict(), now, depth + 1)
        elif isinstance(value, Mapping):
            self._object(child, dict(cast("Mapping[str, Any]", value)), now, depth + 1)
        elif isinstance(value, list | tuple):
            self._array(child, list(cast("list[Any]", value)), now, depth + 1)
        elif of.__hash__ is None:
            kind = kind_of(of, value)
            others = child.others = child.others or {}
            others[kind] = others.get(kind, 0) + 1
        else:
            self._insert(child, of, child.tables.setdefault(of, {}), value)

    def _decimal(self, child: Node, text: str) -> None:
        table = child.tables.setdefault(DecimalText, {})
        if text in table:
            table[text] += 1
        else:
            self._keep(child, DecimalText, DecimalText, table, text)

    def _insert(self, child: Node, of: type, table: Table, value: Any) -> None:
        if (of is float and value != value) or (of is str and len(value) > LONGEST_TEXT):
            child.spill(of).add(of, value)
        else:
            self._keep(child, of, of, table, value)

    def _keep(self, node: Node, slot: type, of: type, table: Table, value: Any) -> None:
        table[value] = 1
        self.purse -= 1
        room = self._room(of)
        if len(table) > room:
            self.purse += prune(table, node.spill(slot), of, room)
        elif self.purse < 0:
            self._tighten()

    def _tighten(self) -> None:
        """Halve the room of every path until all of them take up half the purse."""
        while self.purse < self._most_values // 2 and self.squeeze < SQUEEZED:
            self.squeeze *= 2
            self.purse = self._most_values
            for node in walk(self.root):
                for of, table in node.tables.items():
                    self._shrink(node, of, of, table)
                if node.keys is not None:
                    self._shrink(node, MapKeys, str, node.keys)
        self.purse = max(self.purse, self._most_values // 2)

    def _shrink(self, node: Node, slot: type, of: type, table: Table) -> None:
        room = self._room(of)
        if len(table) > room:
            prune(table, node.spill(slot), of, room)
        self.purse -= len(table)

    def _room(self, of: type) -> int:
        return max(LEAST_ROOM, ROOM.get(of, OTHER_ROOM) // self.squeeze)


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


def fold(node: Node, kept: Collection[str] = ()) -> int:
    """Make a map of an object in place: its keys come to share one child. Return how many nodes this saved.

    The names in `kept` stay names beside the map.
    """
    before = size(node)
    keys = node.keys or {}
    folded = {key: child for key, child in node.fields.items() if key not in kept}
    for key, child in folded.items():
        keys[key] = keys.get(key, 0) + child.count()
    entries = merged((node.entries, *folded.values()) if node.entries else folded.values())
    node.keys, node.entries = keys, entries
    node.fields = {key: node.fields[key] for key in kept}
    return before - size(node)


def _fixed(root: Node) -> Collection[str]:
    """Name the fields of the root that are no data: its id, and what at least half of the documents have."""
    least = 0.5 * root.objects if root.objects > LEAST_DOCUMENTS else root.objects + 1
    return [key for key, child in root.fields.items() if key == "_id" or child.documents >= least]


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
