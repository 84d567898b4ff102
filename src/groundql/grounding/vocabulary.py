"""Whether the keys of an object are a vocabulary that is also stored as values somewhere.

{bad, good, neutral} beside a field that holds "Good", "Bad" and "Neutral" is keyed by that field's values. Words meet
by chance, so one single path must hold most of the keys, and either the keys make up a fair part of what that path
holds, or they are many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

MOST_KEYS: Final = 200
LEAST_HITS_SHARE: Final = 0.6
LEAST_COVER_SHARE: Final = 0.3
MANY_KEYS: Final = 10


class Vocabulary:
    """The strings stored in a database, path by path."""

    def __init__(self, columns: Sequence[Collection[str]] = ()) -> None:
        self._columns = [column for column in columns if column]
        self._texts: set[str] = set()
        self._texts.update(*self._columns)

    def covers(self, keys: Collection[str]) -> bool:
        """Tell whether keys are stored as the values of one path."""
        some = list(keys)[:MOST_KEYS]
        forms = [found for key in some if (found := [f for f in key_forms(key) if f in self._texts])]
        least = LEAST_HITS_SHARE * len(some)
        return len(forms) >= least and any(_holds(column, forms, least) for column in self._columns)


def _holds(column: Collection[str], forms: Sequence[Sequence[str]], least: float) -> bool:
    hits = sum(any(form in column for form in found) for found in forms)
    return hits >= least and (hits >= MANY_KEYS or hits >= LEAST_COVER_SHARE * len(column))


def key_forms(key: str) -> Iterator[str]:
    """Yield the forms in which a key's text may be stored as a value: as it is, spaced, capitalised."""
    spaced = key.replace("_", " ")
    yield from dict.fromkeys((key, spaced, key.title(), spaced.title(), spaced.capitalize(), key.upper(), key.lower()))
