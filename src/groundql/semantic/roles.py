"""What a container's paths could be in a question: a category, a number, a name, a list, a map, a thing often missing.

Told from the data alone: kinds, how many different values, how often present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from groundql.core.catalog import Container, Field
from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.grounding.profile import StoredValues
from groundql.grounding.words import STOP_WORDS, split_words
from groundql.semantic.ref import Ref, field_at

MOST_CATEGORIES: Final = 60
FEWEST_NUMBERS: Final = 6
LONGEST_VALUE: Final = 28
_SAID: Final = frozenset(" .,:-_/+&()")
_NAMES: Final = ("name", "title", "label")
_WRAPPERS: Final = frozenset({"value", "v", "text", "amount"})
_NUMBERED: Final = frozenset({"id", "year", "code", "number", "index", "version", "zip", "lat", "lon", "latitude"})


@dataclass(frozen=True, slots=True)
class Role:
    """One path in one container, with stored values that can be named in a question; the most frequent first."""

    container: Container
    ref: Ref
    values: tuple[object, ...] = ()

    @property
    def label(self) -> str:
        """The path in words: its last field name, or the one before where that is a mere wrapper or too short."""
        return label_of(self.ref)


def label_of(ref: Ref) -> str:
    """Put a reference in words."""
    names = [" ".join(split_words(name)) for name in ref.path.fields]
    names = [name for name in names if name] or ["id"]
    if len(names) > 1 and names[-1] in _WRAPPERS:
        names.pop()
    if ref.is_key and " by " in names[-1]:
        return names[-1].rpartition(" by ")[2]
    if len(names) > 1 and len(names[-1]) <= 2:
        return f"{names[-2]} {names[-1]}"
    return names[-1]


class Roles:
    """The roles that the paths of one container can take, the fittest first."""

    def __init__(
        self,
        container: Container,
        values: Sequence[StoredValues] = (),
        worth: Callable[[Path], float] = lambda path: 0.0,
    ) -> None:
        self.container = container
        self._stored: Mapping[tuple[Path, bool], StoredValues] = {
            (v.path, v.is_key): v for v in values if v.container == container.name
        }
        self._worth = worth

    def categories(self) -> Iterator[Role]:
        """Texts with few different values, outside arrays and maps."""
        return self._picked(lambda f: not f.path.hops and self._is_category(f, Kind.STRING))

    def truths(self) -> Iterator[Role]:
        """Fields that are true or false, outside arrays and maps."""
        return self._picked(lambda f: not f.path.hops and self._is_category(f, Kind.BOOL))

    def dates(self) -> Iterator[Role]:
        """Dates outside arrays and maps."""
        return self._picked(lambda f: not f.path.hops and _holds(f, Kind.DATE) and f.dates is not None)

    def numbers(self) -> Iterator[Role]:
        """Quantities outside arrays and maps."""
        return self._picked(lambda f: not f.path.hops and _is_quantity(f))

    def items(self) -> Iterator[Role]:
        """Texts that are items of an array, or lie in them, and come more than once."""
        return self._picked(lambda f: f.path.hops[:1] == (ITEMS,) and len(f.path.hops) == 1 and self._repeats(f))

    def maps(self) -> Iterator[Role]:
        """Maps that hang on no other map or array, as references to their keys."""
        for role in self._picked(lambda f: f.keys is not None and not f.path.hops and len(f.keys.examples) > 1):
            yield Role(self.container, Ref(role.ref.path / ENTRIES, is_key=True), role.values)

    def sparse(self) -> Iterator[Role]:
        """Fields that some documents lack, and others have."""
        return self._picked(lambda f: not f.path.hops and len(f.path) == 1 and 0.02 < f.present_share < 0.97)

    def name(self) -> Role:
        """What tells documents apart for a person: a text named so, else the text with most values, else the id."""
        texts = [f for f in self.container.fields if not f.path.hops and _holds(f, Kind.STRING) and f.path.steps]
        named = [f for n in _NAMES for f in texts if _last_words(f.path)[-1:] == (n,)]
        wrapped = [f for n in _NAMES for f in texts if n in _last_words(f.path, 2)]
        many = sorted(texts, key=lambda f: (-f.distinct, len(f.path)))
        best = next(iter([*named, *wrapped, *many]), None)
        return self._role(best) if best else Role(self.container, Ref(Path.of("_id")))

    def _picked(self, fits: Callable[[Field], bool]) -> Iterator[Role]:
        found = [self._role(f) for f in self.container.fields if f.path.steps and fits(f) and _is_telling(f.path)]
        return iter(sorted(found, key=self._order))

    def _order(self, role: Role) -> tuple[float, bool, int, float]:
        found = field_at(self.container, role.ref.path)
        share = found.present_share if found else 0.0
        return -self._worth(role.ref.path), not role.values, len(role.ref.path), -round(share, 1)

    def _role(self, found: Field) -> Role:
        return Role(self.container, Ref(found.path), self._values(found))

    def _values(self, found: Field) -> tuple[object, ...]:
        stored = self._stored.get((found.path, found.keys is not None))
        seen = tuple(v for v, _ in stored.counts) if stored else found.keys.examples if found.keys else found.values
        return tuple(v for v in seen if is_sayable(v))

    def _is_category(self, found: Field, kind: Kind) -> bool:
        few = 0 < found.distinct <= MOST_CATEGORIES and found.distinct * 2 <= max(found.count, 4)
        return few and _holds(found, kind) and bool(self._values(found))

    def _repeats(self, found: Field) -> bool:
        return _holds(found, Kind.STRING) and 1 < found.distinct < found.count and bool(self._values(found))


def is_sayable(value: object) -> bool:
    """Tell whether a stored value can stand in a question as it is."""
    if isinstance(value, bool | int | float):
        return True
    return (
        isinstance(value, str)
        and 0 < len(value) <= LONGEST_VALUE
        and value.isprintable()
        and value == value.strip()
        and any(c.isalnum() for c in value)
        and all(c.isalnum() or c in _SAID for c in value)
    )


def _holds(found: Field, kind: Kind) -> bool:
    return found.share(kind) > 0.9 and not found.kind_set - NOTHING - {kind}


def _is_quantity(found: Field) -> bool:
    kinds = found.kind_set - NOTHING
    words = _last_words(found.path)
    return (
        bool(kinds)
        and kinds <= NUMBERS
        and found.distinct >= FEWEST_NUMBERS
        and not (set(words) & _NUMBERED or words[-1:] == ("ids",))
    )


def _is_telling(path: Path) -> bool:
    """Tell whether a path's words mean something by themselves."""
    return any(len(word) > 2 and word not in STOP_WORDS for word in split_words(label_of(Ref(path))))


def _last_words(path: Path, names: int = 1) -> tuple[str, ...]:
    return tuple(word for name in path.fields[-names:] for word in split_words(name))
