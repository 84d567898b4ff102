"""What a question mentions that may lie in the data: quotes, codes, dates, names, numbers, runs of plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from groundql.core.answer import Question
from groundql.grounding.dates import DateAsk, dates_of, today_in
from groundql.grounding.numerals import (
    LimitAsk,
    NumberRole,
    NumberTerm,
    left_of,
    limit_of,
    limits_of,
    numbers_of,
    thresholds_of,
)
from groundql.grounding.spans import mask, quoted_spans
from groundql.grounding.words import ASKING, STOP_WORDS, fold, stem

__all__ = [
    "LimitAsk",
    "NumberRole",
    "NumberTerm",
    "Term",
    "TermKind",
    "Terms",
    "limit_of",
    "limits_of",
    "read_terms",
    "thresholds_of",
]

MOST_CHARACTERS: Final = 4000
"""A longer question is read up to here; what stands behind is hardly a question."""
LONGEST_RUN: Final = 6
MOST_RUNS: Final = 600


class TermKind(StrEnum):
    """How a term stands in the question, which decides how much the question insists on it."""

    QUOTED = "quoted"
    CODE = "code"
    DATE = "date"
    TITLE = "title"
    NUMBER = "number"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a question mentions.

    Shape: `start` and `end` are its place in the question (-1 in the asker's hints); `forms` further spellings to look
    up (a date's written forms, a name without its first word); `label` marks quoted text that names an output;
    `explained` that brackets right behind it say how it is stored: "France (country code FR)".
    """

    text: str
    kind: TermKind
    start: int
    end: int
    forms: tuple[str, ...] = ()
    negated: bool = False
    label: bool = False
    number: NumberTerm | None = None
    near: tuple[str, ...] = ()
    explained: bool = False

    @property
    def folded(self) -> str:
        """The form under which it is looked up."""
        return fold(self.text)


@dataclass(frozen=True, slots=True)
class Terms:
    """All that was read out of one question.

    `runs` are runs of plain words, longest first; most of them are no values at all.
    """

    named: tuple[Term, ...]
    runs: tuple[Term, ...]
    numbers: tuple[NumberTerm, ...]
    dates: tuple[DateAsk, ...]
    limit: LimitAsk | None

    @property
    def relative_dates(self) -> dict[str, str]:
        """The resolved ranges of all dates that the question names, as text."""
        return {ask.text: str(ask) for ask in self.dates}


_CODE: Final = re.compile(
    r"(?<![\w./:-])(?:[A-Z0-9]+(?:(?:::|[-_/.:+&])[A-Z0-9]+)+|[A-Z]+\d[A-Z0-9]*|\d+[A-Z]+[A-Z0-9]*|[A-Z]{2,}(?:\s+[A-Z]{2,}){0,4}"
    r"|[a-z]\w*(?:(?:::?|/)[a-z0-9]\w*)+|[a-z]\w+(?:\.[A-Za-z]\w+)+|[a-z]+(?:_+[a-z0-9]+)+|[A-Za-z]+[-_:]+\d+[A-Za-z0-9]*)(?![\w])"
)
_GENERIC_WORDS = """and any api array asc ascii avg bool boolean count csv date db desc distinct exists false for from
    group having id ids in int integer is json like limit list max min mongodb mql n/a nan no none not null num number
    ok or order per pk sql string sum the then top true undefined unique url utc uuid vs where with xml yes ytd missing
    present empty unknown other all"""
