"""Documents in, the catalog of one container out.

`Profiler.add` files each document in a raw lattice (`trie`); `Profiler.finish` decides which places are maps (`maps`),
lays their entries over one another, finds variants, and writes the places down as fields in the order of their paths.
The same documents in the same order give the same profile, byte for byte.

The root itself is a field only when its keys are data, or when it had to be folded.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bson import Decimal128

from groundql.core.catalog import (
    Container,
    ContainerInfo,
    Counted,
    DateRange,
    Field,
    KeySpace,
    Lengths,
    NumberRange,
    Sampling,
    StopReason,
)
from groundql.core.path import ENTRIES, ITEMS, Path, Step
from groundql.grounding.keys import STYLED, form_of, kind_of_keys, levels_keyed
from groundql.grounding.maps import MapJudge, compact, split_root
from groundql.grounding.node import MapKeys, Node, merged, settle, walk
from groundql.grounding.tally import DecimalText, Table, comparable, kind_of, name_of_odd
from groundql.grounding.trie import MOST_VALUES, Trie
from groundql.grounding.variants import Tag, find_tags, find_variants
from groundql.grounding.vocabulary import Vocabulary

MOST_EXAMPLES: Final = 64
"""Values a field shows when it has no more than these; a longer list is cut to `FEW_EXAMPLES`."""
FEW_EXAMPLES: Final = 16
MOST_KEY_EXAMPLES: Final = 256
REPEATS: Final = 4
"""A run of steps that comes this many times over with nothing new below is a recursive shape, and is folded."""
LONGEST_PERIOD: Final = 6


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The scalar values at one path, or the keys of one map.

    Shape: `counts` holds (value, count), most frequent first. For `is_key` the values are the keys and `path` the map.
    `complete` says that nothing is missing from them; `distinct` is exact then, and an estimate otherwise.
    """

    container: str
    path: Path
    is_key: bool
    counts: tuple[tuple[object, int], ...]
    complete: bool
    distinct: int


@dataclass(frozen=True)
class Profile:
    """What the documents of one container show: its catalog entry, and the stored values for the value index."""

    container: Container
    values: tuple[StoredValues, ...] = ()


class Profiler:
    """Build the profile of one container, document by document."""

    def __init__(self, info: ContainerInfo, most_values: int = MOST_VALUES) -> None:
        self.info = info
        self._trie = Trie(lambda root: compact(MapJudge(), root), most_values)

    @classmethod
    def of(cls, info: ContainerInfo, root: Node) -> Profiler:
        """Take over a lattice that was filled elsewhere."""
        made = cls(info)
        made._trie.root, made._trie.documents = root, root.documents
        return made

    @property
    def documents(self) -> int:
        """How many documents were added."""
        return self._trie.documents

    @property
    def paths(self) -> int:
        """How many places were seen so far, each key of a map counted."""
        return self._trie.nodes - 1

    def add(self, document: Mapping[str, Any]) -> None:
        """Take one document in."""
        self._trie.add(document)

    def stored_columns(self) -> list[Collection[str]]:
        """Give the strings stored as values, place by place, as far as they are kept."""
        return [table for node in walk(self._trie.root) if (table := node.tables.get(str))]

    def unseen_share(self) -> float:
        """Estimate the chance that the next document shows a path not seen yet.

        Each document is held out in turn in thought: the share of those that show a path no other document shows.
        Units: 0 to 1.
        Source: Good, The population frequencies of species (1953)
        """
        if not self.documents:
            return 1.0
        settle(self._trie.root)
        reader = _Reader(self._judge(self._trie.root, self._vocabulary()))
        rare = (node for _, node, _ in reader.places(self._trie.root) if node.documents == 1)
        lonely = {document for node in rare for document in node.few or ()}
        return len(lonely) / self.documents

    def tags(self) -> list[Tag]:
        """List the root's fields of few values, those that tell variants apart first."""
        root = self._trie.root
        if root.shapes is None:
            return []
        settle(root)
        reader = _Reader(self._judge(root, self._vocabulary()))
        return find_tags(root.shapes, {path: node for path, node, _ in reader.places(root)})

    def finish(self, sampling: Sampling | None = None, vocabulary: Vocabulary | None = None) -> Profile:
        """Write the profile; `vocabulary` holds the strings of the whole database, by default this container's."""
        sampling = sampling or Sampling(self.documents, StopReason.EXHAUSTED)
        settle(self._trie.root)
        root = split_root(self._trie.root)
        reader = _Reader(self._judge(root, vocabulary or self._vocabulary()))
        places = sorted(reader.places(root), key=lambda place: _order(place[0]))
        is_whole = sampling.stop is StopReason.EXHAUSTED
        fields: dict[Path, Field] = {}
        values: list[StoredValues] = []
        for path, node, parents in places:
            seen = _Seen(node, is_whole)
            keys = reader.maps.get(path)
            fields[path] = _field(path, node, parents, seen, keys.space(is_whole) if keys else None)
            if keys:
                values.append(keys.stored(self.info.name, path, is_whole))
            if seen.counts:
                values.append(StoredValues(self.info.name, path, False, seen.counts, seen.is_complete, seen.distinct))
        bases = [(Path(), root), *((p, n) for p, n, _ in places if p.last is ITEMS)]
        variants = (v for path, node in bases if node.shapes for v in find_variants(node.shapes, path, fields))
        return Profile(Container(self.info, tuple(fields.values()), sampling, tuple(variants)), tuple(values))

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.stored_columns())

    def _judge(self, root: Node, vocabulary: Vocabulary) -> MapJudge:
        names = [name for name in root.fields if name != "_id"]
        styled = sum(form_of(name) in STYLED for name in names)
        return MapJudge(vocabulary, lower_names=2 * styled <= len(names))


