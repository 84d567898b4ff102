"""Numbers in a question and the part they play: a limit on rows, a threshold on values, a year, or plain.

Source: the limit and number contracts of the TEND solver, widened where it reads "at most 3 goals" as a limit, misses
"up to 25", "top-10" and number words, and never compares the number itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Final

from groundql.grounding.number_words import NUMBER_WORD, SCALE_WORD, SCALES, text_number
from groundql.grounding.spans import mask_wholes
from groundql.grounding.words import is_plural


class NumberRole(StrEnum):
    """What a number in a question is for."""

    LIMIT = "limit"
    THRESHOLD = "threshold"
    DURATION = "duration"
    FORMAT = "format"
    """Digits to round to, columns to show, letters of a word."""
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class NumberTerm:
    """A number as a question states it.

    Shape: `text` is the number with the words that give it its role, `start` and `end` its own place in the question.
    `operator` is `$gte $gt $lte $lt $eq` for a threshold, else empty; `unit` the word or sign that follows it.
    """

    number: float
    text: str
    role: NumberRole
    start: int
    end: int
    operator: str = ""
    unit: str = ""
    is_percent: bool = False

    @property
    def is_year(self) -> bool:
        """Whether it looks like a calendar year."""
        return self.number == int(self.number) and 1000 <= self.number <= 2199 and not self.unit

    @property
    def accepts(self) -> tuple[float, ...]:
        """The numbers a program may state for it: the number, its neighbour (over 3 is >= 4), a percentage as share."""
        near = {"$gte": -1, "$lt": -1, "$gt": 1, "$lte": 1}.get(self.operator)
        whole = self.number == int(self.number)
        return (
            self.number,
            *((self.number + near,) if near and whole else ()),
            *((self.number / 100, 1 - self.number / 100, 100 - self.number) if self.is_percent else ()),
        )


@dataclass(frozen=True, slots=True)
class LimitAsk:
    """How many rows a question asks for. `implied` marks a singular superlative ("the highest"): ties may count."""

    number: int
    text: str
    implied: bool = False


_AROUND: Final = 90
"""Characters around a number that may give it its role."""
_MOST_NUMBERS: Final = 150
_NUMBER: Final = re.compile(
    rf"""(?<![\w./:\#])(?<![A-Za-z]-)(?P<sign>-(?=\d))?(?P<money>[$€£¥])?
    (?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?(?P<scale>(?:{SCALE_WORD}|k|mn?|bn)(?![\w/])))?
       (?![A-Za-z0-9_]*\d*(?<=[A-Za-z])\d)(?![/:]\d)(?!-[A-Z])(?!\.\d)
      |(?P<words>(?:(?:an?\s+)(?=(?:{SCALE_WORD})\b))?(?:{NUMBER_WORD}|{SCALE_WORD})(?:[\s-]+(?:and\s+)?(?:{NUMBER_WORD}|{SCALE_WORD}))*\b)
      |(?P<times>once|twice|thrice)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_TOP_HYPHEN: Final = re.compile(r"\b(top|first|last|bottom|best)-(?=\d|[a-z])", re.IGNORECASE)

_NOT_EST: Final = "(?!(?:inter|requ|t|w|for|gu|cont|harv|r|n|p|arr|inv|sugg|man|prot|qu|ch|dig|mod|hon|v)est\\b)"
SUPERLATIVE: Final = rf"(?:most|least|top|best|worst|fewest|{_NOT_EST}\w+est)"
_TIME: Final = r"(?:second|sec|minute|min|hour|day|night|week|weekend|month|quarter|year|decade|centur(?:y|ie))s?"
_ROWS: Final = r"(?:results?|rows?|records?|entries|entry|items?|documents?|lines?|hits?|answers?)"
_SHAPE: Final = (
    r"(?:decimals?|decimal\s+(?:places?|points?)|digits?|places\s+after|columns?|fields?|characters?|letters?|words?|"
    r"significant\s+\w+)"
)
_ASK: Final = (
    r"(?:list|show|give|return|display|find|get|retrieve|fetch|print|output|select|report|provide|name|identify|pick|"
    r"keep|take|include|tell|see|need|want)"
)
_ASKED: Final = (
    rf"(?:^|[.!?;:,]\s*|\b(?:and|please|to|then|only|i|can\s+you|could\s+you)\s+){_ASK}(?:\s+(?:me|us|back|out|for))*"
)
_MORE: Final = (
    r"(?:more|greater|higher|larger|bigger|longer|taller|older|heavier|later|better|faster|newer|above|over|up)"
)
_FEWER: Final = r"(?:fewer|less|lower|smaller|shorter|younger|lighter|earlier|slower|cheaper|worse|below|under)"

_BEFORE: Final = tuple(
    (re.compile(rf"(?:{pattern})(?:\s+(?:the|a|an|only|just|about|around))?\s*$", re.IGNORECASE), operator)
    for operator, pattern in (
        (
            "$gte",
            r"\bgreater\s+(?:than\s+)?or\s+equal\s+to|\bmore\s+than\s+or\s+equal\s+to|\bat\s+(?:the\s+very\s+)?least",
        ),
        ("$gte", r"\b(?:no|not)\s+(?:fewer|less|lower|smaller|younger|shorter|earlier)\s+than|\bminimum(?:\s+of)?"),
        ("$gte", r"\bmin\.?(?:\s+of)?|\bsince|\bstarting\s+(?:from|at|in)|>=|≥|=>|\bfrom\s+at\s+least"),
        ("$lte", r"\b(?:less|fewer|lower|smaller)\s+(?:than\s+)?or\s+equal\s+to|\bat\s+(?:the\s+very\s+)?most"),
        ("$lte", rf"\b(?:no|not)\s+{_MORE}\s+than|\bmaximum(?:\s+of)?|\bmax\.?(?:\s+of)?|\bup\s+to|\buntil|\bwithin"),
        ("$lte", r"\bnot\s+exceed(?:ing)?|\bcapped\s+at|<=|≤|=<"),
        ("$gt", rf"\b{_MORE}\s+than|\bover|\babove|\bexceed(?:s|ing|ed)?|\bbeyond|\bsurpass(?:es|ing|ed)?|\bafter"),
        ("$gt", r"\b(?:wid|tall|strong|deep|rich|dens|warm|hott|cold|thick)er\s+than|(?<![<=])>(?!=)"),
        (
            "$lt",
            rf"\b{_FEWER}\s+than|\bunder|\bbelow|\bbefore|\bprior\s+to|\b(?:narrow|thinn|weak|poor)er\s+than|<(?!=)",
        ),
        ("$eq", r"\bexactly|\bequals?(?:\s+to)?|\bequal\s+to|\bprecisely|(?<![<>=!])={1,2}"),
    )
)
_AFTER: Final = tuple(
    (re.compile(rf"^\s*(?:%|percent)?(?:\s+(?!or\b|and\b)\w+){{0,2}}?\s*(?:{pattern})(?!\w)", re.IGNORECASE), operator)
    for operator, pattern in (
        ("$gte", rf"(?:\bor|\band)\s+{_MORE}\b(?!\s+than)|\bplus\b"),
        ("$lte", rf"(?:\bor|\band)\s+{_FEWER}\b(?!\s+than)"),
    )
)
_PLUS: Final = re.compile(r"^\+(?!\s*\d)")
_BETWEEN: Final = re.compile(
    r"\bbetween\s+(?:the\s+\w+\s+)?$|\bfrom\s+$|\brang(?:e|es|ing)\s+(?:from|of)\s+$", re.IGNORECASE
)
_SECOND: Final = re.compile(r"^\s*(?:%|percent)?\s*(?:and|to|through|until|till|-|–|—)\s*$", re.IGNORECASE)
_ONLY_WITH_ROLE: Final = frozenset({"one", "once", "twice", "thrice", "hundred", "thousand", "million", "dozen"})

_LEFT_LIMITS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\bat\s)(?<!\bthe\svery\s)\b(?:top|first|last|bottom|{SUPERLATIVE})(?:\s+(?:most|ranked|ranking))?\s+$",
        r"\blimit(?:ed|ing)?(?:\s+\w+){0,5}?\s+(?:to|at|of|by)(?:\s+(?:at\s+most|a\s+maximum\s+of|the|only|just|top|first))*\s+$",
        r"\blimit(?:ed)?\s*(?::|=|to)?\s*$",
        r"\b(?:only|just)\s+the\s+(?:top|first|last)\s+$",
    )
)
_CAPS: Final = r"(?:at\s+most|up\s+to|no\s+more\s+than|not\s+more\s+than|(?:an?\s+)?max(?:imum)?(?:\s+of)?)"
_CAPPED: Final = re.compile(rf"\b{_CAPS}\s+$", re.IGNORECASE)
_ASKED_CAP: Final = re.compile(
    rf"{_ASKED}(?:\s+(?:the|a|any|only|just|all|results?|list|out))*\s+{_CAPS}\s+$", re.IGNORECASE
)
_CLAUSE_CAP: Final = re.compile(
    r"[,;.]\s*(?:and\s+)?(?:with\s+|to\s+)?(?:up\s+to|(?:an?\s+)?max(?:imum)?(?:\s+of)?)\s+$", re.IGNORECASE
)
_ASKED_COUNT: Final = re.compile(rf"{_ASKED}(?:\s+(?:only|just|exactly|the|any|some|all))*\s+$", re.IGNORECASE)
_THE: Final = re.compile(r"\b(?:the|which|what)\s+$", re.IGNORECASE)
_WHICH_N: Final = re.compile(r"\b(?:which|what)\s+$", re.IGNORECASE)
_MOST: Final = re.compile(rf"(?<!\bat\s)\b{SUPERLATIVE}\b", re.IGNORECASE)
_FIGURES: Final = r"(?:counts?|numbers?|totals?|sums?|averages?|values?|figures?|shares?|ratios?|percentages?)"
_OF_ALL: Final = re.compile(rf"^(?:\s+[\w-]+){{0,6}}?\s+(?:{SUPERLATIVE})\b", re.IGNORECASE)
_WITH_MOST: Final = re.compile(
    rf"^(?:\s+[\w-]+){{1,3}}?\s+(?:with|having|that|which|who|whose)\b(?:\s+[\w-]+){{0,5}}?\s+(?<!\bat\s){SUPERLATIVE}\b",
    re.IGNORECASE,
)
_OPENS: Final = re.compile(r"(?:^|[.!?:]\s|\b(?:the|which|what)\s)\s*$", re.IGNORECASE)
_RANKED: Final = re.compile(
    rf"(?<!\bat\s)(?<!\bthe\svery\s)\b(?:top|bottom|(?!(?:lat|earli|new|old)est\b){SUPERLATIVE})\s+$", re.IGNORECASE
)
_SUPER_NEXT: Final = re.compile(rf"^(?:\s+\w+)?\s+{SUPERLATIVE}\b", re.IGNORECASE)
_END: Final = re.compile(r"^\s*(?:[.,;!?)]|$)")


