"""The one fence that text from a database passes before it reaches a model or a terminal.

Stored text may carry line breaks, control characters, look-alike markup or whole instructions. Behind the fence it is
one bounded JSON string (or one bounded bare word), so that it can neither end its quotes nor start a line of its own.
"""

from __future__ import annotations

import datetime as dt
import decimal
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
_WHOLE: Final = 1e15
_LONGEST_NUMBER: Final = 40
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
    """Return a stored string in JSON quotes: exact where it is short, escapes and all, else cleaned and cut."""
    quoted, is_whole = _quoted(text, width)
    return quoted if is_whole else _quoted(clean(text, width), width)[0]


def fence_name(name: str, width: int = 60) -> str:
    """Return a stored name bare where that is harmless, else in JSON quotes that hold exactly what is stored.

    Shape: a longer name is cut, and the ellipsis stands behind the quotes.
    """
    if len(name) <= width and name.isprintable() and _BARE.fullmatch(name) and name == name.strip():
        return name
    return _exact(name, width)


def fence_key(key: str, width: int = 60) -> str:
    """Return a map's key as `fence_name` does, and in quotes also where a dotted name could not reach it."""
    return _exact(key, width) if "." in key or key.startswith("$") else fence_name(key, width)


def fence_path(path: Path, width: int = 80) -> str:
    """Return a path's text: names that read like names stay bare, every other is a bounded, escaped JSON string."""
    parts: list[str] = []
    for step in path.steps:
        if not isinstance(step, str):
            parts.append("[]" if step is ITEMS else ".<*>" if parts else "<*>")
        elif len(step) <= width and step.count(" ") <= 3 and is_plain(step) and _NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{_exact(step, width)}]")
    return "".join(parts)


def _exact(name: str, width: int) -> str:
    quoted, is_whole = _quoted(name, width)
    return quoted if is_whole else f"{quoted}…"


def _quoted(text: str, width: int) -> tuple[str, bool]:
    """Text in JSON quotes up to a bound, and whether that is all of it: what is not printable is escaped, not dropped.

    Escapes count as what they take up, so that no text grows beyond twice its width.
    """
    parts: list[str] = []
    room = 2 * width
    for character in text[:width]:
        shown = json.dumps(character, ensure_ascii=False)[1:-1]
        if character == "`" or not shown.isprintable():
            shown = f"\\u{ord(character):04x}" if character == "`" else json.dumps(character)[1:-1]
        room -= len(shown)
        if room < 0:
            break
        parts.append(shown)
    return f'"{"".join(parts)}"', len(parts) == len(text)


def fence_value(value: object, width: int = DEFAULT_WIDTH) -> str:
    """Return any stored value as short safe text: strings quoted, numbers and booleans bare, the rest as typed text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return fence_text(value, width)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, int):
        return number_text(value)
    if isinstance(value, dt.datetime):
        return f"ISODate({json.dumps(date_text(value))})"
    if isinstance(value, bytes):
        return f"binary({len(value)} bytes)"
    return f"{type(value).__name__}({fence_text(str(value), width)})"


def number_text(value: float | decimal.Decimal) -> str:
    """Return a number without a needless fraction: whole numbers exactly, others to six digits."""
    if isinstance(value, float):
        is_broken = math.isfinite(value) and abs(value) < _WHOLE and not value.is_integer()
        return f"{value:.6g}" if is_broken else _float_text(value)
    # a huge int would refuse to become text at all; a huge decimal has an exponent
    text = str(decimal.Decimal(value)) if abs(value) >= 10**_LONGEST_NUMBER else str(value)
    return text if len(text) <= _LONGEST_NUMBER else f"{decimal.Decimal(value):.6e}"


def _float_text(value: float) -> str:
    """The shortest text that reads back as this very number, in the words of the shell."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if abs(value) < _WHOLE and value.is_integer() else repr(value).removesuffix(".0")


def date_text(value: dt.datetime) -> str:
    """Return a date as the day alone when it is midnight, else to the second in UTC."""
    moment = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    if moment.time() == dt.time():
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds") + "Z"


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN
