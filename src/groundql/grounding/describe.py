"""One path, described for a person: everything witnessed there, how to read it, and what lies right below."""

from __future__ import annotations

from collections.abc import Iterator

from rapidfuzz import fuzz, process

from groundql.core.catalog import Container, Counted, Field
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path, is_plain
from groundql.grounding.fence import fence_name, fence_text
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
    known = {str(f.path): f.path for f in container.fields if f.path != ROOT}
    near = process.extract(str(path), list(known), scorer=fuzz.WRatio, limit=3)
    shown = ", ".join(path_text(known[text]) for text, _, _ in near)
    sure = "does not exist" if container.is_exhaustive else "was not seen in the documents read"
    hint = f"; nearest: {shown}" if shown else ""
    return f"{container_head(container)}\n  {fence_text(str(path), 80)} {sure}{hint}"
