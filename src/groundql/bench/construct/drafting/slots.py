"""What a catalog offers to templates: fields by what can be asked of them, and how people would call them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from groundql.core.catalog import Container, Field
from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.core.path import ENTRIES, ITEMS, Path, is_plain
from groundql.grounding.words import split_words

_FEW: Final = 40
"""Different values a field may have to be grouped by: a result that a person reads."""
_NAMES: Final = ("name", "title", "label")
_TEXT: Final = frozenset({Kind.STRING})
_LIST: Final = frozenset({Kind.ARRAY})


@dataclass(frozen=True)
class Slots:
    """The fields of one container by the part they can play."""

    container: Container

    @cached_property
    def plain(self) -> tuple[Field, ...]:
        """Fields that a dotted name reaches without arrays or maps on the way."""
        return tuple(f for f in self.container.fields if f.path.steps and all(_is_simple(s) for s in f.path.steps))

    @cached_property
    def categories(self) -> tuple[Field, ...]:
        """Texts with few different values, all known, that documents share."""
        texts = (f for f in self.plain if f.kind_set - NOTHING == _TEXT and f.complete)
        return tuple(f for f in texts if 2 <= len(_texts(f)) <= _FEW and f.distinct < f.count)

    @cached_property
    def numbers(self) -> tuple[Field, ...]:
        """Numbers that vary."""
        return tuple(
            f for f in self.plain if f.kind_set - NOTHING and f.kind_set - NOTHING <= NUMBERS and f.distinct > _FEW // 4
        )

    @cached_property
    def dates(self) -> tuple[Field, ...]:
        """Dates."""
        return tuple(f for f in self.plain if f.kind_set - NOTHING == frozenset({Kind.DATE}) and f.dates)

    @cached_property
    def sparse(self) -> tuple[Field, ...]:
        """Fields that a good part of the documents lack."""
        return tuple(f for f in self.plain if len(f.path) == 1 and 0.02 <= f.present_share <= 0.98)

    @cached_property
    def mixed(self) -> tuple[Field, ...]:
        """Fields that hold an array in some documents and one value in others."""
        return tuple(f for f in self.plain if Kind.ARRAY in f.kind_set and f.kind_set - NOTHING - {Kind.ARRAY})

    @cached_property
    def maps(self) -> tuple[Field, ...]:
        """Maps with more than one key."""
        return tuple(f for f in self.plain if f.keys is not None and f.keys.distinct > 1 and Kind.OBJECT in f.kind_set)

    @cached_property
    def lists(self) -> tuple[Field, ...]:
        """Arrays of texts and nothing else."""
        return tuple(f for f in self.plain if f.kind_set - NOTHING == _LIST and self._items_are_texts(f))

    def _items_are_texts(self, field: Field) -> bool:
        items = self.container.get(field.path / ITEMS)
        return items is not None and items.kind_set - NOTHING == _TEXT

    def entry_leaves(self, field: Field, kinds: frozenset[Kind]) -> Iterator[Field]:
        """The scalars of some kinds that a map's entries are, or hold under a plain name."""
        base = field.path / ENTRIES
        for f in (self.container.get(base), *self.container.children(base)):
            held = f.kind_set - NOTHING if f else frozenset[Kind]()
            if f and held and held <= kinds and (f.path == base or _is_simple(f.path.last)):
                yield f

    def item_leaves(self) -> Iterator[tuple[Field, Field]]:
        """Arrays of records, each with a text of few values in them."""
        for f in self.plain:
            items = self.container.get(f.path / ITEMS)
            if items is None or Kind.OBJECT not in items.kind_set or f.kind_set - NOTHING != _LIST:
                continue
            for leaf in self.container.children(items.path):
                if leaf.kind_set - NOTHING == _TEXT and _is_simple(leaf.path.last) and leaf.distinct <= _FEW:
                    yield f, leaf

    @cached_property
    def shown(self) -> Field:
        """The field by which people tell documents apart: a name where it is unique, else `_id`."""
        total = self.container.sampling.documents
        for f in self.plain:
            if len(f.path) == 1 and f.path.name in _NAMES and f.distinct == total and f.kind_set == _TEXT:
                return f
        return next(f for f in self.plain if f.path.name == "_id")

    @property
    def noun(self) -> str:
        """How its documents are called, in the plural."""
        return " ".join(split_words(self.container.name))


def _is_simple(step: object) -> bool:
    return isinstance(step, str) and is_plain(step) and not step.startswith("$") and not step.isdigit()


def _texts(field: Field) -> list[str]:
    return [v for v in field.values if isinstance(v, str) and v]


def texts_of(field: Field) -> list[str]:
    """The texts that are stored at a field, most frequent first, those that a sentence can quote."""
    return [v for v in _texts(field) if len(v) <= 40 and v == v.strip() and v.isprintable()]


def human(path: Path) -> str:
    """Call a path by its words: `languages.<*>.population_percent` is the population percent."""
    names = [s for s in path.steps if isinstance(s, str)]
    last = " ".join(split_words(names[-1].lstrip("_"))) if names else "value"
    outer = " ".join(split_words(names[-2])) if len(names) > 1 else ""
    return f"{last} of {outer}" if outer else last


def with_article(words: str) -> str:
    """Put a or an before words."""
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


def column(path: Path) -> str:
    """Name an output column after a path."""
    return "_".join(split_words(path.name.lstrip("_"))) or "value"


def quoted(text: str) -> str:
    """Quote a stored text within a sentence."""
    return f"'{text}'" if not re.search(r"'", text) else f'"{text}"'
