"""The raw lattice: one node per place in the documents, filled by one fast walk.

This is the hot code of a grounding. A scalar costs a type lookup and two dict operations; everything that can be
derived later (kinds, ranges, shares) is derived later, from the tables of counted values.

Three bounds keep memory flat whatever the documents hold: an object that shows more than `FOLD_KEYS` different keys
becomes a map on the spot, its keys sharing one child; a lattice of more than `MOST_NODES` nodes is compacted; and the
values kept in all share one purse, with less room per path each time it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, cast

from bson import DBRef, Decimal128

from groundql.grounding.node import FEW, WATCHED, MapKeys, Node, fold, settle, size, walk
from groundql.grounding.shapes import Shapes
from groundql.grounding.tally import (
    LEAST_ROOM,
    LONGEST_TEXT,
    OTHER_ROOM,
    ROOM,
    DecimalText,
    Table,
    kind_of,
    prune,
)

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


class Trie:
    """The lattice of one container under construction."""

    def __init__(self, compact: Callable[[Node], None] | None = None, most_values: int = MOST_VALUES) -> None:
        self.root = Node()
        self.root.once = True
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
            settle(root)
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
        once = node.once and node.entries is None
        for key, value in found.items():
            child = fields.get(key)
            if child is None:
                child = self._child(node, key, now)
                if child is None:
                    continue
                fields, once = node.fields, node.once and node.entries is None
            if once:
                if child.documents < FEW and child.few is not None:
                    child.documents += 1
                    child.few.append(now)
            elif child.last != now:
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
        child.once = node.once
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


def _fixed(root: Node) -> Collection[str]:
    """Name the fields of the root that are no data: its id, and what at least half of the documents have."""
    least = 0.5 * root.objects if root.objects > LEAST_DOCUMENTS else root.objects + 1
    return [key for key, child in root.fields.items() if key == "_id" or child.documents >= least]
