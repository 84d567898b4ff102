"""What word processors, chats and web pages do to a query: curly quotes, odd spaces. Quoted text is left alone."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
_TOKEN: Final = re.compile(
    _PLAIN + r"|[“”„«](?P<double>[^“”„«»\n]*)[”“»]"
    r"|[‘‚’](?P<single>[^‘\n]{0,400}?)[’‘](?=\s*(?:[,:;)\]}]|\Z))"
    r"|(?P<blank>[\u00a0\u2000-\u200b\u2028\u2029\u202f\u2060\u3000\ufeff])",
    re.DOTALL,
)
_HASH: Final = re.compile(_PLAIN + r"|(?P<hash>(?<!\S)#[^\n]*)", re.DOTALL)


def straighten(text: str) -> tuple[str, bool]:
    """Make curly quotes straight and odd spaces plain, place by place; also whether there were quotes to mend."""
    if text.isascii():
        return text, False
    mended = _TOKEN.sub(_straight, text)
    return mended, any(a != b and a in "“”„«»‘’‚" for a, b in zip(text, mended, strict=True))


def _straight(found: re.Match[str]) -> str:
    if found["blank"] is not None:
        return " "
    inside = found["double"] if found["double"] is not None else found["single"]
    if inside is None:
        return found[0]
    quote = next((q for q in ('"', "'") if q not in inside), "")
    return f"{quote}{inside}{quote}" if quote else found[0]


def blank_hash_comments(text: str) -> str:
    """Blank comments as Python and shells write them, leaving every place where it is."""
    return _HASH.sub(lambda found: " " * len(found[0]) if found["hash"] else found[0], text)


def blank_quoted(text: str) -> str:
    """Blank quoted text and comments, so that what is left is code."""
    return re.sub(_PLAIN + r"|(?<!\S)#[^\n]*", lambda found: " " * len(found[0]), text, flags=re.DOTALL)
