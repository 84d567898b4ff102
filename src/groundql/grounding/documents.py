"""Documents as bounded prompt text, for solvers that are shown data instead of a card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from groundql.grounding.fence import fence_text, fence_value

CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a document is shown. Units: characters of a string, items of a list, keys of an object, levels."""

    string_chars: int = 160
    list_items: int = 8
    object_keys: int = 24
    depth: int = 5


def document_text(document: Any, bounds: Bounds, depth: int = 0) -> str:
    """Write a document on one line; what a bound leaves out is marked by an ellipsis."""
    if isinstance(document, Mapping):
        return _object_text(cast("Mapping[str, Any]", document), bounds, depth)
    if isinstance(document, list | tuple):
        return _list_text(cast("Sequence[Any]", document), bounds, depth)
    return fence_value(document, bounds.string_chars)


def _object_text(found: Mapping[str, Any], bounds: Bounds, depth: int) -> str:
    if depth >= bounds.depth and found:
        return "{" + CUT + "}"
    shown = [
        f"{fence_text(key, bounds.string_chars)}: {document_text(value, bounds, depth + 1)}"
        for key, value in list(found.items())[: bounds.object_keys]
    ]
    return "{" + ", ".join([*shown, *([CUT] if len(found) > len(shown) else [])]) + "}"


def _list_text(found: Sequence[Any], bounds: Bounds, depth: int) -> str:
    if depth >= bounds.depth and found:
        return f"[{CUT}]"
    shown = [document_text(item, bounds, depth + 1) for item in found[: bounds.list_items]]
    return "[" + ", ".join([*shown, *([CUT] if len(found) > len(shown) else [])]) + "]"


def distinct_strings(documents: Iterable[Mapping[str, Any]], most: int, depth: int = 2) -> Mapping[str, Sequence[str]]:
    """Collect up to `most` different strings of each field at most `depth` names deep, in order of appearance."""
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        for name, text in _strings(document, "", depth):
            seen = found.setdefault(name, {})
            if len(seen) < most:
                seen[text] = None
    return {name: list(texts) for name, texts in sorted(found.items())}


def _strings(found: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        name = f"{prefix}{key}"
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping) and depth > 1:
            yield from _strings(cast("Mapping[str, Any]", value), f"{name}.", depth - 1)
