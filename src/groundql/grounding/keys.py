"""What a key looks like: a name that someone gave a field, or a datum.

A field name is an identifier: letters, digits and underscores, beginning with a letter. A key that no programmer would
type as a name (a number, a date, an id, punctuation) is data by its form alone: `STRONG`. Capital codes and phrases
with blanks are data in most document databases, yet field names where tables or spreadsheets were imported: `STYLED`,
which counts only as far as the names around it look different.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Final

from groundql.core.catalog import KeyKind


class Form(Enum):
    """How a key is written."""

    NUMBER = "number"
    YEAR = "year"
    DATE = "date"
    ID = "id"
    SYMBOL = "symbol"
    CODE = "code"
    TITLE = "title"
    WORD = "word"


STRONG: Final = frozenset({Form.NUMBER, Form.YEAR, Form.DATE, Form.ID, Form.SYMBOL})
STYLED: Final = frozenset({Form.CODE, Form.TITLE})

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_PATTERNS: Final = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        # 2019, 2008/2009, 2014-15, FY2020
        (Form.YEAR, rf"{_YEAR}(?:/\d\d|[/-]{_YEAR}|-(?:1[3-9]|[2-9]\d))?|FY ?\d{{2,4}}"),
        # 2019-03, 2019-03-01T10:00, 2019-Q1, 2019-W07, 20190301, 01.03.2019, 10:30, March 2019
        (
            Form.DATE,
            r"\d{4}[-/.](?:\d{1,2}|Q[1-4]|W\d\d)(?:[-/.]\d{1,2})?(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
            r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|\d{1,2}:\d\d(?::\d\d)?"
            rf"|(?i:{_MONTH}[ _-]?\d{{4}}|\d{{4}}[ _-]?{_MONTH})",
        ),
        (Form.NUMBER, r"[+-]?\d+(?:[.,]\d+)*%?"),
        # UUIDs, ObjectIds and digests, user:17, user_10442, composite keys, addresses
        (
            Form.ID,
            r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=.*\d)[0-9a-fA-F]{16,}"
            r"|\w+[:#/]\w*\d\w*|[A-Za-z]+[_-]?\d{3,}|.*::.*|[^@\s]+@[^@\s]+\.\w+",
        ),
        # fs.files and dc:title: identifiers joined as configurations and linked data join them
        (Form.WORD, r"[a-z_$][\w-]*(?:\.[a-z_$][\w-]*)+"),
        (Form.TITLE, r"@?[A-Za-z_]\w*:[A-Za-z_][\w-]*"),
        # neither letter nor digit; operators; a dot, slash or colon without blanks; a digit first
        (Form.SYMBOL, r"[\W_]*|.*[+=<>|*~^!\";\\{}\[\]].*|\S*[./:]\S*|\d\S*"),
        (Form.CODE, r"\$?[A-Z0-9][A-Z0-9_-]*"),
    )
)


@lru_cache(maxsize=65_536)
def form_of(key: str) -> Form:
    """Tell how a key is written."""
    for form, pattern in _PATTERNS:
        if pattern.fullmatch(key):
            return form
    is_title = key[0].isupper() or any(c.isspace() for c in key)
    return Form.TITLE if is_title else Form.WORD


_NAMED: Final = {
    Form.NUMBER: KeyKind.NUMBER,
    Form.YEAR: KeyKind.YEAR,
    Form.DATE: KeyKind.DATE,
    Form.ID: KeyKind.ID,
    Form.SYMBOL: KeyKind.CODE,
    Form.CODE: KeyKind.CODE,
    Form.TITLE: KeyKind.WORD,
    Form.WORD: KeyKind.WORD,
}


def kind_of_keys(keys: Iterable[str]) -> KeyKind:
    """Name what the keys of a map are, by what at least four in five of them are."""
    found = Counter(_NAMED[form_of(key)] for key in keys)
    # Years are numbers too: a few stray numbers among years leave numbers, not a mixture.
    if found[KeyKind.YEAR] and found[KeyKind.NUMBER]:
        found[KeyKind.NUMBER] += found.pop(KeyKind.YEAR)
    total = sum(found.values())
    return next((kind for kind, count in found.items() if count >= 0.8 * total), KeyKind.MIXED)


_GROUPED: Final = ("grouped", "keyed", "indexed", "counted", "listed", "bucketed", "split")


def levels_keyed(name: str) -> int:
    """Count by how many things a field's name says it is keyed: `votes_by_type` 1, `threads_by_status_by_year` 2.

    A participle before it says who did something instead: `created_by_user` counts 0.
    """
    starts = [m.start() for m in re.finditer(r"(?:^|_)by_(?=[^_])|(?:^by|By)(?=[A-Z])", name)]
    if not starts:
        return 0
    before = re.split(r"_|(?<=[a-z0-9])(?=[A-Z])", name[: starts[0]])[-1].lower()
    return 0 if before.endswith("ed") and before not in _GROUPED else len(starts)
