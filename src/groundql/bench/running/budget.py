"""What a run may spend in all, over its stints, and whether another task may begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from groundql.bench.prediction import Prediction
from groundql.core.budget import Meter, Usage
from groundql.core.counted import counted


@dataclass(slots=True)
class Spending:
    """Add up what finished tasks and those in flight have spent.

    No new task begins once a bound is reached; those in flight are finished, so that nothing is paid for twice. What
    they still spend goes beyond the bound.
    Units: US dollars, tokens; None means no bound.
    """

    budget_usd: float | None = None
    budget_tokens: int | None = None
    _priced: Usage = field(default_factory=Usage)
    _unpriced: Usage = field(default_factory=Usage)
    _watched: list[list[Meter]] = field(default_factory=list[list[Meter]])

    def count(self, predictions: Iterable[Prediction]) -> None:
        """Take in what earlier stints spent."""
        for prediction in predictions:
            self._add(prediction.usage)

    @contextmanager
    def watch(self) -> Iterator[list[Meter]]:
        """Watch the meters that a task puts into the list, as it goes and when it ends, however it ends."""
        meters: list[Meter] = []
        self._watched.append(meters)
        try:
            yield meters
        finally:
            self._watched = [m for m in self._watched if m is not meters]
            for meter in meters:
                self._add(meter.spent)

    @property
    def tokens(self) -> int:
        """Tokens read and written so far."""
        return sum(_tokens(u) for u in self._usages())

    @property
    def usd(self) -> float | None:
        """US dollars so far; what has no known price counts as the rest does, and None means that nothing has one."""
        usages = self._usages()
        known = [u for u in usages if u.cost_usd is not None]
        usd, priced = sum(u.cost_usd or 0.0 for u in known), sum(_tokens(u) for u in known)
        unpriced = self.tokens - priced
        if unpriced and not priced:
            return None
        return usd * (1 + unpriced / priced) if unpriced else usd

    def reached(self) -> str:
        """Say which bound is reached, or nothing."""
        if self.budget_tokens is not None and self.tokens >= self.budget_tokens:
            return f"the run's budget of {counted(self.budget_tokens, 'token')} is spent"
        if self.budget_usd is None:
            return ""
        if self.usd is None:
            return "the price of this model is not known, so that a budget in dollars cannot be kept"
        return f"the run's budget of {self.budget_usd:g} USD is spent" if self.usd >= self.budget_usd else ""

    def _usages(self) -> list[Usage]:
        return [self._priced, self._unpriced, *(meter.spent for meters in self._watched for meter in meters)]

    def _add(self, usage: Usage) -> None:
        if usage.cost_usd is None:
            self._unpriced = self._unpriced + usage
        else:
            self._priced = self._priced + usage


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
