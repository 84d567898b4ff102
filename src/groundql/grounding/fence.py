"""The one fence that text from a database passes before it reaches a model or a terminal.

Stored text may carry line breaks, control characters, look-alike markup or whole instructions. Behind the fence it is
one bounded JSON string (or one bounded bare word), so that it can neither end its quotes nor start a line of its own.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import unicodedata
from typing import Final

from groundql.core.path import ITEMS, Path, is_plain

DEFAULT_WIDTH: Final = 40
_BLANKS: Final = re.compile(r"\s+")
_BARE: Final = re.compile(r"[\w$@%+/&'()-][\w .:$@%+/&'()-]*", re.UNICODE)
_NAME: Final = re.compile(r"[\w$@#%+/&-][\w $@#%+/&-]*")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def clean(text: str, width: int = DEFAULT_WIDTH) -> str:
    """Return text as one bounded line without control, format or private characters.

    Units: `width` in characters; a longer text is cut and ends in an ellipsis.
    """
    head = text[: width * 4 + 16]
    seen = "".join(" " if c in "\n\r\t\v\f\u2028\u2029" else c for c in head if c.isspace() or _is_seen(c))
    line = _BLANKS.sub(" ", seen).strip()
    cut = len(head) < len(text) or len(line) > width
    return f"{line[: max(width - 1, 0)].rstrip()}…" if cut else line


def fence_text(text: str, width: int = DEFAULT_WIDTH) -> str:
    """Return a stored string in JSON quotes, cleaned and bounded; edge blanks that matter stay visible."""
    shown = clean(text, width)
    if text != text.strip() and len(text) <= width and text.isprintable():
        shown = text
    return json.dumps(shown, ensure_ascii=False).replace("`", "'")


def fence_name(name: str, width: int = 60) -> str:
    """Return a stored name (a map key) bare where that is harmless, else in JSON quotes."""
    if len(name) <= width and name.isprintable() and _BARE.fullmatch(name) and name == name.strip():
        return name
    return fence_text(name, width)


def fence_path(path: Path, width: int = 80) -> str:
    """Return a path's text: names that read like names stay bare, every other is a bounded, escaped JSON string."""
    parts: list[str] = []
    for step in path.steps:
        if not isinstance(step, str):
            parts.append("[]" if step is ITEMS else ".<*>" if parts else "<*>")
        elif len(step) <= width and step.count(" ") <= 3 and is_plain(step) and _NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{_quoted_name(step, width)}]")
    return "".join(parts)


def _quoted_name(name: str, width: int) -> str:
    """A name in JSON quotes that stays exact up to its bound: what is not printable is escaped, not dropped."""
    head = name if len(name) <= width else f"{name[:width]}…"
    escaped = json.dumps(head, ensure_ascii=False).replace("`", "\\u0060")
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in escaped)


def fence_value(value: object, width: int = DEFAULT_WIDTH) -> str:
    """Return any stored value as short safe text: strings quoted, numbers and booleans bare, the rest as typed text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return fence_text(value, width)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, dt.datetime):
        return f"ISODate({json.dumps(date_text(value))})"
    if isinstance(value, bytes):
        return f"binary({len(value)} bytes)"
    return f"{type(value).__name__}({fence_text(str(value), width)})"


def number_text(value: float) -> str:
    """Return a number without a needless fraction."""
    if math.isfinite(value) and abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.6g}" if abs(value) < 1e15 else f"{value:g}"


def date_text(value: dt.datetime) -> str:
    """Return a date as the day alone when it is midnight, else to the second in UTC."""
    moment = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    if moment.time() == dt.time():
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds") + "Z"


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN
