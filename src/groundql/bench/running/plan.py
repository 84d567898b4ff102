"""What a run sets out to do, which never changes once it has begun, and the terms it works under, which may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, TypeAlias

from groundql.bench.case import Case
from groundql.bench.prediction import Prediction

Key: TypeAlias = tuple[str, int, str, int]
"""(database, record, solver, repeat): what is done once."""

TASK_TIMEOUT_S: Final = 1200.0
"""Beyond the time that a question's own budget allows its model by default, so that it seldom decides."""


@dataclass(frozen=True, slots=True)
class Task:
    """One solver asked one case once. `repeat` counts reruns of the same from 0."""

    case: Case
    solver: str
    repeat: int = 0

    @property
    def key(self) -> Key:
        """What names it in the journal."""
        return self.case.id.database, self.case.id.record_id, self.solver, self.repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does.

    Shape: `databases` and `limit` are what the suite was narrowed by; `shard` is `1/2` and the like, or empty; `bounds`
    holds the settings `limits`, `budget` and `sampling` as they were when the run began; `llm_batch` names the folder
    through which a batch API is used, or is empty.
    Units: seconds
    """

    suite: str
    solvers: tuple[str, ...]
    model: str
    phrasing: str = "canonical"
    databases: tuple[str, ...] = ()
    limit: int | None = None
    repeats: int = 1
    seed: int | None = None
    shard: str = ""
    task_timeout_s: float = TASK_TIMEOUT_S
    llm_batch: str = ""
    bounds: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "solvers": list(self.solvers), "databases": list(self.databases)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Plan:
        """Read it back; what a later version added is left out."""
        known: dict[str, Any] = {f.name: record[f.name] for f in fields(cls) if f.name in record}
        known |= {name: tuple(known.get(name, ())) for name in ("solvers", "databases")}
        return cls(**known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may differ from one stint of a run to the next.

    Shape: `server` is a connection string, or empty where embedded servers hold the suite's files.
    Units: US dollars and tokens, over the whole run; None means no bound.
    """

    concurrency: int = 1
    budget_usd: float | None = None
    budget_tokens: int | None = None
    server: str = ""


def differences(begun: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Say where what is asked for departs from what was begun, a line for each; what is not asked for agrees."""
    return [
        f"{name}: {_shown(begun.get(name))} when it began, {_shown(value)} now"
        for name, value in asked.items()
        if _plain(value) != _plain(begun.get(name))
    ]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value) or "all"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return "none" if value is None or value == "" else str(value)


def tasks_of(cases: Iterable[Case], solvers: Sequence[str], repeats: int) -> tuple[Task, ...]:
    """List a run's tasks: database by database, so that few are open at a time, and each case by all solvers."""
    by_database: dict[str, list[Case]] = {}
    for case in cases:
        by_database.setdefault(case.id.database, []).append(case)
    return tuple(
        Task(case, solver, repeat)
        for repeat in range(repeats)
        for together in by_database.values()
        for case in together
        for solver in solvers
    )


def key_of(prediction: Prediction) -> Key:
    """Return the key of the task that a prediction is for."""
    return prediction.id.database, prediction.id.record_id, prediction.solver, prediction.repeat
