"""Say of a name that leads nowhere why it does, and what was probably meant."""

from __future__ import annotations

from dataclasses import dataclass

from groundql.core.path import Path
from groundql.core.program import Read, ReadStatus
from groundql.languages.flow.context import Context
from groundql.languages.flow.nearest import (
    below,
    few_names,
    find_beside,
    find_copies,
    find_keys,
    find_nearest,
    names_below,
    with_keys,
)
from groundql.languages.flow.paths import Found, Lost, Manner, follow
from groundql.languages.flow.types import Type


@dataclass(frozen=True, slots=True)
class Reference:
    """A name as written, the value that it starts from, and its steps.

    `prefix` is what the value itself is called in the program, such as `$$item`; empty for the documents.
    """

    text: str
    start: Type
    steps: tuple[str, ...]
    manner: Manner
    prefix: str = ""

    @property
    def dotted(self) -> str:
        """The steps as one name."""
        return ".".join(self.steps)


def lost_read(ctx: Context, reference: Reference, lost: Lost) -> Read:
    """Write the read of a name that leads nowhere."""
    if reference.start is ctx.pipeline.documents:
        earlier = _earlier(ctx, reference)
        if earlier is not None:
            return _dropped_read(ctx, reference, earlier)
        later = ctx.pipeline.later(reference.dotted, ctx.target, lost.depth)
        if later:
            return Read(ctx.place, reference.text, ReadStatus.EARLY, role=ctx.role, note=later)
    return _key_read(ctx, reference, lost, lost.map) if lost.map is not None else _absent_read(ctx, reference, lost)


def _earlier(ctx: Context, reference: Reference) -> Type | None:
    """Return what the name led to before an earlier stage removed it, latest stage first."""
    for before in reversed(ctx.pipeline.history):
        found = follow(before, reference.steps, reference.manner)
        if isinstance(found, Found):
            return found.type
    return None


def _dropped_read(ctx: Context, reference: Reference, earlier: Type) -> Read:
    names = names_below(reference.start)
    nearest = find_copies(names, earlier) or find_nearest(names, reference.dotted) or few_names(reference.start)
    note = "an earlier stage had it"
    return Read(ctx.place, reference.text, ReadStatus.DROPPED, role=ctx.role, nearest=nearest, note=note)


def _absent_read(ctx: Context, reference: Reference, lost: Lost) -> Read:
    names = names_below(reference.start)
    beside = find_beside(names, reference.steps[: lost.depth])
    found = (with_keys(name, reference.steps[: lost.depth]) for name in find_nearest(names, reference.dotted) + beside)
    nearest = tuple(dict.fromkeys(found))[:3] or few_names(reference.start)
    stored = lost.at.stored
    return Read(
        ctx.place,
        reference.text,
        ReadStatus.ABSENT,
        stored.container if stored is not None else "",
        Path(stored.path.steps + reference.steps[lost.depth :]) if stored is not None else None,
        role=ctx.role,
        nearest=below(_shown(reference.prefix), nearest),
        note=_absent_note(ctx, reference, lost),
    )


def _shown(prefix: str) -> str:
    return "" if prefix in ("$$ROOT", "$$CURRENT") else prefix


def _absent_note(ctx: Context, reference: Reference, lost: Lost) -> str:
    outer, steps = ctx.pipeline.outer, reference.steps
    if outer is not None and isinstance(follow(outer, steps, reference.manner), Found):
        return "a field of the outer documents: pass it in with let"
    if ctx.role == "exists":
        return "only asked whether it is there"
    if ctx.role == "unset":
        return "leaving out what is not there changes nothing"
    if lost.depth < len(steps) and steps[lost.depth].isdigit() and reference.manner is Manner.EXPRESSION:
        return "a number in a path is a field name here, not an index: use $arrayElemAt"
    stored = lost.at.stored
    container = ctx.pipeline.catalog.get(stored.container) if stored is not None else None
    if container is None or container.is_exhaustive:
        return ""
    total = container.info.documents
    return f"not seen in {container.sampling.documents}" + (f" of {total} documents" if total else " documents")


def _key_read(ctx: Context, reference: Reference, lost: Lost, map_: Type) -> Read:
    key, stored = reference.steps[lost.depth], map_.stored
    entry = map_.entries.stored if map_.entries is not None else None
    is_stored = stored is not None and entry is not None
    where = stored.path if stored is not None else ".".join(reference.steps[: lost.depth])
    return Read(
        ctx.place,
        reference.text,
        ReadStatus.KEY_AS_FIELD,
        stored.container if is_stored and stored is not None else "",
        entry.path if is_stored and entry is not None else None,
        role=ctx.role,
        key=key,
        keys=(key,),
        nearest=_nearest_keys(reference, map_, key),
        note=f"{key} is not among the keys of the map {where}",
    )


def _nearest_keys(reference: Reference, map_: Type, key: str) -> tuple[str, ...]:
    """Return the closest keys and the closest names below the map; the names first where the entries hold the name."""
    keys = find_keys(map_.keys, key) or (map_.keys.examples[:3] if map_.keys is not None else ())
    inner = tuple(name for name in find_nearest(names_below(reference.start), reference.dotted) if "<*>" in name)
    is_entry_field = map_.entries is not None and key in map_.entries.fields
    return tuple(dict.fromkeys(inner + keys if is_entry_field else keys + inner))[:4]