def numbers_of(text: str) -> tuple[NumberTerm, ...]:
    """Return every number of a text with its role, in order of appearance."""
    plain = _TOP_HYPHEN.sub(lambda m: f"{m[1]} ", mask_wholes(text))
    terms: list[NumberTerm] = []
    for match in islice(_NUMBER.finditer(plain), _MOST_NUMBERS):
        term = _classify(plain, text, match, terms[-1] if terms else None)
        if term is None:
            continue
        if terms and term.role is NumberRole.THRESHOLD and _closes_range(plain, terms[-1], term):
            terms[-1] = replace(terms[-1], role=NumberRole.THRESHOLD, operator="$gte")
        terms.append(term)
    return tuple(terms)


def thresholds_of(text: str) -> tuple[NumberTerm, ...]:
    """Return the numbers that a text compares something with: "at least 40", "over 1,000", "between 3 and 5"."""
    return tuple(n for n in numbers_of(text) if n.role is NumberRole.THRESHOLD)


def limits_of(text: str) -> tuple[LimitAsk, ...]:
    """Return every explicit number of rows that a text asks for, in order of appearance."""
    return tuple(LimitAsk(int(n.number), n.text) for n in numbers_of(text) if n.role is NumberRole.LIMIT)


def limit_of(text: str) -> LimitAsk | None:
    """Return how many rows a question asks for, or None.

    The first explicit number stands ("top ten", "only the first 8 entries"); without one, a singular superlative
    ("which hero has the most powers?") is an implied limit of one row.
    """
    return next(iter(limits_of(text)), None) or _implied(text)