_GENERIC: Final = frozenset(_GENERIC_WORDS.split())
"""Words that are quoted or shouted without being meant as stored values."""
_LABEL: Final = re.compile(
    r"(?:\b(?:column|field|key|alias|header|output|property)s?(?:\s+(?:named|called|labell?ed|titled|is|are|be))?"
    r"|\b(?:name|call|label|title)\s+(?:it|them|this|that|these|the\s+\w+(?:\s+\w+)?)(?:\s+as)?)"
    r"\s*:?\s*(?:[\"'`“‘][^\"'`”’]*[\"'`”’]\s*(?:,|and|or)\s*)*$",
    re.IGNORECASE,
)
_AS: Final = re.compile(
    r"\b(?:(?P<word>\w+)\s+)?as\s*(?:[\"'`“‘][^\"'`”’]*[\"'`”’]\s*(?:,|and|or)\s*)*$", re.IGNORECASE
)
_SHOWN: Final = frozenset({"returned", "displayed", "shown", "labeled", "labelled", "renamed", "output", "reported"})
_NEGATION: Final = re.compile(
    r"\b(?:not|no|non|never|without|except(?:\s+for)?|excluding|exclude|other\s+than|isn't|aren't|wasn't|weren't|don't|"
    r"doesn't|didn't|neither|nor)(?:\s+(?:in|a|an|the|of|be|any|by|from|with|for|named|called|equal|to)|[\s\-]*)*"
    r"(?:\s*[\w'\"-]+(?:,|\s+(?:or|nor))\s+)*\s*$",
    re.IGNORECASE,
)
_JOINERS: Final = r"of|the|de|da|di|la|le|von|van|der|del|du|el|al|&"
_CAPITAL: Final = r"(?:[^\W\d_a-z]|\d+-[A-Z])[\w'’&.+-]*"
_TITLE: Final = re.compile(
    rf"(?<![\w'])(?:{_CAPITAL})(?:(?:\s+|/)(?:(?:{_JOINERS})\s+){{0,2}}(?:{_CAPITAL}|\d[\w-]*(?!\s*%))){{0,6}}"
)
_SENTENCE: Final = re.compile(r"(?:^|[.!?:]\s|[\"“]\s?|\n)\s*(?:[-*•]\s*|\d+[.)]\s*)?$")
_TOKEN: Final = re.compile(r"[^\W_][\w'’&.:/+#@%-]*|[^\W_]")


def read_terms(question: Question) -> Terms:
    """Read a question (and the asker's hints) into terms; relative dates hang on the question's own day.

    Raises: InputError when the question's time zone is unknown.
    """
    text = question.text[:MOST_CHARACTERS]
    dates = dates_of(text, question.today or today_in(question.time_zone), question.time_zone)
    named = _named(text, dates)
    if question.hints:
        named += tuple(_hinted(question.hints[:MOST_CHARACTERS], {t.folded for t in named}))
    return Terms(named, tuple(_runs(text)), numbers_of(text), dates, limit_of(text))


def is_generic(text: str) -> bool:
    """Tell whether a word is commonly quoted or shouted without being meant as a stored value."""
    return fold(text) in _GENERIC


def _named(text: str, dates: tuple[DateAsk, ...]) -> tuple[Term, ...]:
    quoted = tuple(_quoted(text))
    rest = mask(text, ((t.start, t.end) for t in quoted))
    dated = tuple(_dated(text, rest, dates))
    rest = mask(rest, ((t.start, t.end) for t in dated))
    coded = tuple(_coded(text, rest))
    rest = mask(rest, ((t.start, t.end) for t in coded))
    titled = tuple(_titled(text, rest))
    taken = tuple((t.start, t.end) for t in (*quoted, *dated, *coded, *titled))
    numbers = (
        Term(text[n.start : n.end].strip(), TermKind.NUMBER, n.start, n.end, number=n, near=_near(text, n.start, n.end))
        for n in numbers_of(text)
        if n.role in {NumberRole.PLAIN, NumberRole.THRESHOLD} and not any(a <= n.start < b for a, b in taken)
    )
    found = sorted((*quoted, *dated, *coded, *titled, *numbers), key=lambda t: (t.start, t.end))
    return tuple(replace(t, explained=True) if re.match(r"\s*\(", text[t.end :]) else t for t in found)


def _quoted(text: str) -> Iterator[Term]:
    for start, end, inner in quoted_spans(text):
        label = _is_label(left_of(text, start, 120))
        yield Term(inner.strip(), TermKind.QUOTED, start, end, negated=_is_negated(text, start), label=label)


def _is_label(left: str) -> bool:
    """Whether what follows names an output: "as 'total'", "a column called 'x'", but not "recorded as 'missing'"."""
    if _LABEL.search(left):
        return True
    found = _AS.search(left)
    word = (found["word"] or "").casefold() if found else ""
    return bool(found) and (word in _SHOWN or not (word.endswith("ed") or word in {"known", "such", "same", "well"}))


def _dated(text: str, rest: str, dates: tuple[DateAsk, ...]) -> Iterator[Term]:
    for ask in dates:
        start, end = ask.at
        if ask.relative or not ask.forms or "_" in rest[start:end]:
            continue
        forms = tuple(f for f in ask.forms if f != ask.text)
        yield Term(ask.text, TermKind.DATE, start, end, forms, _is_negated(text, start))


def _coded(text: str, rest: str) -> Iterator[Term]:
    if _is_shouted(text):
        return
    for match in _CODE.finditer(rest):
        words = match[0].split()
        while words and fold(words[0]) in _GENERIC | STOP_WORDS:
            words.pop(0)
        while words and fold(words[-1]) in _GENERIC | STOP_WORDS:
            words.pop()
        if not words or "__" in match[0] or _is_part_of_name(rest, match):
            continue
        code = match[0][match[0].index(words[0]) : match[0].rindex(words[-1]) + len(words[-1])]
        start = match.start() + match[0].index(words[0])
        yield Term(code, TermKind.CODE, start, start + len(code), negated=_is_negated(text, start))


