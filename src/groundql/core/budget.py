"""What a question may cost and what it did cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from groundql.core.counted import counted
from groundql.errors import BudgetExhausted


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens, time and money spent.

    Units: tokens as the provider counts them (`cached_tokens` are part of `prompt_tokens`), seconds waiting for the
    model and at the database, US dollars; `cost_usd` is None when a price is unknown.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_s: float = 0.0
    database_s: float = 0.0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.model_s + other.model_s,
            self.database_s + other.database_s,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one question may spend; None means no bound.

    Units as in `Usage`; `elapsed_s` is the time since the first call, in seconds.
    """

    calls: int | None = 40
    elapsed_s: float | None = 900.0
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class Meter:
    """Add up what is spent and refuse a call once the budget is used up."""

    budget: Budget = Budget()
    spent: Usage = field(default_factory=Usage)
    began_s: float | None = None

    @property
    def left_s(self) -> float | None:
        """The time left for model calls, in seconds; None without a bound."""
        if self.budget.elapsed_s is None:
            return None
        began_s = time.monotonic() if self.began_s is None else self.began_s
        return began_s + self.budget.elapsed_s - time.monotonic()

    def add(self, usage: Usage) -> None:
        """Record what a call cost."""
        self.spent = self.spent + usage

    def require(self) -> None:
        """Pass if another model call may be made.

        Raises: BudgetExhausted naming the bound that is reached.
        """
        budget, spent = self.budget, self.spent
        if self.began_s is None:
            self.began_s = time.monotonic()
        if self.left_s is not None and self.left_s <= 0:
            raise self.out_of_time()
        if budget.calls is not None and spent.calls >= budget.calls:
            raise BudgetExhausted(f"budget of {counted(budget.calls, 'model call')} is spent")
        if budget.tokens is not None and spent.prompt_tokens + spent.completion_tokens >= budget.tokens:
            raise BudgetExhausted(f"budget of {counted(budget.tokens, 'token')} is spent")
        if budget.cost_usd is not None and (spent.cost_usd or 0.0) >= budget.cost_usd:
            raise BudgetExhausted(f"budget of {budget.cost_usd} USD is spent")

    def out_of_time(self) -> BudgetExhausted:
        """Say that the time for one question is over, and how to allow more."""
        return BudgetExhausted(
            f"the budget of {self.budget.elapsed_s or 0:g} s for one question is spent",
            hint="use a faster model, or raise the setting budget.elapsed_s (GROUNDQL_BUDGET_ELAPSED_S)",
        )
