"""What a question may cost and what it did cost."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """The most that one question may spend; None means no bound. Units as in `Usage`."""

    calls: int | None = 40
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class Meter:
    """Add up what is spent and refuse a call once the budget is used up."""

    budget: Budget = Budget()
    spent: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        """Record what a call cost."""
        self.spent = self.spent + usage

    def require(self) -> None:
        """Pass if another model call may be made.

        Raises: BudgetExhausted naming the bound that is reached.
        """
        budget, spent = self.budget, self.spent
        if budget.calls is not None and spent.calls >= budget.calls:
            raise BudgetExhausted(f"budget of {budget.calls} model calls is spent")
        if budget.tokens is not None and spent.prompt_tokens + spent.completion_tokens >= budget.tokens:
            raise BudgetExhausted(f"budget of {budget.tokens} tokens is spent")
        if budget.cost_usd is not None and (spent.cost_usd or 0.0) >= budget.cost_usd:
            raise BudgetExhausted(f"budget of {budget.cost_usd} USD is spent")
