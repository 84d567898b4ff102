"""Follow a dotted name through a document type, as expressions, matches and projections each do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from groundql.core.kind import Kind
from groundql.languages.flow.types import ABSENT, ANY, EMPTY, Type, gathered, of_kinds, optional, unite, unite_all


class Manner(Enum):
    """How a dotted name is followed.

    An expression gathers what it finds in an array into a new array, arrays within arrays too; a match looks at each
    value found, takes a number as an index too, and looks into no array within an array; a projection keeps names
    wherever they stand.
    """

    EXPRESSION = 1
    MATCH = 2
    PROJECTION = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What a dotted name leads to.

    `keys` are the map keys named on the way, `is_guess` says that a part was taken on trust (nothing is known of the
    fields there), `is_unseen` that a named key is not among the keys seen, `crosses` that an array lay on the way.
    """

    type: Type
    keys: tuple[str, ...] = ()
    is_guess: bool = False
    is_unseen: bool = False
    crosses: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """Where a dotted name leads nowhere: the type at which step `depth` failed, and the map that lacks the key."""

    at: Type
    depth: int
    map: Type | None = None


def follow(type_: Type, steps: tuple[str, ...], manner: Manner) -> Found | Lost:
    """Return what a dotted name leads to in a type."""
    return _follow(type_, steps, 0, manner, True)


def _follow(type_: Type, steps: tuple[str, ...], at: int, manner: Manner, enters: bool) -> Found | Lost:
    if at == len(steps):
        return Found(type_)
    if type_.is_unknown:
        return Found(ANY, is_guess=True)
    tries = [_in_object(type_, steps, at, manner)] if Kind.OBJECT in type_.kinds else []
    if enters and Kind.ARRAY in type_.kinds:
        tries.extend(_in_array(type_, steps, at, manner))
    found = [t for t in tries if isinstance(t, Found)]
    if found:
        return _join([*found, *(_nothing(manner) for t in tries if isinstance(t, Lost))])
    lost = [t for t in tries if isinstance(t, Lost)]
    return max(lost, key=lambda t: (t.depth, t.map is not None)) if lost else Lost(type_, at)


def _nothing(manner: Manner) -> Found:
    """Return what is found where a value is of another form than the one that has the name."""
    return Found(unite(ABSENT, EMPTY) if manner is Manner.EXPRESSION else ABSENT)


def _join(found: list[Found]) -> Found:
    if len(found) == 1:
        return found[0]
    return Found(
        unite_all(f.type for f in found),
        next((f.keys for f in found if f.keys), ()),
        any(f.is_guess for f in found),
        any(f.is_unseen for f in found),
        any(f.crosses for f in found),
    )


def _in_object(type_: Type, steps: tuple[str, ...], at: int, manner: Manner) -> Found | Lost:
    name = steps[at]
    part = type_.fields.get(name)
    if part is not None:
        named = part.named if at + 1 < len(steps) else ()
        return _deeper(type_, _follow(part, steps, at + 1, manner, True), named)
    if type_.entries is not None:
        if lacks_key(type_, name):
            return Lost(type_, at, type_)
        inner = _deeper(type_, _follow(type_.entries, steps, at + 1, manner, True), (name,))
        is_unseen = type_.keys is not None and name not in type_.keys.examples
        if isinstance(inner, Found):
            return Found(optional(inner.type), inner.keys, inner.is_guess, inner.is_unseen or is_unseen, inner.crosses)
        return inner
    return Found(ANY, is_guess=True) if type_.is_open else Lost(type_, at)


def lacks_key(map_: Type, name: str) -> bool:
    """Tell whether a name is surely no key of a map: not among all its keys, or plainly a field of its entries."""
    if map_.keys is None or name in map_.keys.examples:
        return False
    return map_.keys.complete or (map_.entries is not None and name in map_.entries.fields)


def _in_array(type_: Type, steps: tuple[str, ...], at: int, manner: Manner) -> list[Found | Lost]:
    inner = _follow(type_.item, steps, at, manner, manner is not Manner.MATCH)
    if isinstance(inner, Found):
        value = inner.type if manner is not Manner.EXPRESSION else _gathered(type_.item, inner.type)
        also = type_.kinds - {Kind.ARRAY, Kind.OBJECT}
        inner = Found(optional(value) if also else value, inner.keys, inner.is_guess, inner.is_unseen, True)
    if manner is not Manner.MATCH or not steps[at].isdigit():
        return [inner]
    return [_deeper(type_, _follow(type_.item, steps, at + 1, manner, True), ()), inner]


def _gathered(item: Type, found: Type) -> Type:
    """Return the array of what was found in items; an array among them gives one too, be it empty."""
    nests = Kind.ARRAY in item.kinds and Kind.ARRAY not in found.kinds
    return gathered(unite(found, EMPTY) if nests else found)


def _deeper(type_: Type, inner: Found | Lost, keys: tuple[str, ...]) -> Found | Lost:
    """Note on the way back that objects here may be something else, and the key that was named."""
    if isinstance(inner, Lost):
        return inner
    kinds = inner.type.kinds if type_.kinds <= {Kind.OBJECT, Kind.ARRAY} else inner.type.kinds | {Kind.MISSING}
    if not keys and kinds == inner.type.kinds:
        return inner
    return Found(of_kinds(inner.type, kinds), keys + inner.keys, inner.is_guess, inner.is_unseen, inner.crosses)
