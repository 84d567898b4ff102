"""Stretches of a question that are read as a whole: quoted text, dates with separators, clock times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_QUOTED: Final = re.compile(
    r"""`(?P<tick>[^`\n]{1,200})`|"(?P<double>[^"\n]{1,200})"|“(?P<curly>[^”\n]{1,200})”|„(?P<low>[^“”\n]{1,200})[“”]
    |«\s?(?P<guillemet>[^»\n]{1,200}?)\s?»|‘(?P<single_curly>[^’\n]{1,100}(?:’(?=\w)[^’\n]*)*)’(?!\w)
    |(?<![\w'])'(?P<single>[^'\n]{1,100}(?:'(?=\w)[^'\n]*)*)'(?!\w)""",
    re.VERBOSE,
)
SEPARATED_DATE: Final = re.compile(
    r"(?<![\w./-])(?:\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?"
    r"|\d{1,2}([-/.])\d{1,2}\2\d{4})(?![\w/-]|\.\d)"
)
_CLOCK: Final = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)")


def quoted_spans(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return (start, end, inner text) of everything in quotes or backticks; an apostrophe opens no quote."""
    found = ((m.start(), m.end(), next(g for g in m.groups() if g is not None)) for m in _QUOTED.finditer(text))
    return tuple(span for span in found if span[2].strip())


def mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with some stretches overwritten by underscores; every other place keeps its index."""
    for start, end in spans:
        text = f"{text[:start]}{'_' * (end - start)}{text[end:]}"
    return text


def mask_wholes(text: str) -> str:
    """Return the text with quotes, dates and clock times overwritten, so that no number is read out of them."""
    text = mask(text, ((a, b) for a, b, _ in quoted_spans(text)))
    for pattern in (SEPARATED_DATE, _CLOCK):
        text = mask(text, (m.span() for m in pattern.finditer(text)))
    return text
