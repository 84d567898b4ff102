"""Where in a text the query is: people and models paste it with a fence, a prompt or prose around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"^[ \t>]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t>]*\1|\Z)", re.DOTALL | re.MULTILINE)
_INLINE: Final = re.compile(r"`([^`\n]*\bdb\s*[.\[][^`\n]*)`")
_USE: Final = re.compile(
    r"^[ \t]*use(?:[ \t]+[\"']?(?P<word>[^\s\"';(]+)[\"']?[ \t]*;?[ \t]*$"
    r"|[ \t]*\([ \t]*(?P<quote>[\"'])(?P<text>[^\"'\n]+)(?P=quote)[ \t]*\)[ \t]*;?)",
    re.MULTILINE,
)
"""`use shop`, and the call `use("shop")` of a playground."""
_QUOTED: Final = re.compile(r"(?:\A|--eval(?:=|[ \t]+))\s*([\"'])(\s*(?:db|use)\b.*)\1[ \t]*;?\s*\Z", re.DOTALL)
"""A whole query within quotes, as a string or as a shell's argument."""
_START: Final = re.compile(
    r"^[ \t]*(?=(?:const|let|var|import|from|await|print|printjson|list|client)\b|db\s*[.\[]|[\w$]+\s*=|[\[{])",
    re.MULTILINE,
)
_CALL: Final = re.compile(r"(?<![\w.$])db(?:\s*\.\s*[\w$]+|\s*\[[^\]\n]*\])+\s*\(")
_PROSE: Final = re.compile(r"\s*(?:[^\W\d_]|[*#>`~|-]|\d+[.)]|\Z)")
_MOST_STARTS: Final = 12
_MOST_ENDS: Final = 60


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of the text that may be the query. Units: `line` and `column` are added to places in it, from 0."""

    text: str
    line: int = 0
    column: int = 0
    is_whole: bool = False


def blank_use_lines(text: str) -> tuple[str, tuple[str, ...]]:
    """Take `use name` lines out, leaving every other place where it is.

    Returns: the text, and the names.
    """
    names = tuple(found["word"] or found["text"] for found in _USE.finditer(text))
    return _USE.sub(lambda found: " " * len(found[0]), text), names


def excerpts(text: str) -> Iterator[Excerpt]:
    """Yield the parts of a text that may be a query, most likely first."""
    fenced = [_part(text, found.start(2), found.end(2)) for found in _FENCE.finditer(text)]
    if fenced:
        yield from fenced
        return
    if quoted := _QUOTED.search(text):
        yield _part(text, quoted.start(2), quoted.end(2))
    yield Excerpt(text, is_whole=True)
    for start in _starts(text):
        yield from _endings(text, start)
    for found in _INLINE.finditer(text):
        yield _part(text, found.start(1), found.end(1))


def begins_as_code(text: str) -> bool:
    """Tell whether the first line is code, so that the text as a whole is meant as the query."""
    return _START.match(text.lstrip()) is not None


def _starts(text: str) -> list[int]:
    """Return where a query may begin: at the first call on a database, or at a line before it that looks like code.

    Never after that call: what follows it is part of it, or another query.
    """
    call = _CALL.search(text)
    last = call.start() if call else len(text)
    lines = [found.end() for found in _START.finditer(text) if found.end() < last]
    return [*lines[:_MOST_STARTS], *([last] if call else [])]


def _endings(text: str, start: int) -> Iterator[Excerpt]:
    """Yield the rest of the text, then the same without prose lines at its end; a chain that goes on is not prose."""
    if start:
        yield _part(text, start, len(text))
    breaks = [found.start() for found in re.finditer(r"\n", text[start:])][-_MOST_ENDS:]
    for offset in reversed(breaks):
        end = start + offset
        if not _PROSE.match(text, end + 1):
            return
        yield _part(text, start, end)


def _part(text: str, start: int, end: int) -> Excerpt:
    line = text.count("\n", 0, start)
    return Excerpt(text[start:end], line, start - (text.rfind("\n", 0, start) + 1))
