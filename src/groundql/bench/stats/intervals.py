"""How sure a figure is: Wilson's interval for shares, the bootstrap within databases for means and differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000
"""Enough for bounds that are stable in their third digit, and quick for thousands of tasks."""
SEED: Final = 20260613


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds within which a figure lies with 95 % confidence."""

    low: float
    high: float


def wilson(successes: int, of: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval for a share; 0 to 1 when there is nothing to count.

    Source: Wilson 1927; close to the truth for small counts and shares near 0 and 1
    """
    if of <= 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = successes / of, 1 + z * z / of
    centre = (share + z * z / (2 * of)) / scale
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / scale
    # at either end the bound is exact, which rounding would miss
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    return Interval(low, 1.0 if successes == of else min(1.0, centre + half))


def bootstrap(
    strata: Mapping[str, Sequence[float]],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the percentile interval of a mean, drawing tasks anew within each stratum (database).

    Give differences between two solvers on the same tasks to get a paired interval. The same input and seed give the
    same bounds.
    """
    groups = [list(values) for _, values in sorted(strata.items()) if values]
    total = sum(map(len, groups))
    if not total:
        return Interval(0.0, 0.0)
    random = Random(seed)
    means = sorted(sum(sum(random.choices(g, k=len(g))) for g in groups) / total for _ in range(resamples))
    return Interval(_quantile(means, (1 - confidence) / 2), _quantile(means, (1 + confidence) / 2))


def by_stratum(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Gather values by their stratum."""
    found: dict[str, list[float]] = {}
    for stratum, value in values:
        found.setdefault(stratum, []).append(value)
    return found


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
