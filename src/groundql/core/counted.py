"""Numbers with their nouns, in the singular or the plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write how many there are of something: `1 row`, `2,000 rows`, `0 indices` with a plural of its own."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
