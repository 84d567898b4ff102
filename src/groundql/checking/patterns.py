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

OPTIONS: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE
LONGEST: Final = 200
REPEATING: Final = re.compile(r"[*+}]")
MOST_REPEATS: Final = 2
REPEATED_GROUP: Final = re.compile(r"\)\s*[*+{]")
"""A repeated group, or repeat upon repeat, can take for ever on a text that nearly meets it: such are left alone."""
FOREIGN: Final = ("(?", "[:")
"""Forms that the engine and Python read differently."""
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
        yield _finding(comparison, pattern, texts)


def _pattern(value: Any) -> re.Pattern[str] | None:
    """Read a pattern as the engine would; None where it is no Python pattern, or could run away."""
    is_compiled = isinstance(value, Regex | re.Pattern)
    text, flags = (value.pattern, value.flags) if is_compiled else (value, 0)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(text, str) or len(text) > LONGEST or REPEATED_GROUP.search(text):
        return None
    if len(REPEATING.findall(text)) > MOST_REPEATS or any(form in text for form in FOREIGN):
        return None
    try:
        return re.compile(text, flags & OPTIONS)
    except (re.error, OverflowError, RecursionError):
        return None


def _finding(comparison: Comparison, pattern: re.Pattern[str], texts: list[str]) -> Finding:
    anyhow = re.compile(pattern.pattern, pattern.flags | re.IGNORECASE)
    other_case = [text for text in texts if anyhow.search(text)]
    near = other_case or nearest_names(WORDY.sub(" ", pattern.pattern).strip(), texts) or texts
    shape = " in this case" if other_case else ""
    return Finding(
        Code.STORED_FORM if other_case else Code.VALUE_ABSENT,
        f"no value stored at {comparison.read.text!r} meets the pattern {shown(pattern)}{shape}",
        comparison.place,
        path=comparison.read.text,
        evidence=f"all {len(texts)} stored values are known",
        nearest=(
            *(fence_text(text, VALUE_CHARS) for text in near[:MOST_SHOWN]),
            *(('"$options": "i"',) if other_case else ()),
        ),
        blocking=False,
    )
