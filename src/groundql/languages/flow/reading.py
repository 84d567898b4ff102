"""Read a name: resolve it where it stands, and note what it turned out to be."""

from __future__ import annotations

from dataclasses import replace

from groundql.core.program import Comparison, Read, ReadStatus
from groundql.languages.flow.context import Context
from groundql.languages.flow.ledger import read_of
from groundql.languages.flow.lost import Reference, lost_read
from groundql.languages.flow.paths import Found, Lost, Manner, follow
from groundql.languages.flow.types import ANY, Type


def read_field(ctx: Context, name: str, manner: Manner = Manner.EXPRESSION, text: str = "") -> tuple[Type, Read]:
    """Note the read of a dotted name in the current documents; return its type and the read."""
    shown = text or (f"{ctx.prefix}.{name}" if ctx.prefix else name)
    prefix = f"{ctx.prefix}[]" if ctx.prefix else ""
    return _read(ctx, Reference(shown, ctx.current, tuple(name.split(".")), manner, prefix))


def read_below(ctx: Context, text: str, start: Type, steps: tuple[str, ...], prefix: str = "") -> tuple[Type, Read]:
    """Note the read of a value, or of a name below it; `prefix` is what the value itself is called."""
    return _read(ctx, Reference(text, start, steps, Manner.EXPRESSION, prefix))


def _read(ctx: Context, reference: Reference) -> tuple[Type, Read]:
    found = follow(reference.start, reference.steps, reference.manner)
    if isinstance(found, Lost):
        read = lost_read(ctx, reference, found)
        if not ctx.is_quiet:
            ctx.ledger.reads.append(read)
        return ANY, read
    read = _found_read(ctx, reference.text, found)
    ctx.ledger.reads.append(read)
    if ctx.is_filter:
        ctx.ledger.apply_tests(found.type)
    for key in found.keys:
        ctx.ledger.comparisons.append(Comparison(read.place, "=key", read, key, ctx.role != "unset"))
    return replace(found.type, named=found.type.named + found.keys) if found.keys else found.type, read


def _found_read(ctx: Context, text: str, found: Found) -> Read:
    type_ = found.type
    if found.is_guess:
        return Read(ctx.place, text, ReadStatus.UNKNOWN, role=ctx.role, note=_unknown_note(ctx))
    status = ReadStatus.STORED if type_.stored is not None else ReadStatus.COMPUTED
    read = read_of(ctx.place, text, type_, status, ctx.role, type_.named + found.keys)
    return replace(read, note="key not among those seen") if found.is_unseen else read


def _unknown_note(ctx: Context) -> str:
    name = ctx.pipeline.container
    container = ctx.pipeline.catalog.get(name)
    if container is None:
        return f"nothing is known of {name}" if name else ""
    return f"{name} could not be read: {container.error}" if container.error else ""
