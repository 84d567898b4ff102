"""Expressions over objects: maps and records taken apart, put together, and their fields by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES
from groundql.core.program import ReadStatus
from groundql.languages.flow.context import Context
from groundql.languages.flow.evaluation import evaluate, handles, positional
from groundql.languages.flow.literals import as_list, as_object, constant, is_constant
from groundql.languages.flow.reading import read_below
from groundql.languages.flow.shapes import with_field, without_field
from groundql.languages.flow.types import (
    ANY,
    NULL,
    Stored,
    Type,
    array_of,
    computed,
    entry_of,
    merge,
    of_kinds,
    optional,
    present,
    record,
    unite,
    unite_all,
)


@handles("$objectToArray")
def to_entries(ctx: Context, name: str, spec: Any) -> Type:
    """Take an object apart into its keys and values."""
    args = positional(spec)
    source = evaluate(ctx, args[0]) if args else ANY
    if source.is_unknown:
        return unite(array_of(record({"k": computed({Kind.STRING}), "v": ANY})), NULL)
    if source.entries is None and source.fields and not source.is_open:
        _note_record(ctx, source)
    array = array_of(record({"k": key_type(source), "v": entry_of(source)}))
    return unite(array, NULL) if source.kinds & NOTHING else array


def key_type(source: Type) -> Type:
    """Return the type of a map's keys: they are stored, at the map."""
    entry = source.entries.stored if source.entries is not None else None
    if entry is None or source.fields or entry.path.last is not ENTRIES:
        return computed({Kind.STRING})
    return Type(frozenset({Kind.STRING}), sources=(Stored(entry.container, entry.path.parent, is_key=True),))


def _note_record(ctx: Context, source: Type) -> None:
    """Mark the read of a record with fixed fields that is taken apart as if it were a map."""
    paths = {s.path for s in source.sources if isinstance(s, Stored) and s.path.steps}
    for index in range(len(ctx.ledger.reads) - 1, -1, -1):
        read = ctx.ledger.reads[index]
        if read.status is ReadStatus.STORED and read.path in paths:
            note = f"a record with the fields {', '.join(list(source.fields)[:6])}"
            ctx.ledger.reads[index] = replace(read, status=ReadStatus.FIELD_AS_MAP, note=note)
            return


@handles("$arrayToObject")
def from_entries(ctx: Context, name: str, spec: Any) -> Type:
    """Put an object together from keys and values."""
    args = positional(spec)
    source = evaluate(ctx, args[0]) if args else ANY
    item = source.item
    value = item.fields.get("v", ANY) if Kind.OBJECT in item.kinds else ANY
    names = _constant_keys(args[0]) if args else None
    if names is not None and Kind.OBJECT in item.kinds:
        return record(dict.fromkeys(names, value))
    return Type(frozenset({Kind.OBJECT, Kind.NULL}), entries=present(value), sources=computed({Kind.OBJECT}).sources)


def _constant_keys(spec: Any) -> list[str] | None:
    """Return the keys of a written-out list of entries, or None where a key is computed."""
    items = as_list(spec)
    keys = [(as_object(item) or {}).get("k") for item in items] if items else [None]
    return [k for k in keys if isinstance(k, str)] if all(isinstance(k, str) and k[:1] != "$" for k in keys) else None


@handles("$mergeObjects")
def merge_objects(ctx: Context, name: str, spec: Any) -> Type:
    """Lay objects one over the other."""
    items = as_list(spec)
    parts = [evaluate(ctx.at(f"[{i}]"), part) for i, part in enumerate(items)] if items else [evaluate(ctx, spec)]
    if len(parts) == 1 and Kind.ARRAY in parts[0].kinds and not parts[0].is_unknown:
        return merge([of_kinds(parts[0], parts[0].kinds | {Kind.NULL}), optional(parts[0].item)])
    return merge(parts)


@handles("$getField")
def get_field(ctx: Context, name: str, spec: Any) -> Type:
    """Read a field whose name may hold dots and dollars, or is computed."""
    parts = as_object(spec)
    has_parts = parts is not None and "field" in parts
    field = parts["field"] if parts is not None and has_parts else spec
    given = parts.get("input") if parts is not None and has_parts else None
    source = evaluate(ctx.at("input"), given) if given is not None else ctx.current
    if not is_constant(field) or not isinstance(constant(field), str):
        evaluate(ctx.at("field"), field)
        return entry_of(source)
    step = str(constant(field))
    name = "$$CURRENT" if given is None else given if isinstance(given, str) else ""
    return read_below(ctx, f"{name}.{step}" if name else step, source, (step,), name)[0]


@handles("$setField", "$unsetField")
def set_field(ctx: Context, name: str, spec: Any) -> Type:
    """Write or remove one field."""
    parts = as_object(spec) or {}
    source = evaluate(ctx.at("input"), parts.get("input"))
    value = evaluate(ctx.at("value"), parts.get("value")) if name == "$setField" else NULL
    field = constant(parts.get("field")) if is_constant(parts.get("field")) else None
    base = of_kinds(source, frozenset({Kind.OBJECT})) if not source.is_unknown else source
    if not isinstance(field, str):
        return ANY
    if name == "$unsetField" or value.kinds <= {Kind.MISSING}:
        return without_field(base, (field,))
    return unite_all([with_field(base, (field,), value)])
