"""The exact McNemar test: do two solvers that answered the same questions differ in how many are correct?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Pairing:
    """How two solvers did on the questions that both were asked.

    Shape: `wins` only the first got right, `losses` only the second; `both` and `neither` say nothing about which is
    better.
    """

    both: int
    wins: int
    losses: int
    neither: int

    @property
    def tasks(self) -> int:
        """How many questions were paired."""
        return self.both + self.wins + self.losses + self.neither

    @property
    def difference(self) -> float:
        """The first's accuracy less the second's. Units: a share; 0 where nothing was paired."""
        return (self.wins - self.losses) / self.tasks if self.tasks else 0.0

    @property
    def p(self) -> float:
        """The exact two-sided p of McNemar's test."""
        return mcnemar(self.wins, self.losses)


def mcnemar(wins: int, losses: int) -> float:
    """Return the exact two-sided p for so many pairs decided either way.

    Twice the smaller tail of a fair coin's binomial, at most 1; 1 without any decided pair.
    Source: TEND, paired tests
    """
    decided = wins + losses
    tail = sum(comb(decided, k) for k in range(min(wins, losses) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**decided)))


def paired(first: Mapping[Key, bool], second: Mapping[Key, bool]) -> Pairing:
    """Pair verdicts by question; what only one of them was asked is left out."""
    pairs = [(first[key], second[key]) for key in first if key in second]
    return Pairing(pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)),
                   pairs.count((False, False)))  # fmt: skip