def left_of(text: str, end: int, width: int = _AROUND) -> str:
    """Return the stretch before a place, bounded; what was cut off cannot be taken for the start of the text."""
    return text[:end] if end <= width else f"_ {text[end - width : end]}"


def _classify(text: str, said_text: str, match: re.Match[str], before: NumberTerm | None) -> NumberTerm | None:
    number, start, end = _value(match), match.start(), match.end()
    left, right = left_of(text, start), text[end : end + _AROUND]
    percent = re.match(r"\s*(?:%|percent\b|per\s+cent\b)", right, re.IGNORECASE)
    unit = "%" if percent else match["money"] or _unit(right)
    operator, said = _comparison(left, right, text, start, end, before)
    role = _role(number, match, left, right, bool(percent), operator)
    bare = match[0].casefold() in _ONLY_WITH_ROLE
    if role is None or (bare and role is NumberRole.PLAIN):
        return None
    words = (
        said
        if role is NumberRole.THRESHOLD
        else _limit_words(said_text, start, end)
        if role is NumberRole.LIMIT
        else ""
    )
    kept = operator if role is NumberRole.THRESHOLD else ""
    return NumberTerm(number, words or match[0].strip(), role, start, end, kept, unit, bool(percent))


def _role(
    number: float, match: re.Match[str], left: str, right: str, is_percent: bool, operator: str
) -> NumberRole | None:
    if re.match(r"^(?:st|nd|rd|th)\b|^[A-Za-z_]*\d|^[A-Za-z]{3,}", right):
        return None
    if _counts_rows(number, match, is_percent=is_percent) and _is_ranked(left, right):
        return NumberRole.LIMIT
    if re.match(rf"^[\s-]+{_SHAPE}\b", right, re.IGNORECASE):
        return NumberRole.FORMAT
    if _is_limit(number, match, left, right, is_percent):
        return NumberRole.LIMIT
    if operator:
        return NumberRole.THRESHOLD
    if re.match(rf"^[\s-]+{_TIME}\b", right, re.IGNORECASE):
        return NumberRole.DURATION
    return NumberRole.PLAIN