def _order(path: Path) -> list[tuple[int, str]]:
    # The order of Path itself, computed once per path instead of once per comparison.
    return [(1, step) if isinstance(step, str) else (0, step.value) for step in path.steps]


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of one map. Units: `objects` maps seen, `left` occurrences of keys that are not kept."""

    counts: Table
    left: int
    distinct: int
    objects: int
    is_estimate: bool

    def ordered(self) -> list[tuple[str, int]]:
        return sorted(self.counts.items(), key=lambda k: (-k[1], k[0]))

    def space(self, is_whole: bool) -> KeySpace:
        examples = tuple(key for key, _ in self.ordered()[:MOST_KEY_EXAMPLES])
        is_complete = is_whole and self.left == 0 and len(examples) == len(self.counts)
        mean = (sum(self.counts.values()) + self.left) / self.objects if self.objects else 0.0
        counted = Counted.of(is_whole=is_whole, is_estimate=self.is_estimate)
        return KeySpace(kind_of_keys(self.counts), examples, self.distinct, is_complete, mean, counted)

    def stored(self, container: str, path: Path, is_whole: bool) -> StoredValues:
        return StoredValues(container, path, True, tuple(self.ordered()), is_whole and self.left == 0, self.distinct)


Place = tuple[Path, Node, int]
"""A path, what stood there, and how many objects could have held it."""


@dataclass(slots=True)
class _Reader:
    """Read the lattice from the outside in, with maps collapsed."""

    judge: MapJudge
    maps: dict[Path, _Keys] = field(default_factory=dict[Path, _Keys])

    def places(self, root: Node) -> Iterator[Place]:
        """Yield every place below the root; the root itself when it is a map or folded."""
        if root.entries is not None or root.folded:
            yield Path(), root, root.objects
        waiting: list[tuple[Path, Node, int, tuple[Node, ...]]] = [(Path(), root, 0, ())]
        while waiting:
            path, node, levels, above = waiting.pop()
            if self._repeats(path, node, above):
                node.folded = True
                continue
            for step, child, parents, below in self._below(path, node, levels):
                if child.documents > node.documents:
                    child.documents = node.documents
                here = path / step
                yield here, child, parents
                if child.objects or child.arrays:
                    waiting.append((here, child, below, (*above, node)))

    def _below(self, path: Path, node: Node, levels: int) -> Iterator[tuple[Step, Node, int, int]]:
        if node.items is not None:
            yield ITEMS, node.items, node.slots, 0
        entries, names = self._entries(path, node, levels)
        if entries is not None:
            yield ENTRIES, entries, entries.count(), max(0, levels - 1)
        for key, child in names.items():
            yield key, child, node.objects, levels_keyed(key)

    def _entries(self, path: Path, node: Node, levels: int) -> tuple[Node | None, Mapping[str, Node]]:
        """Give the shared child of a map's keys, and the names that stand beside them or instead."""
        if not path.steps:
            if node.entries is not None:
                self._note(path, node, dict(node.keys or {}))
            return node.entries, node.fields
        if node.entries is None and not self.judge.is_map(node, levels):
            return None, node.fields
        keys = dict(node.keys or {})
        for key, child in node.fields.items():
            keys[key] = keys.get(key, 0) + child.count()
        self._note(path, node, keys)
        parts = (*node.fields.values(), *((node.entries,) if node.entries else ()))
        return (parts[0] if len(parts) == 1 else merged(parts)), {}

    def _note(self, path: Path, node: Node, keys: Table) -> None:
        spill = node.spills.get(MapKeys) if node.spills else None
        distinct = spill.distinct(keys) if spill else len(keys)
        is_estimate = spill is not None and spill.is_estimate
        self.maps[path] = _Keys(keys, spill.count if spill else 0, distinct, node.objects, is_estimate)

    def _repeats(self, path: Path, node: Node, above: tuple[Node, ...]) -> bool:
        """Tell whether a recursive shape begins another turn here, with nothing below that was not seen before."""
        steps = path.steps
        if sum(step in node.fields for step in steps) >= REPEATS:
            shape = self.judge.shape(node)
            if sum(shape <= self.judge.shape(other) for other in above if other.fields) >= REPEATS:
                return True
        for period in range(1, LONGEST_PERIOD + 1):
            run = period * REPEATS
            if len(steps) < run:
                return False
            if all(steps[-1 - i] == steps[-1 - i - period] for i in range(run - period)):
                return self.judge.shape(node) <= self.judge.shape(above[-period])
        return False


