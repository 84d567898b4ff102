"""Words of questions and of names: folding, splitting, plural folding, words that mean nothing by themselves."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_BLANKS: Final = re.compile(r"[\s_\-\u2010-\u2015]+")
_HUMPS: Final = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_WORDS: Final = re.compile(r"[^\W_]+")

_STOP = """\
    a about above across after again against all along also although am among an and any are aren't around as at be
    because been before being below between both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each either else ever every for from further get gets give given gives had
    has hasn't have haven't having he her here hers him his how however i i'd i'm if in into is isn't it it's
    its itself just let let's like many may me might mine more most much must my myself need needs neither no
    nor not of off on once only or other others our ours out over own per please same shall she should since so
    some such than that that's the their theirs them then there there's these they this those through to too
    toward under until up upon us use used using very via want wants was wasn't we well were weren't what what's
    when where whether which while who who's whom whose why will with within without won't would wouldn't yes
    yet you your yours"""
_ASKING = """\
    add aggregate answer asc ascending average avg bottom calculate combination combinations compare compute count
    counts data desc descending details determine different display distinct divide entries entry equal exactly
    exclude excluding fetch few fewer fewest field fields filter find first following format greater greatest
    group grouped groups highest identify include includes including indicate indicator information largest last
    least less limit limited list lower lowest max maximum mean median min minimum name number numbers order
    ordered output overall percent percentage present primarily print produce proportion provide query rank
    ranked ranking ratio record recorded records report result results retrieve return returned row rows
    secondarily select separately share show smallest sort sorted sum summary tell then top total totals type
    types unique value values"""
STOP_WORDS: Final = frozenset(_STOP.split())
ASKING: Final = frozenset(_ASKING.split())
"""Words that say what to do with data rather than what is in it."""


def fold(text: str) -> str:
    """Return the form under which texts are the same word: NFKC, case, blanks, underscores, hyphens."""
    if text.isascii():
        return _BLANKS.sub(" ", text.lower()).strip()
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())).strip()


@lru_cache(maxsize=20_000)
def split_words(text: str) -> tuple[str, ...]:
    """Return the lower-case words of an identifier or sentence: humps, digits, underscores, punctuation cut."""
    return tuple(_fold_word(w) for w in _WORDS.findall(_HUMPS.sub(" ", text)))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a form in which an English word and its plural are the same; both sides must be folded to compare."""
    if is_plural(word):
        word = word[:-1]
    if word.endswith("ie") and len(word) > 3:
        return word[:-2] + "y"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> tuple[str, ...]:
    """Return the words of a text with plural endings folded."""
    return tuple(stem(w) for w in split_words(text))


def stem_text(folded: str) -> str:
    """Return a folded text with the plural ending of its last word folded: "dark horses" -> "dark horse"."""
    head, blank, last = folded.rpartition(" ")
    return f"{head}{blank}{stem(last)}"


def is_plural(word: str) -> bool:
    """Tell whether an English word looks plural."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _fold_word(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
