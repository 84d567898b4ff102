"""Which lines of a catalog a question needs, within a budget of tokens.

Lines are taken one at a time, each for what it adds: a word of the question that the lines already taken from the same
container answer to counts for less each time, so that every part of a question gets its path before one part gets all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from groundql.core.catalog import Catalog, Container
from groundql.core.path import ENTRIES, Path
from groundql.grounding.joins import join_lines
from groundql.grounding.lines import Detail, container_head, variant_lines
from groundql.grounding.outline import Block, block_lines, outline
from groundql.grounding.relevance import Matches, Relevance
from groundql.grounding.tokens import count_tokens

_AGAIN: Final = 0.45
"""What a word is worth once more after a line that already answers to it."""
_OFTEN: Final = 3
"""Times after which a word is worth no less: a line that answers at all goes before one that only stands beside it."""
_SIBLING: Final = 0.015
"""What a line is worth for standing in the same block as a good line."""
_RANKED: Final = (1.0, 0.35, 0.15, 0.08, 0.05)
_FEWEST_CONTAINERS: Final = 6
_MOST_CONTAINERS: Final = 40


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many paths of a container are not shown in detail, and whether others of it are."""

    container: str
    paths: int
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen lines as text. `lost` counts the lines with a word of the question that did not fit."""

    text: str
    left_out: tuple[LeftOut, ...]
    lost: int


@dataclass(frozen=True, slots=True)
class _Item:
    """A line (or a block's head alone) that may be chosen. Units: `cost` in tokens."""

    container: str
    block: int
    path: Path
    matches: Matches
    base: float
    weight: float
    cost: int

    def gain(self, covered: dict[str, int]) -> float:
        """Return what it adds to what is covered already."""
        return self.weight * (
            self.base + sum(v * _AGAIN ** min(covered.get(w, 0), _OFTEN) for w, v in self.matches.items())
        )


@dataclass
class _Room:
    """What has been chosen, and the tokens left."""

    catalog: Catalog
    outlines: dict[str, tuple[Block, ...]]
    around: dict[str, tuple[str, ...]]
    left: int
    kept: dict[str, set[Path]] = field(default_factory=dict[str, set[Path]])
    blocks: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    covered: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def take(self, item: _Item) -> bool:
        """Choose an item if it fits, with the heads that it needs."""
        cost = item.cost
        if item.container not in self.kept:
            cost += sum(count_tokens(line) + 1 for line in self.around[item.container])
        fresh = [at for at in self._heads(item) if at not in self.blocks]
        cost += sum(count_tokens(self.outlines[name][number].head) + 1 for name, number in fresh)
        if cost > self.left:
            return False
        self.left -= cost
        kept = self.kept.setdefault(item.container, set())
        kept.add(item.path)
        kept.update(self.outlines[name][number].base for name, number in fresh)
        self.blocks.update(fresh)
        seen = self.covered.setdefault(item.container, {})
        for word in item.matches:
            seen[word] = seen.get(word, 0) + 1
        return True

    def _heads(self, item: _Item) -> list[tuple[str, int]]:
        """The block of an item, and the maps that it lies in: without their keys its path cannot be read."""
        blocks = self.outlines[item.container]
        base = blocks[item.block].base
        return [
            (item.container, i)
            for i, block in enumerate(blocks[: item.block + 1])
            if i == item.block or (ENTRIES in block.base.steps[-2:] and base.starts_with(block.base))
        ]


def select(catalog: Catalog, relevance: Relevance, detail: Detail, budget_tokens: int) -> Selection:
    """Choose the lines that cover a question best."""
    names = relevance.ranked()[: max(_FEWEST_CONTAINERS, min(_MOST_CONTAINERS, budget_tokens // 120))]
    best = max((relevance.containers[n] for n in names), default=0.0)
    outlines = {n: outline(catalog.by_name[n], detail) for n in names if catalog.by_name[n].is_known}
    around = {n: _around(catalog.by_name[n], detail) for n in outlines}
    room = _Room(catalog, outlines, around, budget_tokens)
    items = [
        item
        for name, blocks in outlines.items()
        for item in _items(name, blocks, relevance, _weight(relevance.containers[name], best, names.index(name)))
    ]
    lost = _fill(items, room)
    text = "\n".join((*_lines(room, names), *_joins(room, detail)))
    return Selection(text, _left_out(room), lost)


def _weight(score: float, best: float, rank: int) -> float:
    """What a container's lines are worth: most questions need one container, few need three."""
    return (score / best) ** 2 * _RANKED[min(rank, len(_RANKED) - 1)] if best else 1.0


def _fill(items: list[_Item], room: _Room) -> int:
    """Take items in order of gain; gains only fall, so an item is right when it still leads after a second look."""
    heap = [(-item.gain({}), i) for i, item in enumerate(items)]
    heapq.heapify(heap)
    lost = 0
    while heap:
        _, i = heapq.heappop(heap)
        item = items[i]
        gain = item.gain(room.covered.get(item.container, {}))
        if heap and -gain > heap[0][0] + 1e-9:
            heapq.heappush(heap, (-gain, i))
            continue
        if not item.cost and not item.matches:
            continue
        if not room.take(item):
            lost += bool(item.matches)
    return lost


def _items(name: str, blocks: tuple[Block, ...], relevance: Relevance, weight: float) -> Iterator[_Item]:
    for number, block in enumerate(blocks):
        owns = {line.path: relevance.of(name, line.path) for line in block.lines}
        top = max((sum(m.values()) for m in owns.values()), default=0.0)
        if block.head and not isinstance(block.base.last, str):
            yield _Item(name, number, block.base, _head_matches(name, block.base, relevance), 0.0, weight, 0)
        for line in block.lines:
            base = (0.0 if owns[line.path] else _SIBLING * top) + 0.01 / (1 + len(line.path))
            yield _Item(name, number, line.path, owns[line.path], base, weight, count_tokens(line.text) + 2)


def _head_matches(name: str, base: Path, relevance: Relevance) -> Matches:
    """What a block's head answers to: what is said of the map or array itself is said of it."""
    found: dict[str, float] = {}
    path = base
    while path.steps:
        for word, worth in relevance.of(name, path).items():
            found[word] = max(found.get(word, 0.0), worth)
        if isinstance(path.last, str):
            break
        path = path.parent
    return found


def _around(container: Container, detail: Detail) -> tuple[str, ...]:
    """What a container's lines stand between: its head, and its variants."""
    return (container_head(container), *variant_lines(container, detail)[:6])


def _lines(room: _Room, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name in room.kept:
            head, *variants = room.around[name]
            yield head
            yield from block_lines(room.outlines[name], frozenset(room.kept[name]))
            yield from variants


def _joins(room: _Room, detail: Detail) -> Iterator[str]:
    """The references between the chosen containers, those of chosen paths alone, as far as there is room."""
    kept = {(name, path) for name, paths in room.kept.items() for path in paths}
    edges = [
        e
        for e in room.catalog.edges
        if {e.container, e.to_container} <= room.kept.keys()
        and ((e.container, e.path) in kept or not e.path.hops or (e.to_container, e.to_path) in kept)
    ]
    for line in join_lines(edges, detail):
        cost = count_tokens(line) + 1
        if cost <= room.left:
            room.left -= cost
            yield line


def _left_out(room: _Room) -> tuple[LeftOut, ...]:
    """How many paths are not shown in detail, by container, those first of which some are."""
    found: list[LeftOut] = []
    for container in room.catalog.containers:
        shown = room.kept.get(container.name, set())
        lines = [x.path for b in room.outlines.get(container.name, ()) for x in b.lines]
        rest = sum(p not in shown for p in lines) if container.name in room.outlines else len(container.fields)
        if rest:
            found.append(LeftOut(container.name, rest, bool(shown)))
    return tuple(sorted(found, key=lambda left: not left.is_shown))