class _Seen:
    """The scalar values at one place, in a stable order."""

    __slots__ = ("counted", "counts", "dates", "distinct", "is_complete", "numbers", "odd")

    def __init__(self, node: Node, is_whole: bool) -> None:
        ranked: list[tuple[int, str, Any, str, object]] = []
        self.distinct = 0
        edges: dict[bool, list[Any]] = {False: [], True: []}
        odd: Counter[str] = Counter()
        spills = {slot: spill for slot, spill in (node.spills or {}).items() if slot is not MapKeys}
        for of in dict.fromkeys((*node.tables, *spills)):
            table, spill = node.tables.get(of, {}), spills.get(of)
            if of is type(None):
                continue
            self.distinct += spill.distinct(table) if spill else len(table)
            for value, count in table.items():
                edge = comparable(of, value)
                if edge is not None:
                    edges[isinstance(edge, dt.datetime)].append(edge)
                elif name := name_of_odd(of, value):
                    odd[name] += count
                shown = Decimal128(value) if of is DecimalText else value
                ranked.append((-count, kind_of(of, value).value, edge or 0.0, str(value), shown))
            if spill and spill.low is not None:
                edges[isinstance(spill.low, dt.datetime)] += [spill.low, spill.high]
            odd.update(spill.odd if spill else {})
        ranked.sort(key=lambda r: r[:4])
        self.is_complete = is_whole and not spills and not node.others
        # an unhashable kind is only counted: how many of it differ is unknown
        estimated = any(spill.is_estimate for spill in spills.values())
        self.counted = Counted.of(is_whole=is_whole and not node.others, is_estimate=estimated)
        self.counts = tuple((shown, -count) for count, _, _, _, shown in ranked)
        self.numbers = NumberRange(min(edges[False]), max(edges[False])) if edges[False] else None
        self.dates = DateRange(min(edges[True]), max(edges[True])) if edges[True] else None
        self.odd = tuple(sorted(odd.items()))

    def examples(self) -> tuple[object, ...]:
        most = MOST_EXAMPLES if len(self.counts) <= MOST_EXAMPLES else FEW_EXAMPLES
        return tuple(value for value, _ in self.counts[:most])


def _field(path: Path, node: Node, parents: int, seen: _Seen, keys: KeySpace | None) -> Field:
    count, examples = node.count(), seen.examples()
    return Field(
        path=path,
        kinds=tuple(sorted(node.kinds().items(), key=lambda k: (-k[1], k[0].value))),
        count=count,
        parents=max(parents, count),
        documents=node.documents,
        lengths=_lengths(node),
        numbers=seen.numbers,
        dates=seen.dates,
        keys=keys,
        values=examples,
        distinct=seen.distinct,
        complete=seen.is_complete and len(examples) == len(seen.counts),
        folded=node.folded,
        counted=seen.counted,
        non_finite=seen.odd,
    )


def _lengths(node: Node) -> Lengths | None:
    if not node.arrays:
        return None
    return Lengths(node.shortest, max(node.shortest, node.longest), node.slots / node.arrays)
