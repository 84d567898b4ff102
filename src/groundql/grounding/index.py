"""The value index: where a word of a question lies in the stored data, and in what exact form.

Memory is bounded by bytes over all values, whatever the data: the longest and rarest go first, and the paths they came
from are marked incomplete, so that "not in the index" is never taken for "not in the database".
"""

from __future__ import annotations

import bisect
import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from bson import Decimal128, Int64
from rapidfuzz.distance import OSA

from groundql.core.path import Path
from groundql.grounding.ejson import from_ejson, to_ejson
from groundql.grounding.words import fold, stem_text

if TYPE_CHECKING:
    from groundql.grounding.profile import StoredValues

K = TypeVar("K")
V = TypeVar("V")

DEFAULT_BYTES: Final = 48_000_000
LONGEST_VALUE: Final = 200
"""Longer strings are prose, not names; a path that has them counts as incomplete."""
_ENTRY_BYTES: Final = 220
"""What an entry costs beside its text: the tuple, the dictionary slot, the folded copy (measured on CPython 3.11)."""
_SHORTEST_FUZZY: Final = 5
_PUNCTUATION: Final = re.compile(r"[^\w ]+")


@dataclass(frozen=True, slots=True)
class IndexedPath:
    """A path whose values are in the index. `complete` says that all its distinct scalar values are."""

    container: str
    path: Path
    is_key: bool
    complete: bool
    distinct: int


@dataclass(frozen=True, slots=True)
class Location:
    """One stored value at one path. `distance` counts edits after folding; `partial`: the term is a part of it."""

    at: IndexedPath
    stored: object
    count: int
    distance: int = 0
    partial: bool = False

    @property
    def key(self) -> tuple[str, Path, bool]:
        """Where it lies, whatever the value."""
        return self.at.container, self.at.path, self.at.is_key


_Entry: TypeAlias = tuple[int, object, int]
"""Number of the path, stored value, count."""


