"""The shape rule: arrays where arrays are, and objects, maps and scalars taken for what they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groundql.checking.values import MOST_SHOWN
from groundql.checking.wording import kind_names, shown
from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.finding import Code, Finding
from groundql.core.kind import EVERY, NOTHING, Kind
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.core.program import Claims, Comparison, Read, ReadStatus
from groundql.grounding.fence import fence_path

WHOLE_ARRAYS: Final = frozenset({"$elemMatch", "$size"})
LOOKED_INTO: Final = frozenset({"$eq", "$in", "$all", "$gt", "$gte", "$lt", "$lte", "$regex"})


def shape_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name what is unwound, measured or searched as an array and is none, and arrays within arrays."""
    return [
        *(f for r in claims.reads for f in _unwound(r, grounding.catalog.get(r.container))),
        *(f for c in claims.comparisons for f in _compared(c, grounding.catalog.get(c.read.container))),
    ]


def _is_never_array(read: Read) -> bool:
    held = read.kinds - NOTHING
    known = bool(held) and read.kinds != EVERY and Kind.OTHER not in held
    return read.status is ReadStatus.STORED and known and Kind.ARRAY not in held


def _unwound(read: Read, container: Container | None) -> Iterable[Finding]:
    if read.role != "unwind" or read.status is not ReadStatus.STORED:
        return
    if read.note.endswith("every document is dropped"):
        yield _finding(read, f"unwinding {read.text!r} leaves no row", read.note, ())
    elif _is_never_array(read):
        what = f"{read.text!r} is {_what(read, container)}: unwinding it changes nothing"
        yield _finding(read, what, _stored(read), _for_unwind(read, container))


def _what(read: Read, container: Container | None) -> str:
    if Kind.OBJECT not in read.kinds:
        return "no array"
    return "a map, not an array" if _is_map(read, container) else "an object, not an array"


def _is_map(read: Read, container: Container | None) -> bool:
    field = container.get(read.path) if container is not None and read.path else None
    return field is not None and field.is_map


def _for_unwind(read: Read, container: Container | None) -> tuple[str, ...]:
    field = read.text if read.text.startswith("$") else f"${read.text}"
    if Kind.OBJECT not in read.kinds:
        return ("leave it out",)
    below = _below(read, container)
    return (*(f"${name}" for name in below), f'{{"$objectToArray": "{field}"}}, then unwind that')[:MOST_SHOWN]


def _below(read: Read, container: Container | None, of: Kind | None = Kind.ARRAY) -> list[str]:
    """Fields one step below a record, as a program would name them: the arrays, or those of any kind."""
    if container is None or read.path is None or _is_map(read, container):
        return []
    children = [c for c in container.children(read.path) if c.path.last not in (ITEMS, ENTRIES)]
    name = read.text.lstrip("$")
    found = [c for c in children if of is None or of in c.kind_set]
    return [f"{name}.{fence_path(Path(c.path.steps[-1:]))}" for c in found[:MOST_SHOWN]]


def _compared(comparison: Comparison, container: Container | None) -> Iterable[Finding]:
    if comparison.operator in WHOLE_ARRAYS and _is_never_array(comparison.read):
        yield _not_an_array(comparison, container)
    elif comparison.operator in LOOKED_INTO and _is_nested_array(comparison):
        yield _nested_array(comparison)
    elif (
        comparison.operator == "$eq" and isinstance(comparison.value, list | tuple) and _is_never_array(comparison.read)
    ):
        yield _list_for_one(comparison)


def _not_an_array(comparison: Comparison, container: Container | None) -> Finding:
    read, operator = comparison.read, comparison.operator
    what = f"{operator} meets arrays alone, and {read.text!r} is {_what(read, container)}: no row is left"
    nearest: tuple[str, ...] = ()
    if operator == "$elemMatch" and Kind.OBJECT in read.kinds:
        by_key = (f'"{read.text}.KEY" for one key, or $objectToArray for all',)
        nearest = by_key if _is_map(read, container) else tuple(f'"{n}"' for n in _below(read, container, None))
    return _finding(read, what, _stored(read), nearest, comparison)


def _list_for_one(comparison: Comparison) -> Finding:
    read, value = comparison.read, shown(comparison.value)
    what = f"{read.text!r} is never an array, so it never equals the list {value}"
    return _finding(read, what, _stored(read), ('"$in" with the list, for any of its members',), comparison)


def _is_nested_array(comparison: Comparison) -> bool:
    """Whether a match compares the items of an array, and each of these is an array itself."""
    read = comparison.read
    is_item = read.role == "match" and read.path is not None and read.path.last is ITEMS
    return is_item and read.status is ReadStatus.STORED and read.kinds - NOTHING == frozenset({Kind.ARRAY})


def _nested_array(comparison: Comparison) -> Finding:
    read = comparison.read
    nearest = (f'$unwind "${read.text}" first', f'{{"{read.text}": {{"$elemMatch": {{"$elemMatch": ...}}}}}}')
    return Finding(
        Code.ARRAY_AS_SCALAR,
        f"{read.text!r} is an array of arrays: {comparison.operator} {shown(comparison.value)} meets no inner item",
        comparison.place,
        path=read.text,
        evidence="a match looks into one array, not into those within it",
        nearest=nearest,
        blocking=False,
    )


def _stored(read: Read) -> str:
    return f"stored as {kind_names(read.kinds - NOTHING)}"


def _finding(
    read: Read, message: str, evidence: str, nearest: tuple[str, ...], comparison: Comparison | None = None
) -> Finding:
    place = comparison.place if comparison is not None else read.place
    return Finding(Code.NOT_AN_ARRAY, message, place, read.text, evidence, nearest, blocking=False)
