"""How many tokens a text costs, without any provider's tokenizer.

Byte-pair vocabularies of current models keep common English words whole, cut longer and rarer words every four to six
letters, take digits by ones to threes, and give each odd punctuation mark its own token. The estimate follows that and
errs high: a card must fit where a real tokenizer counts, and a few per cent of unused room cost nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_PIECES: Final = re.compile(r"[A-Za-z]+|[0-9]+|\n| +|[^\x00-\x7f]+|[^\sA-Za-z0-9]|\s")


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, erring high. The estimate of a whole is the sum over its pieces."""
    return sum(_cost(piece) for piece in _PIECES.findall(text))


@lru_cache(maxsize=20_000)
def _cost(piece: str) -> int:
    first = piece[0]
    if first == " ":
        return 0 if len(piece) == 1 else 1
    if first.isascii():
        if first.isalpha():
            return (len(piece) + 5) // 6
        return (len(piece) + 1) // 2 if first.isdigit() else 1
    return len(piece) if all(ord(c) < 0x3000 for c in piece) else len(piece) * 2
