"""How many tokens a text costs, without any provider's tokenizer.

Byte-pair vocabularies of current models take a word with the mark or blank before it as one piece, cut longer and rarer
words every five letters or so, and digits one by one (the dearest of the ways in use). A tenth is added on top: a card
must fit where a real tokenizer counts, and unused room costs little.

Source: measured on fifteen cards of five databases against the vocabulary of Qwen2.5-Coder: 1.02 to 1.19 times its
count. Vocabularies that take digits by threes count less.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LETTERS: Final = 5
_PIECES: Final = re.compile(
    r"[^\sA-Za-z0-9\x80-\U0010ffff]?[A-Za-z]+|[0-9]|\n| +|[^\x00-\x7f]+|[^\sA-Za-z0-9\x80-\U0010ffff]{1,3}|\s"
)
_HUMP: Final = re.compile(r"(?<=[a-z])[A-Z]")


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, erring high. The lines of a text cost together what they cost alone."""
    return -(-11 * sum(map(_cost, _PIECES.findall(text))) // 10)


@lru_cache(maxsize=20_000)
def _cost(piece: str) -> int:
    first = piece[0]
    if first == " ":
        return 0 if len(piece) == 1 else 1
    if not first.isascii():
        return sum(1 if ord(c) < 0x3000 else 2 for c in piece)
    if not piece[-1].isalpha():
        return 1
    letters = len(piece) - (not first.isalpha())
    return -(-letters // _LETTERS) + len(_HUMP.findall(piece))