def _counts_rows(number: float, match: re.Match[str], *, is_percent: bool) -> bool:
    """Tell whether a number can be one of rows: whole, no share, no money and no year."""
    is_year = bool(re.match(r"\d{4}$", match[0])) and 1900 <= number <= 2199
    return number >= 1 and number == int(number) and not is_percent and not match["money"] and not is_year


def _is_ranked(left: str, right: str) -> bool:
    """Tell whether a number counts what is ranked, whatever its noun: "which three words are the most common"."""
    sentence = re.split(r"[.?!]\s", right)[0]
    if right.startswith("-"):
        return False
    if re.match(r"^\s+[^\W\d]", right) and _RANKED.search(left):
        return not re.match(r"^\s+(?:decimals?|significant)\b", right, re.IGNORECASE)
    if _WHICH_N.search(left) and not re.match(r"^\s+(?:is|are|was|were|has|have|or|and)\b", right):
        return bool(_MOST.search(sentence))
    return bool(_OPENS.search(left) and _WITH_MOST.match(sentence))


def _is_limit(number: float, match: re.Match[str], left: str, right: str, is_percent: bool) -> bool:
    if number != int(number) or number < 1 or is_percent or match["money"]:
        return False
    if re.match(rf"^[\s-]+{_TIME}\b", right, re.IGNORECASE):
        return False
    rows = re.match(rf"^(?:\s+\w+){{0,2}}?\s+{_ROWS}\b", right, re.IGNORECASE)
    if any(pattern.search(left) for pattern in _LEFT_LIMITS):
        return True
    if _CAPPED.search(left):
        ended = _CLAUSE_CAP.search(left) and _END.match(right)
        return bool(rows or _ASKED_CAP.search(left) or ended)
    if (
        re.match(r"\d{4}$", match[0])
        and 1900 <= number <= 2199
        and not re.match(rf"^\s+{_ROWS}\b", right, re.IGNORECASE)
    ):
        return False
    if _SUPER_NEXT.match(right) and not re.match(r"^\s+(?:is|are|was|were|has|have|or|and)\b", right):
        return True
    sentence = re.split(r"[.?!]\s", right)[0]
    if (_THE.search(left) and _OF_ALL.match(sentence)) or (_WHICH_N.search(left) and _MOST.search(sentence)):
        return True
    asked = number > 1 and _ASKED_COUNT.search(left) and re.match(r"^\s+[^\W\d]", right)
    return bool(asked and not re.match(rf"^\s+(?:\w+\s+)?{_FIGURES}\b", right, re.IGNORECASE))