def _is_part_of_name(rest: str, match: re.Match[str]) -> bool:
    """Whether capitals or a short "3-D" stand beside a capitalised word, as in "DC Comics": that is one name."""
    if not re.fullmatch(r"[A-Z]+|\d-[A-Z]", match[0]):
        return False
    before = re.search(r"(?P<word>[A-Z][a-z][\w'’.-]*) $", left_of(rest, match.start(), 60))
    opens = before is not None and bool(_SENTENCE.search(before.string[: before.start()]))
    return bool(re.match(r" [A-Z][a-z]", rest[match.end() :])) or (before is not None and not opens)


def _titled(text: str, rest: str) -> Iterator[Term]:
    for match in _TITLE.finditer(rest):
        phrase = match[0].rstrip(".'’-&+ ")
        opens = bool(_SENTENCE.search(left_of(text, match.start(), 40)))
        start, phrase = _without_lead(phrase, match.start(), opens)
        words = phrase.split()
        if not words or "__" in phrase or (len(words) == 1 and (opens and start == match.start())):
            continue
        if len(words) == 1 and (fold(phrase) in STOP_WORDS | _GENERIC or len(phrase) < 2):
            continue
        forms = (phrase[len(words[0]) :].strip(),) if opens and len(words) > 1 and start == match.start() else ()
        possessive = re.sub(r"['’]s$", "", phrase)
        forms += (possessive,) if possessive != phrase else ()
        yield Term(phrase, TermKind.TITLE, start, start + len(phrase), forms, _is_negated(text, start))


def _without_lead(phrase: str, start: int, opens: bool) -> tuple[int, str]:
    """Drop words at the front of a capitalised phrase that only open the sentence ("List", "Which", "The")."""
    words = phrase.split()
    while opens and words and fold(words[0]) in STOP_WORDS | ASKING:
        rest = phrase[len(words[0]) :].lstrip()
        start += len(phrase) - len(rest)
        phrase, words = rest, words[1:]
    while words and fold(words[0]) in {"of", "the", "and", "in", "on", "for", "to", "a", "an"} and words[0].islower():
        rest = phrase[len(words[0]) :].lstrip()
        start += len(phrase) - len(rest)
        phrase, words = rest, words[1:]
    return start, phrase


def _hinted(hints: str, known: set[str]) -> Iterator[Term]:
    """The quoted, coded and capitalised terms of the hints; a place of -1 marks them."""
    quoted = tuple(_quoted(hints))
    rest = mask(hints, ((t.start, t.end) for t in quoted))
    for term in (*quoted, *_coded(hints, rest), *_titled(hints, rest)):
        if term.folded not in known:
            yield Term(term.text, term.kind, -1, -1, term.forms, term.negated, term.label)


def _runs(text: str) -> Iterator[Term]:
    tokens = [(m[0].rstrip(".:/'’-"), m.start()) for m in _TOKEN.finditer(text)][:400]
    made = 0
    for size in range(min(LONGEST_RUN, len(tokens)), 0, -1):
        for i in range(len(tokens) - size + 1):
            words, start = [t for t, _ in tokens[i : i + size]], tokens[i][1]
            end = tokens[i + size - 1][1] + len(words[-1])
            if made >= MOST_RUNS or not _is_run(words, text[start:end]):
                continue
            made += 1
            yield Term(" ".join(words), TermKind.RUN, start, end, negated=_is_negated(text, start))


def _is_run(words: list[str], stretch: str) -> bool:
    if re.search(r"[,;!?\"“”()]|\.\s", stretch):
        return False
    if len(words) == 1:
        return len(words[0]) > 1 and fold(words[0]) not in STOP_WORDS and not words[0].isdigit()
    return any(fold(word) not in STOP_WORDS for word in words)


def _near(text: str, start: int, end: int) -> tuple[str, ...]:
    """The words right before and after a number, plural endings folded: what it may be the number of."""
    before = _TOKEN.findall(left_of(text, start))[-2:]
    after = _TOKEN.findall(text[end : end + 60])[:2]
    return tuple(stem(fold(w)) for w in (*before, *after) if fold(w) not in STOP_WORDS)


def _is_negated(text: str, start: int) -> bool:
    return bool(_NEGATION.search(left_of(text, start, 60)))


def _is_shouted(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    return len(letters) > 12 and sum(c.isupper() for c in letters) > 0.6 * len(letters)
