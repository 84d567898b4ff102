"""The pattern rule: a regular expression that meets none of a complete list of values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from bson import Regex

from groundql.checking.nearest import nearest_names
from groundql.checking.values import MOST_SHOWN, VALUE_CHARS, compared_field, is_either
from groundql.checking.wording import shown
from groundql.core.answer import Grounding
from groundql.core.finding import Code, Finding
from groundql.core.program import Claims, Comparison, ReadStatus
from groundql.grounding.fence import fence_text

LENIENT: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL
"""Options may stand apart from their pattern: what meets nothing under the widest ones meets nothing at all."""
LONGEST: Final = 200
REPEATING: Final = re.compile(r"[*+}]")
MOST_REPEATS: Final = 2
REPEATED_GROUP: Final = re.compile(r"\)\s*[*+{]")
"""A repeated group, or repeat upon repeat, can take for ever on a text that nearly meets it: such are left alone."""
WORDY: Final = re.compile(r"[\\^$.*+?()\[\]{}|]+")


def pattern_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the patterns of a filter that no stored value meets."""
    return [f for c in claims.comparisons if c.operator == "$regex" for f in _unmet(c, grounding)]


def _unmet(comparison: Comparison, grounding: Grounding) -> Iterable[Finding]:
    read = comparison.read
    container = grounding.catalog.get(read.container)
    if container is None or read.status is not ReadStatus.STORED or not comparison.is_filter:
        return
    field = compared_field(container, read)
    if field is None or not field.complete or is_either(comparison.place):
        return
    texts = [v for v in field.values if isinstance(v, str)]
    pattern = _pattern(comparison.value) if texts and all(len(text) <= LONGEST for text in texts) else None
    if pattern is not None and not any(pattern.search(text) for text in texts):
        yield _finding(comparison, pattern.pattern, texts)


def _pattern(value: Any) -> re.Pattern[str] | None:
    """Read a pattern as the engine would; None where it is no Python pattern, or could run away."""
    text = value.pattern if isinstance(value, Regex | re.Pattern) else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(text, str) or len(text) > LONGEST or REPEATED_GROUP.search(text):
        return None
    # a blank or a comment sign means nothing under the option x, which may stand apart
    if len(REPEATING.findall(text)) > MOST_REPEATS or "(?" in text or "#" in text:
        return None
    try:
        return re.compile(text, LENIENT)
    except (re.error, OverflowError, RecursionError):
        return None


def _finding(comparison: Comparison, pattern: str, texts: list[str]) -> Finding:
    near = nearest_names(WORDY.sub(" ", pattern).strip(), texts) or tuple(texts[:MOST_SHOWN])
    return Finding(
        Code.VALUE_ABSENT,
        f"no value stored at {comparison.read.text!r} meets the pattern {shown(pattern)}",
        comparison.place,
        path=comparison.read.text,
        evidence=f"all {len(texts)} stored values are known",
        nearest=tuple(fence_text(text, VALUE_CHARS) for text in near),
        blocking=False,
    )
