"""How findings write a program's literals and the kinds of stored values: bounded, whatever a program holds."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Iterable
from typing import Final

from bson import Decimal128, Regex

from groundql.core.kind import Kind

LITERAL_CHARS: Final = 80
"""A longer literal is recognised by its beginning."""


def shown(value: object) -> str:
    """Write a program's literal as it stands there, cut where it is long."""
    if isinstance(value, dt.datetime):
        return f'ISODate("{value.isoformat()}")'
    if isinstance(value, Regex | re.Pattern):
        return _cut(f"/{value.pattern}/")  # pyright: ignore[reportUnknownMemberType]
    if isinstance(value, bool | int | float | decimal.Decimal | Decimal128):
        return _cut(str(value))
    # a long text is cut before it is written out: what is thrown away need not be escaped first
    return _cut(repr(value[: LITERAL_CHARS + 1] if isinstance(value, str) else value))


def kind_names(kinds: Iterable[Kind]) -> str:
    """List kinds by their names."""
    return ", ".join(sorted(k.value for k in kinds))


def _cut(text: str) -> str:
    return text if len(text) <= LITERAL_CHARS + 2 else f"{text[:LITERAL_CHARS]}…"
