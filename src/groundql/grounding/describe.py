"""One path, described for a person: everything witnessed there, how to read it, and what lies right below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rapidfuzz import fuzz, process, utils

from groundql.core.catalog import Container, Counted, Field
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path, is_plain
from groundql.errors import InputError
from groundql.grounding.fence import fence_key, fence_name, fence_text
from groundql.grounding.lines import (
    FULL,
    container_head,
    counted_text,
    field_notes,
    keys_text,
    kinds_text,
    lengths_text,
    path_text,
)
from groundql.grounding.outline import block_lines, outline_below
from groundql.grounding.resolve import Resolved, resolve

MOST_NEAREST: Final = 3


def field_text(container: Container, path: Path) -> str:
    """Return everything witnessed at a path and below it, or the nearest paths there are."""
    field = container.get(path)
    if field is None:
        return _absent(container, path)
    lines = [
        f"{fence_name(container.name)} {path_text(path) or '(the document)'}",
        *_facts(field),
        *_below(container, path),
    ]
    return "\n".join(lines)


def find_path(container: Container, text: str) -> tuple[Path, str]:
    """Return the one stored path that a written one means, and a line that says so where it is written otherwise.

    Raises: InputError naming the nearest paths when there is none, or the paths it can mean when there are several.
    """
    if not container.is_known:
        raise InputError(f"the paths of {container.name} are not known: {container.error}")
    written = Path.parse(text)
    found = resolve(container, written)
    if len(found) == 1:
        return found[0].path, "" if found[0].path == written else _resolved_text(container, written, found[0])
    near = [path_text(r.path) for r in found[:MOST_NEAREST]] or _nearest(container, written)
    several = f"{fence_text(text, 80)} can be {len(found)} paths of {container.name}"
    message = several if found else f"there is no path {text!r} in {container.name}"
    raise InputError(message, hint=f"did you mean: {', '.join(near)}" if near else "")


def _resolved_text(container: Container, written: Path, found: Resolved) -> str:
    maps = [Path(found.path.steps[:at]) for at, step in enumerate(found.path.steps) if step is ENTRIES]
    named = [
        f"{fence_key(key)} is {_known(container.get(place), key)} {path_text(place) or 'the documents'}"
        for key, place in zip(found.keys, maps[-len(found.keys) :] if found.keys else (), strict=True)
    ]
    return "; ".join((f"{path_text(written)} is stored as {path_text(found.path)}", *named))


def _known(field: Field | None, key: str) -> str:
    is_seen = field is not None and field.keys is not None and key in field.keys.examples
    return "a key of" if is_seen else "taken for a key of"


def _facts(field: Field) -> Iterator[str]:
    yield f"  kinds: {kinds_text(field)}"
    yield f"  seen {field.count:,} times in {field.documents:,} documents; {field.parents:,} objects could hold it"
    notes = field_notes(field, FULL)
    if notes:
        yield f"  {'; '.join(notes)}"
    if field.distinct:
        counted = Counted.EXACT if field.complete else field.counted
        yield f"  distinct values: {counted_text(field.distinct, counted, ' or more')}"
    if any(kind is Kind.ARRAY for kind, _ in field.kinds):
        yield f"  {lengths_text(field.lengths)}; items at {path_text(field.path / ITEMS)}"
    if field.keys:
        yield f"  {keys_text(field.keys, FULL)}; entries at {path_text(field.path / ENTRIES)}"
        yield from _how_to_read(field)


def _how_to_read(field: Field) -> Iterator[str]:
    """How to read a map that lies in no array, where its names need no quoting."""
    keys = field.keys.examples if field.keys else ()
    key = next((k for k in keys if is_plain(k) and not k.startswith("$") and fence_name(k) == k), None)
    dotted = field.path.dotted
    if key is not None and path_text(field.path) == dotted:
        yield f'  one entry: {dotted}.{key}; all: {{$objectToArray: "${dotted}"}}'


def _below(container: Container, path: Path) -> Iterator[str]:
    lines = list(block_lines(outline_below(container, path, FULL)))
    if lines:
        yield "  below it:"
        yield from (f"    {part}" for line in lines for part in line.split("\n"))


def _absent(container: Container, path: Path) -> str:
    near = _nearest(container, path)
    sure = "does not exist" if container.is_exhaustive else "was not seen in the documents read"
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"{container_head(container)}\n  {fence_text(str(path), 80)} {sure}{hint}"


def _nearest(container: Container, written: Path) -> list[str]:
    """Name the stored paths most like a written one: those below the part of it that is right go first."""
    right = next((r.path for end in range(len(written) - 1, 0, -1) for r in _reached(container, written, end)), ROOT)
    below = [f.path for f in container.fields if f.path.starts_with(right) and f.path != right]
    rest = written.steps[-1] if right.steps and written.steps else ""
    near = _most_like(str(rest), {path.name: path for path in reversed(below)}) if rest else []
    near += _most_like(str(written), {str(f.path): f.path for f in container.fields if f.path != ROOT})
    return list(dict.fromkeys(path_text(path) for path in near))[:MOST_NEAREST]


def _reached(container: Container, written: Path, end: int) -> tuple[Resolved, ...]:
    return resolve(container, Path(written.steps[:end]))


def _most_like(text: str, known: Mapping[str, Path]) -> list[Path]:
    found = process.extract(
        text, list(known), scorer=fuzz.WRatio, processor=utils.default_process, limit=MOST_NEAREST, score_cutoff=55
    )
    return [known[name] for name, _, _ in found]
