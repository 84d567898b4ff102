"""Types of the documents that reach a stage: kinds, fields, items and entries, each remembering where it is stored."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from groundql.core.catalog import Catalog, Container, Field, KeySpace
from groundql.core.kind import EVERY, NOTHING, Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path


@dataclass(frozen=True, slots=True)
class Stored:
    """A place in a container that a value was copied from. `is_key`: the keys of the map at `path`, not the map."""

    container: str
    path: Path
    is_key: bool = False


Source: TypeAlias = Stored | int
"""Where a value comes from: a stored place, or the number of the computation that made it."""

_tokens: Final = itertools.count()
_NO_FIELDS: Final[Mapping[str, Type]] = MappingProxyType({})
_OBJECT: Final = frozenset({Kind.OBJECT})
_ARRAY: Final = frozenset({Kind.ARRAY})


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """What a value can be.

    Shape: `fields` of objects here; `is_open` when objects may hold more than is listed; `entries` the type of a
    map's entries and `keys` what is known of its keys; `items` of arrays, None where nothing is known of them.
    `sources` say where the value itself comes from, more than one after a union; `named` are the map keys that were
    named on the way to it. `high` bounds the length of arrays where that was witnessed.
    """

    kinds: frozenset[Kind] = EVERY
    fields: Mapping[str, Type] = field(default_factory=lambda: _NO_FIELDS)
    is_open: bool = False
    items: Type | None = None
    entries: Type | None = None
    keys: KeySpace | None = None
    sources: tuple[Source, ...] = ()
    named: tuple[str, ...] = ()
    high: int | None = None

    @property
    def stored(self) -> Stored | None:
        """The one stored place this is a plain copy of, or None."""
        source = self.sources[0] if len(self.sources) == 1 else None
        return source if isinstance(source, Stored) else None

    @property
    def item(self) -> Type:
        """The type of the items of arrays here."""
        return self.items if self.items is not None else ANY

    @property
    def is_unknown(self) -> bool:
        """Whether nothing at all is known."""
        return self.is_open and Kind.OTHER in self.kinds and not self.fields


ANY: Final = Type(is_open=True)
ABSENT: Final = Type(frozenset({Kind.MISSING}))
NULL: Final = Type(frozenset({Kind.NULL}))
EMPTY: Final = Type(_ARRAY, items=Type(frozenset()))
BLANK: Final = Type(_OBJECT)
"""An empty array and an empty object: a union with others keeps theirs, and where they are stored."""
OPEN: Final = Type(_OBJECT, is_open=True)
"""A document of which nothing is known."""


def computed(kinds: Iterable[Kind], items: Type | None = None) -> Type:
    """Make the type of a value that a program computes."""
    return Type(frozenset(kinds), items=items, is_open=Kind.OBJECT in kinds, sources=(next(_tokens),))


def record(fields: Mapping[str, Type], is_open: bool = False) -> Type:
    """Make the type of an object with known fields."""
    return Type(_OBJECT, fields, is_open=is_open, sources=(next(_tokens),))


def array_of(item: Type) -> Type:
    """Make the type of an array that was built from values of a type."""
    return Type(_ARRAY, items=present(item), sources=(next(_tokens),))


def gathered(item: Type, also: frozenset[Kind] = frozenset()) -> Type:
    """Make the type of what a path through an array yields: an array that still knows the place it was read from."""
    return Type(_ARRAY | also, items=present(item), sources=item.sources, named=item.named)


def of_kinds(type_: Type, kinds: frozenset[Kind]) -> Type:
    """Return the same type with other kinds."""
    return type_ if kinds == type_.kinds else replace(type_, kinds=kinds)


def present(type_: Type) -> Type:
    """Return the type without `missing`."""
    return of_kinds(type_, type_.kinds - {Kind.MISSING})


def optional(type_: Type) -> Type:
    """Return the type with `missing`."""
    return of_kinds(type_, type_.kinds | {Kind.MISSING})


def nullable(type_: Type) -> Type:
    """Return the type with null in place of `missing`."""
    return of_kinds(type_, (type_.kinds - {Kind.MISSING}) | {Kind.NULL} if type_.kinds & NOTHING else type_.kinds)


def unite(first: Type, second: Type) -> Type:
    """Return the type of a value that is of either type."""
    return _unite(first, second, {})


_Memo: TypeAlias = dict[tuple[int, int], Type]
"""Unions already made: types share their parts, and a program can share them without end."""


def _unite(first: Type, second: Type, memo: _Memo) -> Type:
    if first is second:
        return first
    known = memo.get((id(first), id(second)))
    if known is None:
        known = memo[id(first), id(second)] = _unite_anew(first, second, memo)
    return known


def _unite_anew(first: Type, second: Type, memo: _Memo) -> Type:
    if first.is_unknown or second.is_unknown:
        return ANY
    if first.kinds <= NOTHING:
        return of_kinds(second, second.kinds | first.kinds)
    if second.kinds <= NOTHING:
        return of_kinds(first, first.kinds | second.kinds)
    return Type(
        first.kinds | second.kinds,
        _unite_fields(first, second, memo),
        first.is_open or second.is_open,
        _unite_parts(first.items, second.items, memo),
        _unite_parts(first.entries, second.entries, memo),
        _unite_keys(first, second),
        tuple(dict.fromkeys(first.sources + second.sources))[:8],
        first.named if first.named == second.named else (),
    )


def unite_all(types: Iterable[Type]) -> Type:
    """Return the type of a value that is of any of the types; the type of nothing for none."""
    found: Type | None = None
    for type_ in types:
        found = type_ if found is None else unite(found, type_)
    return found if found is not None else ABSENT


def _unite_parts(first: Type | None, second: Type | None, memo: _Memo) -> Type | None:
    return _unite(first, second, memo) if first is not None and second is not None else first or second


def _unite_fields(first: Type, second: Type, memo: _Memo) -> Mapping[str, Type]:
    if Kind.OBJECT not in first.kinds or first.fields is second.fields:
        return second.fields
    if Kind.OBJECT not in second.kinds:
        return first.fields
    merged: dict[str, Type] = {}
    for name, type_ in first.fields.items():
        other = second.fields.get(name)
        merged[name] = _unite(type_, other, memo) if other is not None else optional(type_)
    merged.update((name, optional(t)) for name, t in second.fields.items() if name not in merged)
    return merged


def _unite_keys(first: Type, second: Type) -> KeySpace | None:
    """Keep what is known of the keys only where no other map or record was joined to it."""
    if first.entries is not None and second.entries is not None:
        return first.keys if first.keys == second.keys else None
    return first.keys if first.entries is not None else second.keys


def merge(types: Iterable[Type]) -> Type:
    """Return the type of objects merged one over the other, as `$mergeObjects` does."""
    fields: dict[str, Type] = {}
    maps: list[Type] = []
    is_open = False
    for type_ in types:
        if type_.is_open:
            fields = dict.fromkeys(fields, ANY)
        for name, part in type_.fields.items():
            below = fields.get(name)
            part = optional(part) if type_.kinds & NOTHING else part
            fields[name] = unite(present(part), below) if below is not None and Kind.MISSING in part.kinds else part
        maps.extend([type_] if type_.entries is not None else [])
        is_open = is_open or type_.is_open
    entries = unite_all(t.entries for t in maps if t.entries is not None) if maps else None
    keys = maps[0].keys if len(maps) == 1 else None
    return Type(_OBJECT, fields, is_open, entries=entries, keys=keys, sources=(next(_tokens),))


def entry_of(type_: Type) -> Type:
    """Return the type of the values that objects here hold, whatever their names."""
    if type_.is_open:
        return ANY
    parts = [present(t) for t in type_.fields.values()]
    return unite_all([*parts, type_.entries] if type_.entries is not None else parts or [ANY])


def walk(type_: Type, name: str = "", depth: int = 12) -> Iterator[tuple[str, Type]]:
    """Yield every name that can be read below a type, in path text, parents first."""
    for step, part in type_.fields.items():
        text = str(Path((step,)))
        inner = f"{name}{text}" if text.startswith("[") or not name else f"{name}.{text}"
        yield from _walk_part(inner, part, depth)
    if type_.entries is not None:
        yield from _walk_part(f"{name}.<*>" if name else "<*>", type_.entries, depth)
    if type_.items is not None and depth:
        yield from walk(type_.items, f"{name}[]", depth - 1)


def _walk_part(name: str, part: Type, depth: int) -> Iterator[tuple[str, Type]]:
    yield name, part
    if depth:
        yield from walk(part, name, depth - 1)


_built: Final[dict[int, tuple[weakref.ref[Container], Type]]] = {}


def container_type(catalog: Catalog, name: str) -> Type:
    """Return the type of a container's documents; unknown where it was not witnessed."""
    container = catalog.get(name)
    if container is None or not container.is_known or not container.fields:
        return OPEN
    known = _built.get(id(container))
    if known is not None and known[0]() is container:
        return known[1]
    type_ = present(_build(container, container.get(ROOT), ROOT))
    key = id(container)
    _built[key] = (weakref.ref(container, lambda _: _built.pop(key, None) and None), type_)
    return type_


def _build(container: Container, at: Field | None, path: Path) -> Type:
    parts = {c.path.last: _build(container, c, c.path) for c in container.children(path)}
    items, entries = parts.pop(ITEMS, None), parts.pop(ENTRIES, None)
    kinds = at.kind_set if at is not None and path.steps else _OBJECT
    # An object without fields is empty in every document, or its fields have not come up yet.
    is_bare = not (parts or entries or container.is_exhaustive)
    return Type(
        kinds,
        {step: part for step, part in parts.items() if isinstance(step, str)},
        Kind.OBJECT in kinds and (is_bare or (at is not None and at.folded)),
        present(items) if items is not None else None,
        present(entries) if entries is not None else None,
        at.keys if at is not None else None,
        (Stored(container.name, path),),
        high=at.lengths.high if at is not None and at.lengths is not None else None,
    )
