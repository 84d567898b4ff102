"""Numbers and quoted text as JavaScript writes them."""

from __future__ import annotations

import re
from typing import Final

from groundql.languages.syntax import Spot, syntax_error


def number(text: str, at: Spot) -> int | float:
    """Read a number as JavaScript writes it.

    Raises: ProgramSyntaxError for one that is none.
    """
    plain = text.replace("_", "").lower()
    if plain.endswith("n"):
        return _integer(plain[:-1], at)
    if plain.startswith(("0x", "0o", "0b")) or plain.isdigit():
        return _integer(plain, at)
    return float(plain)


def _integer(text: str, at: Spot) -> int:
    if len(text) > 400:
        raise syntax_error("the number is too long", at)
    try:
        return int(text, 0)
    except ValueError:
        raise syntax_error(f"{text} is not a number: write it without leading zeros", at) from None


_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_PLAIN_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0",
    "\n": "", "\r\n": "", "\r": "", "\u2028": "", "\u2029": "",
}  # fmt: skip


def unescape(raw: str, at: Spot) -> str:
    """Read the inside of a quoted text.

    Raises: ProgramSyntaxError for an escape that is no character.
    """
    if "\\" not in raw:
        return raw
    text = _ESCAPE.sub(lambda found: _escaped(found, at), raw)
    try:
        # \ud83d\ude00 are two halves of one character; a half by itself is not text.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise syntax_error("the text holds half of a surrogate pair", at) from None


def _escaped(found: re.Match[str], at: Spot) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _PLAIN_ESCAPES.get(found[4], found[4])
    if int(code, 16) > 0x10FFFF:
        raise syntax_error(f"there is no character {code}", at)
    return chr(int(code, 16))
