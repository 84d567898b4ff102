"""A container as blocks of lines: one block for the root and for every array or map of objects.

A block's head carries the full path, its lines the way down from there, so that a long prefix is written once and every
path can still be put together by eye.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from groundql.core.catalog import Container, Field
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path
from groundql.grounding.lines import (
    Detail,
    field_notes,
    keys_text,
    kinds_text,
    lengths_text,
    path_text,
    presence_text,
    relative_text,
    share_text,
    values_text,
)

_MOST_KEPT: Final = 128
_BIG_RECORD: Final = 7
"""A record with this many lines gets a block of its own, so that its prefix is written once."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a card, and the path it speaks of."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """The lines below one base path; the head of the root block is empty."""

    base: Path
    head: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Hop:
    """An array or map that was passed on the way down, and what is said of it."""

    path: Path
    note: str


@dataclass(frozen=True)
class _Walk:
    """The walk over one container's fields."""

    container: Container
    detail: Detail
    blocks: list[Block]

    def block(self, base: Path, head: str, shown_from: Path | None = None) -> None:
        """Write the block of a base path, and after it those that lie within; its lines go on from `shown_from`."""
        lines: list[Line] = []
        later: list[Callable[[], None]] = []
        at = len(self.blocks)
        for child in self.container.children(base):
            self._visit(child, base if shown_from is None else shown_from, lines, later)
        self.blocks.insert(at, Block(base, head, tuple(lines)))
        for write in later:
            write()

    def _visit(self, field: Field, base: Path, lines: list[Line], later: list[Callable[[], None]]) -> None:
        end, hops = self._through_hops(field)
        children = self.container.children(end.path)
        named = tuple(c for c in children if isinstance(c.path.last, str))
        if field is end and named and self._is_plain_record(field) and self._size(field.path) < _BIG_RECORD:
            for child in children:
                self._visit(child, base, lines, later)
            return
        if named:
            apart, said = self._said(hops, ROOT)
            notes = (*said, *self._record_notes(end, skip_presence=field is not end))
            head = f"{path_text(end.path)}: {'; '.join(notes)}" if notes else path_text(end.path)
            later.append(lambda: self.block(end.path, "\n".join((*apart, head))))
            return
        apart, said = self._said(hops, base)
        lines.extend(Line(end.path, text) for text in apart)
        lines.append(Line(end.path, self._leaf(end, base, said)))
        if field is end:
            for child in children:
                self._visit(child, base, lines, later)

    def _said(self, hops: tuple[_Hop, ...], base: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Say what was passed: as lines of their own, or as notes; of several, each with its place."""
        if len(hops) < 2:
            return (), tuple(hop.note for hop in hops)
        placed = tuple(f"{relative_text(hop.path, base)} {hop.note}" for hop in hops)
        return (placed, ()) if self.detail.is_roomy else ((), placed)

    def _through_hops(self, field: Field) -> tuple[Field, tuple[_Hop, ...]]:
        """Go down arrays and maps as long as nothing else is stored there; say what was passed."""
        passed: list[_Hop] = []
        while True:
            below = [c for c in self.container.children(field.path) if c.path.last in (ITEMS, ENTRIES)]
            if len(below) != 1 or not _is_pure(field):
                return field, tuple(passed)
            hop = keys_text(field.keys, self.detail) if field.keys else lengths_text(field.lengths)
            null = f"null {share}" if (share := _null_share(field)) else ""
            presence = "" if field.path.last in (ITEMS, ENTRIES) else presence_text(field)
            passed.append(_Hop(field.path, "; ".join(n for n in (hop, presence, null) if n)))
            field = below[0]

    def _leaf(self, field: Field, base: Path, hops: tuple[str, ...]) -> str:
        kinds = kinds_text(field)
        if field.keys and not self.container.children(field.path):
            kinds = f"{kinds}, {keys_text(field.keys, self.detail)}"
        elif any(kind is Kind.ARRAY for kind, _ in field.kinds) and field.lengths is not None:
            kinds = kinds.replace("array", lengths_text(field.lengths), 1)
        notes = " ".join((kinds, *field_notes(field, self.detail)))
        hopped = f" ({'; '.join(hops)})" if hops else ""
        return f"{relative_text(field.path, base)} {notes}{hopped}"

    def _record_notes(self, field: Field, skip_presence: bool) -> tuple[str, ...]:
        kinds = kinds_text(field)
        presence = "" if skip_presence and field.path.last in (ITEMS, ENTRIES) else presence_text(field)
        shown = "" if kinds == "object" else kinds
        keys = keys_text(field.keys, self.detail) if field.keys else ""
        return tuple(n for n in (shown, presence, values_text(field, self.detail), keys) if n)

    def _is_plain_record(self, field: Field) -> bool:
        return not field.is_map and {k for k, _ in field.kinds} == {Kind.OBJECT} and field.count >= field.parents

    def _size(self, path: Path) -> int:
        """How many lines a record takes, hops and what lies behind them counted as one."""
        total = 0
        for child in self.container.children(path):
            if isinstance(child.path.last, str):
                total += max(1, self._size(child.path))
        return total


class _Outlines:
    """Outlines written lately: every question of a session asks for the same ones again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, Detail], tuple[Container, tuple[Block, ...]]] = OrderedDict()

    def get(self, container: Container, detail: Detail) -> tuple[Block, ...]:
        """Return the outline of this very container, from memory where it is there."""
        at = (id(container), detail)
        found = self._kept.get(at)
        if found is None or found[0] is not container:
            found = self._kept[at] = (container, _write(container, detail))
        self._kept.move_to_end(at)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return found[1]


_outlines: Final = _Outlines()


def outline(container: Container, detail: Detail) -> tuple[Block, ...]:
    """Return a container's fields as blocks, the root block first, in the order of their paths."""
    return _outlines.get(container, detail)


def outline_below(container: Container, path: Path, detail: Detail) -> tuple[Block, ...]:
    """Return what lies below a path as blocks; fields of the path itself are shown as seen from there."""
    walk = _Walk(container, detail, [])
    is_hop = any(child.path.last in (ITEMS, ENTRIES) for child in container.children(path))
    walk.block(path, "", ROOT if is_hop else path)
    return tuple(walk.blocks)


def _write(container: Container, detail: Detail) -> tuple[Block, ...]:
    walk = _Walk(container, detail, [])
    root = container.get(ROOT)
    walk.block(ROOT, f"the documents themselves: {keys_text(root.keys, detail)}" if root and root.keys else "")
    return tuple(walk.blocks)


def block_lines(blocks: tuple[Block, ...], keep: frozenset[Path] | None = None) -> Iterator[str]:
    """Yield the text of blocks; with `keep`, only lines (and heads) of these paths and what they need."""
    for block in blocks:
        lines = [x for x in block.lines if keep is None or x.path in keep]
        if not lines and (keep is not None and block.base not in keep):
            continue
        if block.head:
            yield block.head
        yield from (f"  {x.text}" if block.head else x.text for x in lines)


def _is_pure(field: Field) -> bool:
    """Whether nothing but arrays, or nothing but map objects, is stored here (null apart)."""
    kinds = {kind for kind, _ in field.kinds} - {Kind.NULL}
    return kinds == {Kind.ARRAY} or (kinds == {Kind.OBJECT} and field.is_map)


def _null_share(field: Field) -> str:
    share = field.share(Kind.NULL)
    return share_text(share) if share else ""