@dataclass(frozen=True)
class ValueIndex:
    """Look up words among the stored values.

    Shape: `entries` hold (number of the path in `paths`, stored value, count), ordered by path and frequency.
    """

    paths: tuple[IndexedPath, ...] = ()
    entries: tuple[_Entry, ...] = ()
    dropped: int = 0

    @classmethod
    def build(cls, values: Iterable[StoredValues], budget_bytes: int = DEFAULT_BYTES) -> ValueIndex:
        """Build an index from the stored values of a profile, within a budget of memory."""
        paths: list[IndexedPath] = []
        entries: list[_Entry] = []
        for found in sorted(values, key=lambda v: (v.container, v.path, v.is_key)):
            kept = [(value, count) for value, count in found.counts if _is_indexable(value)]
            whole = found.complete and len(kept) == len(found.counts)
            entries.extend((len(paths), value, count) for value, count in kept)
            paths.append(IndexedPath(found.container, found.path, found.is_key, whole, found.distinct))
        return _bounded(paths, entries, budget_bytes)

    def find(self, text: str) -> tuple[Location, ...]:
        """Return where a text is stored: the same word first, else its plural or singular.

        The same word means equal after folding case, blanks, underscores and hyphens; exact forms come first.
        """
        folded = fold(text)
        if not folded:
            return ()
        hits = [self._location(i) for i in self._folded.get(folded, ())]
        if not hits:
            hits = [self._location(i, folded) for i in self._stemmed.get(stem_text(folded), ())]
        return tuple(sorted(hits, key=lambda h: (h.stored != text, h.distance, -h.count)))

    def find_number(self, number: float) -> tuple[Location, ...]:
        """Return where a number is stored, as a number, as text, or as a key."""
        shown = f"{number:.0f}" if number == int(number) else str(number)
        ids = (*self._numbers.get(float(number), ()), *self._folded.get(shown, ()))
        return tuple(self._location(i) for i in dict.fromkeys(ids))

    def find_near(self, text: str, most: int = 5) -> tuple[Location, ...]:
        """Return stored texts a few letters away, nearest first; only for words of five letters or more."""
        folded = fold(text)
        size = len(folded)
        if size < _SHORTEST_FUZZY or not folded[0].isalpha():
            return ()
        allowed = 1 if size < 8 else 2
        near: list[tuple[int, str]] = []
        for other in range(size - allowed, size + allowed + 1):
            for candidate in self._by_shape.get((folded[0], other), ()):
                distance = OSA.distance(folded, candidate, score_cutoff=allowed)
                if 0 < distance <= allowed:
                    near.append((distance, candidate))
        near.sort()
        found = (self._location(i, folded) for _, word in near[:most] for i in self._folded[word])
        return tuple(found)

    def find_part(self, text: str, most: int = 8) -> tuple[Location, ...]:
        """Return stored texts that hold a text as whole words ("Chandler" in "Charles Chandler"), shortest first."""
        wanted = _PUNCTUATION.sub(" ", fold(text)).strip()
        if len(wanted) < 3:
            return ()
        hay, starts, words = self._haystack
        found: list[str] = []
        at = hay.find(f" {wanted} ")
        while at >= 0 and len(found) < 200:
            found.append(words[bisect.bisect_right(starts, at) - 1])
            at = hay.find(f" {wanted} ", at + 1)
        shortest = sorted(dict.fromkeys(found), key=lambda w: (len(w), w))[:most]
        return tuple(self._location(i, fold(text), partial=True) for word in shortest for i in self._folded[word])

    def find_prefix(self, text: str, most: int = 5) -> tuple[Location, ...]:
        """Return stored texts that begin with a text, such as days of a month, in order."""
        folded = fold(text)
        words = self._sorted
        at = bisect.bisect_left(words, folded)
        found: list[Location] = []
        while at < len(words) and words[at].startswith(folded) and len(found) < most:
            found.extend(self._location(i, folded, partial=True) for i in self._folded[words[at]])
            at += 1
        return tuple(found)

    def at(self, container: str, path: Path, is_key: bool = False) -> IndexedPath | None:
        """Return what is known of a path's values, or None when the path is not indexed."""
        return self._by_place.get((container, path, is_key))

    def values_at(self, container: str, path: Path, is_key: bool = False) -> tuple[tuple[object, int], ...]:
        """Return the stored values of a path with their counts, most frequent first."""
        at = self._by_place.get((container, path, is_key))
        return tuple((v, n) for i, v, n in self.entries if self.paths[i] is at) if at else ()

    def to_data(self) -> dict[str, Any]:
        """Return JSON-ready data that `from_data` reads back to an equal index."""
        rows: list[list[Any]] = [[] for _ in self.paths]
        for i, value, count in self.entries:
            rows[i].append([to_ejson(value), count])
        return {
            "dropped": self.dropped,
            "paths": [
                [p.container, str(p.path), p.is_key, p.complete, p.distinct, values]
                for p, values in zip(self.paths, rows, strict=True)
            ],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ValueIndex:
        """Read what `to_data` wrote.

        Raises: KeyError, TypeError or ValueError on data of another form.
        """
        paths: list[IndexedPath] = []
        entries: list[_Entry] = []
        for container, path, is_key, complete, distinct, values in data["paths"]:
            entries.extend((len(paths), from_ejson(value), int(count)) for value, count in values)
            paths.append(IndexedPath(container, Path.parse(path), is_key, complete, distinct))
        return cls(tuple(paths), tuple(entries), int(data["dropped"]))

    def _location(self, number: int, folded: str = "", partial: bool = False) -> Location:
        path, value, count = self.entries[number]
        distance = OSA.distance(folded, fold(_text_of(value))) if folded else 0
        return Location(self.paths[path], value, count, distance, partial)

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, Path, bool], IndexedPath]:
        return {(p.container, p.path, p.is_key): p for p in self.paths}

    @cached_property
    def _folded(self) -> Mapping[str, tuple[int, ...]]:
        return _grouped((fold(_text_of(value)), i) for i, (_, value, _) in enumerate(self.entries))

    @cached_property
    def _stemmed(self) -> Mapping[str, tuple[int, ...]]:
        return _grouped((stem_text(word), i) for word, ids in self._folded.items() for i in ids)

    @cached_property
    def _numbers(self) -> Mapping[float, tuple[int, ...]]:
        return _grouped((n, i) for i, (_, value, _) in enumerate(self.entries) if (n := _number_of(value)) is not None)

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._folded)

    @cached_property
    def _by_shape(self) -> Mapping[tuple[str, int], tuple[str, ...]]:
        return _grouped(((word[0], len(word)), word) for word in self._folded if len(word) >= _SHORTEST_FUZZY - 2)

    @cached_property
    def _haystack(self) -> tuple[str, list[int], list[str]]:
        """All folded texts of several words in one string, for whole-word search at the speed of `str.find`."""
        words = [word for word in self._folded if _PUNCTUATION.sub(" ", word).strip().count(" ")]
        parts, starts, at = list[str](), list[int](), 0
        for word in words:
            starts.append(at)
            parts.append(f" {' '.join(_PUNCTUATION.sub(' ', word).split())} \n")
            at += len(parts[-1])
        return "".join(parts), starts, words


@dataclass
class _Room:
    """Bytes left while entries are taken in order of worth."""

    left: int
    dropped: set[int] = field(default_factory=set[int])


def _bounded(paths: list[IndexedPath], entries: list[_Entry], budget_bytes: int) -> ValueIndex:
    costs = [_cost(value) for _, value, _ in entries]
    if sum(costs) <= budget_bytes:
        return ValueIndex(tuple(paths), tuple(entries))
    room = _Room(budget_bytes)
    for i in sorted(range(len(entries)), key=lambda i: (costs[i] // 32, -entries[i][2], i)):
        room.left -= costs[i]
        if room.left < 0:
            room.dropped.add(i)
    cut = {entries[i][0] for i in room.dropped}
    marked = tuple(
        IndexedPath(p.container, p.path, p.is_key, False, p.distinct) if i in cut else p for i, p in enumerate(paths)
    )
    return ValueIndex(marked, tuple(e for i, e in enumerate(entries) if i not in room.dropped), len(room.dropped))


def _cost(value: object) -> int:
    return _ENTRY_BYTES + (2 * len(value) if isinstance(value, str) else 0)


def _is_indexable(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_VALUE
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | Int64 | Decimal128 | dt.datetime) or type(value).__name__ == "ObjectId"


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _number_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal128):
        number = value.to_decimal()
        return float(number) if number.is_finite() else None
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None


def _grouped(pairs: Iterable[tuple[K, V]]) -> Mapping[K, tuple[V, ...]]:
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}


def iter_incomplete(index: ValueIndex) -> Iterator[IndexedPath]:
    """Yield the paths whose values are not all in the index."""
    return (p for p in index.paths if not p.complete)
