"""How far a run is: what each solver handed in, and the time and money that are left to go."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from groundql.bench.prediction import Prediction
from groundql.bench.running.plan import Task
from groundql.core.budget import Usage


@dataclass(slots=True)
class Tally:
    """What became of one solver's tasks so far. `failures` counts each kind of failure."""

    tasks: int = 0
    handed_in: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    usage: Usage = field(default_factory=Usage)
    elapsed_s: float = 0.0

    @property
    def failed(self) -> int:
        """Tasks that ended without a program."""
        return self.failures.total()

    @property
    def done(self) -> int:
        """Tasks that are finished."""
        return self.handed_in + self.failed

    def count(self, prediction: Prediction) -> None:
        """Take in one finished task."""
        if prediction.failure:
            self.failures[prediction.failure] += 1
        else:
            self.handed_in += 1
        self.usage = self.usage + prediction.usage
        self.elapsed_s += prediction.elapsed_s

    @property
    def left_usd(self) -> float | None:
        """What the rest costs if it costs what the finished ones did; None where that is not known."""
        if not self.done or self.usage.cost_usd is None:
            return None
        return self.usage.cost_usd / self.done * (self.tasks - self.done)


@dataclass(slots=True)
class Board:
    """Keep count of a run. `here` counts the tasks that this stint finished."""

    tallies: dict[str, Tally]
    clock: Callable[[], float] = time.monotonic
    here: int = 0
    began_s: float = 0.0

    @classmethod
    def of(
        cls, tasks: Iterable[Task], done: Iterable[Prediction], clock: Callable[[], float] = time.monotonic
    ) -> Board:
        """Lay out a board for all of a run's tasks, with those that earlier stints finished."""
        tallies: dict[str, Tally] = {}
        for task in tasks:
            tallies.setdefault(task.solver, Tally()).tasks += 1
        board = cls(tallies, clock, began_s=clock())
        for prediction in done:
            if prediction.solver in tallies:
                tallies[prediction.solver].count(prediction)
        return board

    def begin(self) -> None:
        """Start the clock, unless a task was finished already: reading a database is not part of any."""
        if not self.here:
            self.began_s = self.clock()

    def count(self, prediction: Prediction) -> None:
        """Take in a task that was finished now."""
        self.tallies[prediction.solver].count(prediction)
        self.here += 1

    @property
    def total(self) -> int:
        """All tasks of the run."""
        return sum(t.tasks for t in self.tallies.values())

    @property
    def done(self) -> int:
        """Finished tasks, over all stints."""
        return sum(t.done for t in self.tallies.values())

    @property
    def left_s(self) -> float | None:
        """The time to go at this stint's pace, in seconds; None before its first task is finished."""
        if not self.here:
            return None
        return (self.clock() - self.began_s) / self.here * (self.total - self.done)

    def line(self) -> str:
        """Say in one line how far the run is."""
        parts = [f"{self.done:,} of {self.total:,} tasks", *(f"{n}: {_counts(t)}" for n, t in self.tallies.items())]
        return " · ".join([*parts, *self._estimates()])

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per solver, for a table."""
        return [_row(name, tally) for name, tally in self.tallies.items()]

    def _estimates(self) -> list[str]:
        if self.done >= self.total:
            return []
        found = [] if self.left_s is None else [f"about {duration_text(self.left_s)} to go"]
        spent = [t.usage.cost_usd for t in self.tallies.values()]
        left = [t.left_usd for t in self.tallies.values()]
        known = [u for u in spent if u is not None]
        if len(known) == len(spent) and sum(known) > 0:
            more = [u for u in left if u is not None]
            rest = f", about {sum(more):.2f} to go" if len(more) == len(left) else ""
            found.append(f"{sum(known):.2f} USD spent{rest}")
        return found


def duration_text(seconds: float) -> str:
    """Say a duration in the unit that suits it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _counts(tally: Tally) -> str:
    return f"{tally.handed_in:,} handed in" + (f", {tally.failed:,} failed" if tally.failed else "")


def _row(name: str, tally: Tally) -> dict[str, Any]:
    usage = tally.usage
    return {
        "solver": name,
        "tasks": tally.tasks,
        "done": tally.done,
        "handed_in": tally.handed_in,
        "failed": tally.failed,
        "failures": dict(sorted(tally.failures.items())),
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": None if usage.cost_usd is None else round(usage.cost_usd, 4),
        "elapsed_s": round(tally.elapsed_s, 1),
    }
