"""Which language a text looks like, told by its words and signs; needed only where it does not parse."""

from __future__ import annotations

import re
from typing import Final

from groundql.languages.typography import blank_quoted

_PYTHON: Final = re.compile(
    r"\b(?:True|False|None|lambda|not|and|or)\b|^[ \t]*(?:from|import)[ \t]+\w"
    r"|^[ \t]*(?:async[ \t]+)?(?:for|with|def)\b"
    r"|\b(?:find_one|count_documents|estimated_document_count|to_list|get_collection)\b|\bre\.compile\b|\bdatetime\b"
    r"|\b(?:list|print|pprint)\(|[(,]\s*[a-z_]+=(?!=)|^[a-z_]+[ \t]*=[ \t]*[\[{]|^>>>",
    re.MULTILINE,
)
_JAVASCRIPT: Final = re.compile(
    r"\b(?:const|let|var|new|true|false|null|function|undefined)\b|=>|[{,]\s*\$?[A-Za-z_]\w*\s*:|;[ \t]*$"
    r"|\b(?:findOne|countDocuments|toArray|getCollection|ObjectId|ISODate)\b|\bfrom[ \t]*$|===",
    re.MULTILINE,
)
_FOREIGN: Final = (
    ("SQL", r"\A\s*(?:select\b.*\bfrom\b|with\s+\w+\s+as\s*\()"),
    ("PHP", r"<\?php|\$\w+->\w+"),
    ("Go", r"\bbson\.[DMAE]\b|\bcontext\.(?:TODO|Background)\(|\berr\s*:="),
    ("Rust", r"\bdoc!\s*[{(]"),
    ("Ruby", r"\bMongo::|\{\s*(?:'\w+'|\"\w+\"|:\w+)\s*=>"),
    ("C#", r"\bnew\s+Bson(?:Document|Array)\b|\bBuilders<|\bIMongo\w+<|^using\s+MongoDB\b"),
    ("Java", r"\bnew\s+(?:Basic(?:DB)?Object|(?:Basic)?Document)\(|\bMongoCollection<|\bcom\.mongodb\b"
             r"|\bArrays\.asList\(|\b(?:Filters|Aggregates|Sorts|Criteria|Projections|Accumulators)\.\w+\(|\.find\(\s*(?:eq|and|or|gte?|lte?)\("),
)  # fmt: skip
_KINDS: Final = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL)) for name, pattern in _FOREIGN
)
_LONGEST_LOOK: Final = 20_000
"""Characters looked at: the language of a text shows at its start."""


def looks_like_python(text: str) -> bool | None:
    """Tell Python from JavaScript; None where nothing decides."""
    code = blank_quoted(text[:_LONGEST_LOOK])
    python, javascript = len(_PYTHON.findall(code)), len(_JAVASCRIPT.findall(code))
    return None if python == javascript else python > javascript


def foreign_language(text: str) -> str:
    """Name the language of code that is not read, or nothing."""
    head = text[:_LONGEST_LOOK]
    return next((name for name, pattern in _KINDS if pattern.search(head)), "")
