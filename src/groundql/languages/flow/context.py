"""Where an expression or condition stands: the documents there, the variables in scope, and the place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from groundql.core.catalog import Catalog
from groundql.core.program import Comparison, Place, Read, ReadStatus
from groundql.languages.flow.ledger import Ledger, read_of
from groundql.languages.flow.nearest import below, find_beside, find_copies, find_keys, find_nearest, names_below
from groundql.languages.flow.paths import Found, Lost, Manner, follow
from groundql.languages.flow.types import ANY, Type

if TYPE_CHECKING:
    from groundql.core.path import Path

MAX_DEPTH = 100


@dataclass(slots=True)
class Pipeline:
    """The pipeline that is being followed.

    `history` holds what each stage so far received, `documents` what reaches the current one; `later` tells whether
    the current stage or a later one computes a name. In the pipeline of a join, `outer` is the type of the outer
    documents, `lets` what its variables read there, `pairs` the fields compared with these.
    """

    catalog: Catalog
    ledger: Ledger
    container: str
    stage: int = -1
    operator: str = ""
    history: tuple[Type, ...] = ()
    later: Callable[[str, str], str] = lambda _name, _target: ""
    documents: Type = ANY
    outer: Type | None = None
    lets: Mapping[str, Read | None] = field(default_factory=dict[str, "Read | None"])
    pairs: list[tuple[Read | None, Read]] = field(default_factory=list[tuple["Read | None", Read]])


@dataclass(frozen=True, slots=True)
class Context:
    """A place in a program.

    `current` is what field paths start from; `is_filter` whether a comparison here decides which rows go on;
    `is_quiet` keeps reads that resolve to nothing to itself, where an unknown operator gives names another meaning;
    `target` names the field that is being computed.
    """

    pipeline: Pipeline
    current: Type
    variables: Mapping[str, Type] = field(default_factory=dict[str, Type])
    pointer: str = ""
    role: str = "expr"
    is_filter: bool = False
    is_quiet: bool = False
    target: str = ""
    depth: int = 0

    @property
    def ledger(self) -> Ledger:
        """Where things are noted."""
        return self.pipeline.ledger

    @property
    def place(self) -> Place:
        """This place as findings name it."""
        return Place(max(self.pipeline.stage, 0), self.pipeline.operator, self.pointer)

    def at(self, step: str) -> Context:
        """Go one step down."""
        pointer = f"{self.pointer}.{step}" if self.pointer and not step.startswith("[") else self.pointer + step
        return Context(
            self.pipeline, self.current, self.variables, pointer, self.role, self.is_filter, self.is_quiet,
            self.target, self.depth + 1,
        )  # fmt: skip

    def of_role(self, role: str) -> Context:
        """Return the same place with reads of another role."""
        return self if role == self.role else replace(self, role=role)

    def filtering(self, is_filter: bool = True) -> Context:
        """Return the same place where comparisons decide, or do not."""
        return self if is_filter == self.is_filter else replace(self, is_filter=is_filter)

    def quiet(self) -> Context:
        """Return the same place with unresolved reads kept silent."""
        return self if self.is_quiet else replace(self, is_quiet=True)

    def binding(self, variables: Mapping[str, Type]) -> Context:
        """Return the same place with more variables."""
        return replace(self, variables={**self.variables, **variables})

    def over(self, current: Type) -> Context:
        """Return the same place with other documents."""
        return replace(self, current=current)


def read_field(ctx: Context, name: str, manner: Manner = Manner.EXPRESSION, text: str = "") -> tuple[Type, Read]:
    """Note the read of a dotted name in the current documents; return its type and the read."""
    return _read(ctx, text or name, ctx.current, tuple(name.split(".")), manner, "")


def read_variable(ctx: Context, text: str, start: Type, steps: tuple[str, ...]) -> tuple[Type, Read]:
    """Note the read of a variable, or of a name below it."""
    return _read(ctx, text, start, steps, Manner.EXPRESSION, text.split(".", 1)[0])


def _read(
    ctx: Context, text: str, start: Type, steps: tuple[str, ...], manner: Manner, variable: str
) -> tuple[Type, Read]:
    found = follow(start, steps, manner)
    if isinstance(found, Lost):
        read = _lost_read(ctx, text, start, steps, manner, variable, found)
        if not ctx.is_quiet:
            ctx.ledger.reads.append(read)
        return ANY, read
    read = _found_read(ctx, text, found)
    ctx.ledger.reads.append(read)
    if ctx.is_filter:
        ctx.ledger.apply_tests(found.type)
    for key in found.keys:
        ctx.ledger.comparisons.append(Comparison(read.place, "=key", read, key, ctx.role != "exists"))
    if found.keys and found.type.named != found.keys:
        return replace(found.type, named=found.type.named + found.keys), read
    return found.type, read


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


def _lost_read(
    ctx: Context, text: str, start: Type, steps: tuple[str, ...], manner: Manner, variable: str, lost: Lost
) -> Read:
    dotted = ".".join(steps)
    earlier = None if variable not in ("", "$$ROOT", "$$CURRENT") else _earlier(ctx, start, steps, manner)
    if earlier is not None:
        names = names_below(start)
        nearest = find_copies(names, earlier) or find_nearest(names, dotted)
        return _unresolved(ctx, text, ReadStatus.DROPPED, nearest, "an earlier stage had it")
    later = ctx.pipeline.later(dotted, ctx.target) if not variable and start is ctx.pipeline.documents else ""
    if later:
        return _unresolved(ctx, text, ReadStatus.EARLY, (), later)
    names = names_below(start)
    if lost.map is not None:
        return _key_read(ctx, text, steps, lost, names)
    note = _absent_note(ctx, dotted, lost, steps, manner)
    prefix = variable if variable.startswith("$$") else ""
    nearest = tuple(dict.fromkeys(find_nearest(names, dotted) + find_beside(names, steps[: lost.depth])))
    return _unresolved(ctx, text, ReadStatus.ABSENT, below(prefix, nearest[:3]), note)


def _unresolved(ctx: Context, text: str, status: ReadStatus, nearest: tuple[str, ...], note: str) -> Read:
    return Read(ctx.place, text, status, role=ctx.role, nearest=nearest, note=note)


def _key_read(ctx: Context, text: str, steps: tuple[str, ...], lost: Lost, names: list[tuple[str, Type]]) -> Read:
    key, map_ = steps[lost.depth], lost.map or lost.at
    stored = map_.stored
    path: Path | None = None
    container = ""
    entry = map_.entries.stored if map_.entries is not None else None
    if stored is not None and entry is not None:
        container, path = stored.container, entry.path
    keys = find_keys(map_.keys, key)
    inner = [name for name in find_nearest(names, ".".join(steps)) if "<*>" in name]
    nearest = tuple(dict.fromkeys([*inner, *keys] if map_.entries and key in map_.entries.fields else [*keys, *inner]))
    note = f"{key} is not among the keys of the map {stored.path if stored else '.'.join(steps[: lost.depth])}"
    return Read(
        ctx.place, text, ReadStatus.KEY_AS_FIELD, container, path, role=ctx.role, key=key, keys=(key,),
        nearest=nearest[:3], note=note,
    )  # fmt: skip


def _earlier(ctx: Context, start: Type, steps: tuple[str, ...], manner: Manner) -> Type | None:
    """Return what the name led to before an earlier stage removed it, latest stage first."""
    if start is not ctx.pipeline.documents:
        return None
    for before in reversed(ctx.pipeline.history):
        found = follow(before, steps, manner)
        if isinstance(found, Found):
            return found.type
    return None


def _absent_note(ctx: Context, dotted: str, lost: Lost, steps: tuple[str, ...], manner: Manner) -> str:
    outer = ctx.pipeline.outer
    if outer is not None and isinstance(follow(outer, steps, manner), Found):
        return "a field of the outer documents: pass it in with let"
    if ctx.role == "exists":
        return "only asked whether it is there"
    if lost.depth < len(steps) and steps[lost.depth].isdigit() and manner is Manner.EXPRESSION:
        return "a number in a path is a field name here, not an index: use $arrayElemAt"
    stored = lost.at.stored
    container = ctx.pipeline.catalog.get(stored.container) if stored is not None else None
    if container is None or container.is_exhaustive:
        return ""
    total = container.info.documents
    return f"not seen in {container.sampling.documents}" + (f" of {total} documents" if total else " documents")
