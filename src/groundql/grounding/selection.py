"""Which lines of a catalog a question needs, within a budget of tokens.

Lines are taken one at a time, each for what it adds: a word of the question that the lines already taken from the same
container answer to counts for less each time, so that every part of a question gets its path before one part gets all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from groundql.core.catalog import Catalog, Container, Variant
from groundql.core.path import Path
from groundql.grounding.fence import fence_name
from groundql.grounding.lines import Detail, container_head, variant_lines
from groundql.grounding.outline import Block, block_lines, outline
from groundql.grounding.relevance import Matches, Relevance
from groundql.grounding.tokens import count_tokens

_AGAIN: Final = 0.45
"""What a word is worth once more after a line that already answers to it."""
_SIBLING: Final = 0.06
"""What a line is worth for standing in the same block as a good line."""
_MOST_CONTAINERS: Final = 40


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen lines as text. `lost` counts the lines with a word of the question that did not fit."""

    text: str
    left_out: str
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
        return self.weight * (self.base + sum(v * _AGAIN ** covered.get(w, 0) for w, v in self.matches.items()))


@dataclass
class _Room:
    """What has been chosen, and the tokens left."""

    catalog: Catalog
    outlines: dict[str, tuple[Block, ...]]
    left: int
    kept: dict[str, set[Path]] = field(default_factory=dict[str, set[Path]])
    blocks: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    covered: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def take(self, item: _Item) -> bool:
        """Choose an item if it fits, with the heads that it needs."""
        cost = item.cost
        if item.container not in self.kept:
            cost += count_tokens(container_head(self.catalog.by_name[item.container])) + 1
        if (item.container, item.block) not in self.blocks:
            cost += count_tokens(self.outlines[item.container][item.block].head) + 1
        if cost > self.left:
            return False
        self.left -= cost
        self.kept.setdefault(item.container, set()).add(item.path)
        self.blocks.add((item.container, item.block))
        seen = self.covered.setdefault(item.container, {})
        for word in item.matches:
            seen[word] = seen.get(word, 0) + 1
        return True


def select(catalog: Catalog, relevance: Relevance, detail: Detail, budget_tokens: int) -> Selection:
    """Choose the lines that cover a question best."""
    names = relevance.ranked()[:_MOST_CONTAINERS]
    best = max((relevance.containers[n] for n in names), default=0.0)
    outlines = {n: outline(catalog.by_name[n], detail) for n in names if catalog.by_name[n].is_known}
    room = _Room(catalog, outlines, budget_tokens)
    items = [
        item
        for name, blocks in outlines.items()
        for item in _items(name, blocks, relevance, (relevance.containers[name] / best) ** 3 if best else 1.0)
    ]
    variants = {n: _variant_text(catalog.by_name[n], detail) for n in outlines}
    lost = _fill(items, room, variants)
    text = "\n".join(_lines(room, names, variants))
    return Selection(text, _left_out(room), lost)


def _fill(items: list[_Item], room: _Room, variants: dict[str, str]) -> int:
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
        fresh = item.container not in room.kept
        if not room.take(item):
            lost += bool(item.matches)
        elif fresh and variants[item.container]:
            room.left -= count_tokens(variants[item.container]) + 1
    return lost


def _items(name: str, blocks: tuple[Block, ...], relevance: Relevance, weight: float) -> Iterator[_Item]:
    for number, block in enumerate(blocks):
        owns = {line.path: relevance.of(name, line.path) for line in block.lines}
        top = max((sum(m.values()) for m in owns.values()), default=0.0)
        if block.head and not isinstance(block.base.last, str):
            yield _Item(name, number, block.base, _head_matches(name, block.base, relevance), 0.0, weight, 0)
        for line in block.lines:
            base = _SIBLING * top + 0.01 / (1 + len(line.path))
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


def _variant_text(container: Container, detail: Detail) -> str:
    """The variants of the documents themselves, and of arrays only where there is room for much."""
    shown = tuple(v for v in container.variants if detail.examples > 1 or not v.base.steps)
    return "\n".join(variant_lines(_with_variants(container, shown[:6]), 160))


def _with_variants(container: Container, variants: tuple[Variant, ...]) -> Container:
    return Container(container.info, container.fields, container.sampling, variants, container.error)


def _lines(room: _Room, names: tuple[str, ...], variants: dict[str, str]) -> Iterator[str]:
    for name in names:
        if name in room.kept:
            yield container_head(room.catalog.by_name[name])
            yield from block_lines(room.outlines[name], frozenset(room.kept[name]))
            if variants[name]:
                yield variants[name]


def _left_out(room: _Room) -> str:
    """How many paths are not shown in detail, by container."""
    parts: list[str] = []
    others = 0
    for container in room.catalog.containers:
        shown = room.kept.get(container.name, set())
        lines = [x.path for b in room.outlines.get(container.name, ()) for x in b.lines]
        rest = sum(p not in shown for p in lines) if container.name in room.outlines else len(container.fields)
        if shown and rest:
            parts.append(f"{rest} of {len(lines)} paths of {fence_name(container.name)}")
        elif rest:
            others += 1
    if others:
        parts.append(f"{others} {'other ' if parts else ''}collections")
    return ", ".join(parts[:8]) + (f" and more of {len(parts) - 8} others" if len(parts) > 8 else "")
