"""Plain, bounded copies of programs: dicts, lists and storable values, whatever was handed in."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from bson import Binary, DatetimeMS, DBRef, Decimal128, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson import Code as JavaScript

from groundql.core.finding import Code

MAX_DEPTH: Final = 100
"""Nesting levels; the server itself refuses documents deeper than this in what it stores."""
MAX_NODES: Final = 200_000
"""Values, keys included, in one program."""
MAX_TEXT: Final = 16_000_000
"""Characters of text in one program; the server takes 16 MB a command."""

_LEAVES: Final = (
    type(None), bool, int, float, str, bytes, dt.datetime, uuid.UUID, re.Pattern, ObjectId, Decimal128, Regex, Binary,
    Timestamp, MinKey, MaxKey, DBRef, DatetimeMS, JavaScript,
)  # fmt: skip


class Refused(Exception):
    """Carry why a program may not run up to the one place that makes a finding of it."""

    def __init__(self, code: Code, message: str, at: str = "", nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.nearest = code, message, at, nearest


def copy_plain(items: Sequence[Any]) -> list[Any]:
    """Return a copy made of exact dicts, lists, strings and storable values.

    Raises: Refused for keys that are not text, values no database stores, and whatever is too deep or too large.
    """
    return _copy_list(items, _Copying())


def kind_name(value: Any) -> str:
    """Name a value's type."""
    return type(value).__name__


def shorten(value: Any) -> str:
    """Return a value's text, bounded."""
    try:
        text = repr(value)
    except ValueError:  # an integer too long to print
        text = kind_name(value)
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass(slots=True)
class _Copying:
    nodes: int = 0
    text: int = 0
    depth: int = 0

    def count(self, text: str = "") -> None:
        self.nodes += 1
        self.text += len(text)
        if self.nodes > MAX_NODES:
            raise Refused(Code.MALFORMED, f"the program holds more than {MAX_NODES:,} values")
        if self.text > MAX_TEXT:
            raise Refused(Code.MALFORMED, f"the program holds more than {MAX_TEXT:,} characters of text")


def _copy_any(value: Any, state: _Copying) -> Any:
    if isinstance(value, list | tuple):
        return _copy_list(cast("Sequence[Any]", value), state)
    # A DBRef, a regex and the like are leaves even where they offer items.
    if isinstance(value, Mapping):
        return _copy_mapping(cast("Mapping[Any, Any]", value), state)
    return _copy_leaf(value, state)


def _copy_list(items: Sequence[Any], state: _Copying) -> list[Any]:
    _go_down(state)
    copied: list[Any] = []
    for item in items:
        copied.append(_copy_any(item, state))
    state.depth -= 1
    return copied


def _copy_mapping(mapping: Mapping[Any, Any], state: _Copying) -> dict[str, Any]:
    _go_down(state)
    copied: dict[str, Any] = {}
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise Refused(Code.MALFORMED, f"a key must be text, not {kind_name(key)}: {shorten(key)}")
        plain = str.__str__(key)
        if "\0" in plain:
            raise Refused(Code.MALFORMED, f"the key {shorten(plain)} holds a NUL character")
        _require_text(plain)
        state.count(plain)
        copied[plain] = _copy_any(value, state)
    state.depth -= 1
    return copied


def _require_text(text: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise Refused(Code.MALFORMED, f"{shorten(text)} holds half of a surrogate pair, which is not text")


def _go_down(state: _Copying) -> None:
    state.count()
    state.depth += 1
    if state.depth > MAX_DEPTH:
        raise Refused(Code.MALFORMED, f"the program is nested more than {MAX_DEPTH} levels deep")


def _copy_leaf(value: Any, state: _Copying) -> Any:
    if not isinstance(value, _LEAVES):
        raise Refused(Code.MALFORMED, f"{kind_name(value)} is not a value that a database can store")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Refused(Code.MALFORMED, f"the number {shorten(value)} does not fit into 64 bits")
    if isinstance(value, str) and not isinstance(value, JavaScript):
        state.count(value)
        plain = str.__str__(value)
        _require_text(plain)
        return plain
    state.count()
    return cast("Any", value)