def _comparison(left: str, right: str, text: str, start: int, end: int, before: NumberTerm | None) -> tuple[str, str]:
    """The operator that the words around a number give it, and those words with it."""
    for pattern, operator in _BEFORE:
        if found := pattern.search(left):
            return operator, f"{left[found.start() :]}{text[start:end]}".strip()
    if before is not None and _SECOND.match(text[before.end : start]):
        lead = left_of(text, before.start)
        opened = _BETWEEN.search(lead)
        dashed = re.match(r"^\s*[-–—]\s*$", text[before.end : start]) and before.number < text_number(text[start:end])
        if opened or dashed:
            return "$lte", f"{lead[opened.start() :] if opened else ''}{text[before.start : end]}".strip()
    if _PLUS.match(right):
        return "$gte", text[start : end + 1]
    for pattern, operator in _AFTER:
        if found := pattern.match(right):
            return operator, text[start : end + found.end()].strip()
    return "", ""


def _closes_range(text: str, first: NumberTerm, second: NumberTerm) -> bool:
    return (
        second.operator == "$lte"
        and first.role is NumberRole.PLAIN
        and bool(_SECOND.match(text[first.end : second.start]))
    )


def _limit_words(text: str, start: int, end: int) -> str:
    lead = re.search(r"(?:[\w-]+\s+){0,3}$", left_of(text, start))
    return " ".join(f"{lead[0] if lead else ''}{text[start:end]}".split())


def _unit(right: str) -> str:
    found = re.match(r"^[\s-]*([^\W\d_]+|[°€£¥]\w?)", right)
    return (
        found[1].casefold() if found and found[1].casefold() not in {"or", "and", "to", "of", "in", "on", "by"} else ""
    )


def _value(match: re.Match[str]) -> float:
    if match["digits"]:
        number = float(match["digits"].replace(",", "")) * SCALES.get((match["scale"] or "").casefold(), 1)
        number = -number if match["sign"] else number
        return int(number) if number == int(number) else number
    return text_number(match["words"] or match["times"])


_SPREAD: Final = re.compile(
    r"\b(?:each|every|per)\b|\b(?:high|low|larg|small|great|old|new|long|short|lat|earli)est\s+(?:to|first)\b", re.I
)
_WHICH: Final = re.compile(
    rf"\b(?:which|what)\s+(?P<noun>\w+)(?:\s+(?!has\b|had\b|is\b|was\b)\w+){{0,3}}?\s+(?:has|had|is|was|got|scored|won|holds|"
    rf"received|earned|made|hosted|sold|with)\b[^.?!]*?\b(?:the\s+)?(?P<best>{SUPERLATIVE})\b",
    re.IGNORECASE,
)
_WHO: Final = re.compile(
    rf"\bwho\s+(?:has|had|is|was|got|scored|won|holds|\w+ed)\b[^.?!]*?\bthe\s+(?P<best>{SUPERLATIVE})\b", re.I
)
_NAMED: Final = re.compile(
    rf"(?:{_ASKED}|\b(?:what|which|who)\s+(?:is|was)|\bwhat's)\s+(?:\w+\s+of\s+)?the\s+(?:single\s+|one\s+|second\s+|third\s+)?"
    rf"(?P<best>{SUPERLATIVE})(?P<rest>(?:\s+[\w-]+){{0,2}})",
    re.IGNORECASE,
)


def _implied(text: str) -> LimitAsk | None:
    if _SPREAD.search(text):
        return None
    for pattern in (_WHICH, _WHO, _NAMED):
        found = pattern.search(text)
        if found and not _names_many(found):
            return LimitAsk(1, found[0].strip(" ,.;:"), implied=True)
    return None


def _names_many(found: re.Match[str]) -> bool:
    """Whether the noun that a superlative speaks of is plural, or the superlative is no such thing ("at least")."""
    groups = found.groupdict()
    if re.search(r"\bat\s+(?:the\s+)?(?:least|most)\b", found[0], re.IGNORECASE):
        return True
    if noun := groups.get("noun"):
        return is_plural(noun.casefold())
    rest = (groups.get("rest") or "").casefold().split()
    wanted = rest[1:2] if found["best"].casefold() in {"most", "least"} else rest[:1]
    return any(is_plural(word) for word in wanted)
