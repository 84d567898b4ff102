"""Document types with fields added, removed and kept, as the reshaping stages do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from groundql.core.kind import Kind
from groundql.languages.flow.types import ABSENT, ANY, Type, of_kinds, optional, present, record, unite


def with_field(type_: Type, steps: tuple[str, ...], value: Type) -> Type:
    """Return a type in which a dotted name holds a value; arrays on the way are entered item by item."""
    if not steps:
        return value
    if type_.is_unknown:
        return Type(frozenset({Kind.OBJECT}), {steps[0]: with_field(ANY, steps[1:], value)}, is_open=True)
    items = type_.items
    if Kind.ARRAY in type_.kinds and items is not None:
        items = with_field(items, steps, value)
    if type_.kinds == _ARRAY:
        return replace(type_, items=items)
    fields, others = type_.fields, type_.kinds - _NESTING
    below = fields.get(steps[0], type_.entries)
    if below is None:
        below = ANY if type_.is_open else record({})
    if others:
        # What is no object gives way to a new one, which holds nothing else.
        fields = {name: optional(part) for name, part in fields.items()}
    fields = {**fields, steps[0]: with_field(below, steps[1:], value)}
    kept = type_.kinds if Kind.MISSING in value.kinds else type_.kinds & _NESTING
    return replace(type_, kinds=kept | {Kind.OBJECT}, fields=fields, items=items)


_ARRAY: Final = frozenset({Kind.ARRAY})
_NESTING: Final = frozenset({Kind.ARRAY, Kind.OBJECT})


def without_field(type_: Type, steps: tuple[str, ...]) -> Type:
    """Return a type without a dotted name; arrays on the way are entered."""
    items = type_.items
    if Kind.ARRAY in type_.kinds and items is not None:
        items = without_field(items, steps)
    fields = type_.fields
    below = fields.get(steps[0])
    if below is not None:
        rest = {name: part for name, part in fields.items() if name != steps[0]}
        fields = rest if len(steps) == 1 else {**fields, steps[0]: without_field(below, steps[1:])}
    return replace(type_, fields=fields, items=items)


def with_part(type_: Type, steps: tuple[str, ...], value: Type) -> Type:
    """Return a type in which what a dotted name leads to is another type, and nothing else changes."""
    if not steps:
        return value
    if type_.is_unknown:
        return type_
    below = type_.fields.get(steps[0])
    if below is None:
        return with_field(type_, steps, value) if type_.is_open or type_.entries is not None else type_
    return replace(type_, fields={**type_.fields, steps[0]: with_part(below, steps[1:], value)})


Tree = Mapping[str, "Type | Tree | None"]
"""A projection: names to keep (None), to compute (a type), or to look into."""


def keep_fields(type_: Type, tree: Tree) -> Type:
    """Return what an inclusion keeps: the kept fields in their stored order, then the computed ones."""
    names = [*(n for n in type_.fields if n in tree), *(n for n in tree if n not in type_.fields)]
    fields = {name: _kept(type_, name, tree[name]) for name in names}
    items = present(keep_fields(type_.items, tree)) if type_.items is not None else None
    kinds = type_.kinds & _NESTING
    if type_.kinds - _NESTING:
        # What is no object is left out, unless a field is to be computed in it.
        kinds = kinds | {Kind.OBJECT if _computes(tree) else Kind.MISSING}
        fields = {name: optional(part) for name, part in fields.items()}
    return replace(type_, kinds=kinds, fields=fields, is_open=False, entries=None, keys=None, items=items)


def _computes(tree: Tree) -> bool:
    return any(isinstance(node, Type) or (node is not None and _computes(node)) for node in tree.values())


def _kept(type_: Type, name: str, node: Type | Tree | None) -> Type:
    if isinstance(node, Type):
        return node
    below = type_.fields.get(name)
    if below is None and type_.entries is not None:
        below = optional(type_.entries)
    if node is None:
        # A kept name that is not there was reported where it is named; later reads of it are let pass.
        return below if below is not None else ANY
    return keep_fields(below if below is not None else ANY if type_.is_open else ABSENT, node)


def drop_fields(type_: Type, names: Iterable[tuple[str, ...]]) -> Type:
    """Return what an exclusion leaves."""
    for steps in names:
        type_ = without_field(type_, steps)
    return type_


def unwound(type_: Type, keeps_empty: bool) -> Type:
    """Return what stands in place of an array after it is unwound."""
    if type_.is_unknown:
        return ANY
    item = present(type_.item) if Kind.ARRAY in type_.kinds else None
    if item is not None and type_.named:
        item = replace(item, named=type_.named)
    rest = type_.kinds - {Kind.ARRAY, Kind.MISSING, Kind.NULL}
    if item is None or (rest and not item.is_unknown):
        scalar = replace(type_, kinds=rest or frozenset({Kind.NULL}), items=None)
        item = scalar if item is None else unite(item, scalar)
    return of_kinds(item, item.kinds | (type_.kinds & {Kind.NULL}) | {Kind.MISSING}) if keeps_empty else item
