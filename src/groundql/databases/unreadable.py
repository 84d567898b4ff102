"""A document of a data file that cannot be read, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Document: TypeAlias = Mapping[str, Any]

Found: TypeAlias = Iterator[tuple[str, str, Document]]
"""Place within the file, collection (empty: the file's own), document."""


class Wrong(Exception):
    """Report a document that cannot be read, and where."""

    def __init__(self, place: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place, self.hint = place, hint


class Twice(ValueError):
    """Report a key that occurs twice in one object: readers disagree on which value counts, so neither is taken."""


def shown(key: str) -> str:
    """Return a key as a message shows it, bounded."""
    return repr(key if len(key) <= 60 else key[:59] + "…")


def twice(place: str, key: str) -> Wrong:
    """Return the error for a key that occurs twice. `key` is as `shown` gives it."""
    message = f"the key {key} occurs twice in one object, and only one of the values would be kept"
    return Wrong(place, message, "rename or remove one of the two, or put both values into one array")
