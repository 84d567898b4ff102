"""English number words, and what they stand for."""

from __future__ import annotations

import re
from typing import Final

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final = {w: i for i, w in enumerate(_SMALL.split())}
_TENS: Final = {w: 10 * (i + 2) for i, w in enumerate(_LARGE.split())}
SCALES: Final = {
    "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "k": 1_000, "m": 1_000_000, "mn": 1_000_000, "bn": 10**9,
}  # fmt: skip
_TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
NUMBER_WORD: Final = "|".join([*_ONES, *_TENS])
SCALE_WORD: Final = "hundred|thousand|million|billion|trillion|dozen"


def is_number_word(word: str) -> bool:
    """Tell whether a lower-case word is a number, such as "three" or "forty"."""
    return word in _ONES or word in _TENS or word in {"dozen", "hundred", "thousand", "million", "billion"}


def text_number(text: str) -> float:
    """Return the number that digits or English number words stand for; 0 for words that are none."""
    digits = text.replace(",", "").strip(" $€£¥")
    if re.fullmatch(r"-?\d+(?:\.\d+)?", digits):
        return float(digits) if "." in digits else int(digits)
    total = part = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in _TIMES:
            part += _TIMES[word]
        elif word in SCALES:
            part = max(part, 1) * SCALES[word]
            if SCALES[word] >= 1000:
                total, part = total + part, 0
        else:
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return total + part
