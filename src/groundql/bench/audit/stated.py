"""What the words of a question state: numbers, dates, names, and what they say about order."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from groundql.grounding.dates import dates_of
from groundql.grounding.number_words import is_number_word, text_number
from groundql.grounding.numerals import numbers_of
from groundql.grounding.words import fold, split_words, stem, stems

_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ORDINAL_WORDS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_MONTH_WORDS = "january february march april may june july august september october november december"
_DAY_WORDS = "sunday monday tuesday wednesday thursday friday saturday sunday"
_ORDINALS: Final = tuple(_ORDINAL_WORDS.split())
_MONTHS: Final = tuple(_MONTH_WORDS.split())
_DAYS: Final = tuple(_DAY_WORDS.split())
_IMPLIED: Final = {
    "several": (1, 2), "multiple": (1, 2), "repeated": (1, 2), "repeatedly": (1, 2), "shared": (1, 2),
    "duplicate": (1, 2), "both": (2,), "pair": (2,), "double": (2,), "half": (0.5, 50), "quarter": (0.25, 25, 4),
    "majority": (0.5, 50), "decade": (10,), "century": (100,), "dozen": (12,), "percent": (100,), "percentage": (100,),
    "percentages": (100,), "teenage": (13, 19), "leap": (29,), "plural": (1, 2),
}  # fmt: skip
"""Words that imply a number without naming it."""
_FACTORS: Final = {
    "second": (60, 3600, 1000, 86400), "minute": (60, 60_000, 3600, 1440), "hour": (60, 3600, 3_600_000, 24),
    "day": (24, 86_400, 86_400_000, 7), "week": (7, 604_800_000), "month": (12, 30), "year": (12, 365, 365.25),
    "age": (12, 365, 365.25), "thousand": (1000,), "million": (1_000_000,), "billion": (1_000_000_000,),
    "kilometre": (1000,), "kilometer": (1000,), "km": (1000,), "mb": (1_000_000, 1_048_576, 1024), "kb": (1024, 1000),
    "metre": (100, 1000, 0.3048), "meter": (100, 1000, 0.3048), "cm": (100, 2.54), "inch": (2.54, 12),
    "per": (100, 1000, 1_000_000), "decade": (10,), "share": (100,), "rate": (100, 1000),
}  # fmt: skip
"""Units, and the factors that a program needs to come to them."""
_ORDERING: Final = re.compile(
    r"\b(?:sort|order|rank|arrang|alphabetic|ascend|descend|chronologic|then by|most|fewest|least|highest|lowest|"
    r"largest|biggest|smallest|latest|earliest|newest|oldest|longest|shortest|greatest|best|worst|top|bottom|first|last|"
    r"strongest|weakest|heaviest|tallest|richest|poorest|fastest|slowest|cheapest|busiest|\w+iest|lead)\w*",
    re.IGNORECASE,
)
_FURTHER: Final = re.compile(
    r"\b(?:sort\w*|order\w*|rank\w*|arrang\w*|then|equal\w*|ties?|tied|break\w*|secondar\w*|follow\w*|subsequent\w*|"
    r"alphabetic\w*|ascend\w*|descend\w*|same number)\b",
    re.IGNORECASE,
)
_ALL_KEYS: Final = re.compile(
    r"\b(?:alphabetic\w*|(?:those|these|the (?:other|remaining|same)|all|each|every) (?:\w+ )?"
    r"(?:fields?|columns?|values?|keys?)|in (?:that|this|the same) order)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.?!;])\s+")
_LEAST_SHARED = 4
"""Letters that two words share from their start to count as forms of one: official, officially."""


@dataclass(frozen=True)
class Stated:
    """The words of one question, to be asked what they state."""

    text: str

    @cached_property
    def folded(self) -> str:
        """The text without case."""
        return fold(self.text)

    @cached_property
    def squashed(self) -> str:
        """The text as letters and digits alone."""
        return _squash(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its words with plural endings folded."""
        return frozenset(stems(self.text)) | frozenset(stem(w) for w in re.findall(r"\w+", self.folded))

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Every number it states or implies, neighbours included where a comparison allows them."""
        return frozenset(_numbers(self.text))

    def has_number(self, number: float) -> bool:
        """Tell whether a number is stated, or follows from a unit or a word that is."""
        if number in self.numbers:
            return True
        return any(number in factors and stem(unit) in self.stems for unit, factors in _FACTORS.items())

    def has_text(self, text: str) -> bool:
        """Tell whether a text is stated: as it stands, in other case or spelling, or by all of its words."""
        folded = fold(text)
        if not any(c.isalnum() for c in folded) or _is_within(folded, self.folded):
            return True
        squashed = _squash(text)
        if len(squashed) >= _LEAST_SHARED and squashed in self.squashed:
            return True
        if self._is_short_for(text):
            return True
        words = stems(text)
        return bool(words) and all(self.has_word(w) for w in words)

    def _is_short_for(self, text: str) -> bool:
        """Tell whether a code of two or three letters begins a name in the question: fr for French."""
        if not (text.isascii() and text.isalpha() and 2 <= len(text) <= 3):
            return False
        return re.search(rf"(?<!^)\b{text.capitalize()}[a-z]+", self.text) is not None

    def has_word(self, word: str) -> bool:
        """Tell whether a word is stated in some form: plural, longer or shorter by an ending."""
        if word in self.stems:
            return True
        if word.isdigit():
            return float(word) in self.numbers
        return len(word) >= _LEAST_SHARED and any(_are_forms(word, other) for other in self.stems)

    def has_date(self, moment: dt.datetime) -> bool:
        """Tell whether a date is stated: the bound of a span that is named, or the edge of a year that is."""
        day = moment.date()
        asks = dates_of(self.text, day)
        if any(abs((edge - day).days) <= 1 for ask in asks for edge in (ask.start, ask.end)):
            return True
        at_edge = (day.month, day.day) in ((1, 1), (12, 31))
        years = {float(y) for y in ((day.year - 1, day.year, day.year + 1) if at_edge else (day.year,))}
        named_decade = any(f"{int(y) // 10 * 10}s" in self.folded for y in years)
        month = _MONTHS[day.month - 1]
        return bool(years & self.numbers or named_decade) and (
            at_edge or month in self.folded or day.month in self.numbers
        )

    @cached_property
    def is_ordered(self) -> bool:
        """Whether it asks for an order, or for the extreme of something."""
        return _ORDERING.search(self.text) is not None

    def orders_by(self, words: Iterable[str]) -> bool:
        """Tell whether one of these words stands where the question says how rows of equal rank are ordered."""
        if any(_ALL_KEYS.search(part) for part in self._ordering):
            return True
        said = frozenset(s for part in self._ordering for s in stems(part))
        wanted = {stem(word) for word in words}
        return any(w in said or (len(w) >= _LEAST_SHARED and any(_are_forms(w, s) for s in said)) for w in wanted)

    @cached_property
    def _ordering(self) -> tuple[str, ...]:
        return tuple(_ordering_parts(self.text))


def _ordering_parts(text: str) -> Iterator[str]:
    """The stretches, each to the end of its sentence, in which a further order can be stated."""
    for sentence in _SENTENCE.split(text):
        found = _FURTHER.search(sentence)
        if found:
            yield sentence[found.start() :]


def _numbers(text: str) -> Iterator[float]:
    for term in numbers_of(text):
        yield from term.accepts
    for match in _DIGITS.finditer(text):
        yield from _readings(match[0])
    words = split_words(text)
    for word in words:
        yield from _IMPLIED.get(word, ())
        if is_number_word(word):
            yield text_number(word)
        for names in (_ORDINALS, _MONTHS, _DAYS):
            yield from (float(n) for n, name in enumerate(names, 1 if names is not _ORDINALS else 0) if name == word)
    if re.search(r"\b(?:more than one|at least two|two or more|different|various|list of)\b", text, re.IGNORECASE):
        yield from (1.0, 2.0)


def _readings(digits: str) -> Iterator[float]:
    plain = digits.replace(",", "")
    for form in (plain, *re.split(r"[.,]", digits)):
        try:
            yield float(form)
        except ValueError:
            continue


def _is_within(part: str, whole: str) -> bool:
    if not part.isascii():
        return part in whole  # not every script parts its words
    return re.search(rf"(?<!\w){re.escape(part)}(?:e?s)?(?!\w)", whole) is not None


def _squash(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _are_forms(a: str, b: str) -> bool:
    shorter, longer = sorted((a, b), key=len)
    shared = max(_LEAST_SHARED, len(longer) - 4)
    return longer[:shared] == shorter[:shared] and len(shorter) >= shared
