"""Holm's correction: p-values of a family of comparisons, raised so that the family errs as seldom as one would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")


def holm(values: Mapping[Key, float]) -> dict[Key, float]:
    """Return the adjusted p of each comparison, in the order given.

    Source: Holm 1979
    """
    ordered = sorted(values.items(), key=lambda pair: pair[1])
    adjusted, highest = dict[Key, float](), 0.0
    for rank, (key, value) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * value))
        adjusted[key] = highest
    return {key: adjusted[key] for key in values}
