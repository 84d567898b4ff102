"""Gather scored runs for a report: the suite they answered, and each solver of each run as one arm."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.case import CaseId, Suite
from groundql.bench.datasets import open_suite
from groundql.bench.prediction import Prediction
from groundql.bench.running.journal import read_predictions
from groundql.bench.running.manifest import Manifest, read_manifest
from groundql.bench.scoring.figures import last_of_each
from groundql.bench.scoring.ledger import read_scores
from groundql.bench.scoring.score import narrowed_to
from groundql.bench.verdict import Scored
from groundql.errors import InputError, LoadError

AUDIT: Final = "audit.jsonl"
UNNAMED: Final = "unknown model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One solver of one run, with its first answer to every task.

    Shape: `name` is unique in a report; `scored` holds the first repeat, duplicates and unknown records included;
    `predictions` is empty for predictions that were not made by a run of ours.
    """

    name: str
    solver: str
    model: str
    folder: Path
    scored: tuple[Scored, ...]
    predictions: Mapping[CaseId, Prediction] = field(default_factory=dict[CaseId, Prediction])

    @property
    def last(self) -> dict[CaseId, Scored]:
        """The last scored prediction for each case, as paired tests take it."""
        return {one.id: one for one in last_of_each(self.scored)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a report is made from.

    Shape: `suite` holds the cases that any arm was scored on; `decidable` tells for audited cases whether the words of
    the question decide its answer; `notes` say what a reader must know about the runs.
    """

    suite: Suite
    arms: tuple[Arm, ...]
    decidable: Mapping[CaseId, bool] = field(default_factory=dict[CaseId, bool])
    notes: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[CaseId, ...]:
        """The ids of the suite's cases, in order."""
        return tuple(case.id for case in self.suite.cases)


@dataclass(frozen=True, slots=True)
class Run:
    """One scored folder. `manifest` is None for predictions from elsewhere."""

    folder: Path
    manifest: Manifest | None
    scores: Sequence[Scored]
    predictions: Mapping[Any, Prediction]

    @property
    def suite_name(self) -> str:
        """The suite it says it answers, or nothing."""
        return self.manifest.plan.suite if self.manifest else ""

    @property
    def cases(self) -> set[CaseId]:
        """The cases it set out to answer, or else those that it was scored on."""
        return set(self.manifest.cases) if self.manifest else {one.id for one in self.scores}


def open_run(folder: Path) -> Run:
    """Read a scored folder.

    Raises: InputError when it is none or was not scored, LoadError for a damaged manifest.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", hint="give the folder of a run, such as runs/a")
    manifest, scores = read_manifest(folder), read_scores(folder)
    if not scores:
        raise InputError(f"{folder} holds no verdicts", hint=f"score it first: groundql bench score {folder}")
    return Run(folder, manifest, scores, read_predictions(folder))


def gather(folders: Sequence[Path], suite: str = "", audits: Sequence[Path] = ()) -> Material:
    """Put scored folders together.

    Raises: InputError when they answer different suites or none is named, LoadError for files of the wrong form.
    """
    runs = [open_run(folder) for folder in folders]
    whole = open_suite(suite or agreed_suite(runs))
    kept = set[CaseId]().union(*(run.cases for run in runs))
    narrowed = narrowed_to(whole, kept)
    if not narrowed.cases:
        raise InputError(f"the verdicts name no task of {whole.name}", hint="name the suite they answer with --suite")
    found = [*audits, *(run.folder / AUDIT for run in runs if (run.folder / AUDIT).is_file())]
    decidable = {case: verdict for file in found for case, verdict in _read_audit(file) if case in whole.golds}
    arms = named_arms(runs)
    return Material(suite=narrowed, arms=arms, decidable=decidable, notes=tuple(_notes(runs, whole, narrowed, arms)))


def agreed_suite(runs: Sequence[Run]) -> str:
    """Return the suite that all runs answer.

    Raises: InputError when they name different ones, or the same one with different records, or none.
    """
    made = {(run.suite_name, run.manifest.fingerprint): run for run in runs if run.manifest}
    if len(made) > 1:
        told = "; ".join(f"{run.folder} answers {name} ({mark[:8]})" for (name, mark), run in made.items())
        raise InputError(f"the runs answer different tasks: {told}", hint="report and compare runs of one suite")
    if not made:
        raise InputError("nothing says which suite these verdicts are of", hint="give it with --suite, such as worlds")
    return next(iter(made))[0]


def named_arms(runs: Sequence[Run]) -> tuple[Arm, ...]:
    """Make an arm of each solver of each run; the model and the run are named where solvers are not enough."""
    arms = [arm for run in runs for arm in _arms(run)]
    solvers = Counter(arm.solver for arm in arms)
    pairs = Counter((arm.solver, arm.model) for arm in arms)
    return tuple(_renamed(arm, solvers[arm.solver], pairs[arm.solver, arm.model]) for arm in arms)


def _arms(run: Run) -> list[Arm]:
    by_solver: dict[str, list[Scored]] = {}
    for one in run.scores:
        if one.repeat == 0:
            by_solver.setdefault(one.solver, []).append(one)
    return [
        Arm(
            name=solver, solver=solver, model=_model(run, solver), folder=run.folder, scored=tuple(scored),
            predictions={p.id: p for p in run.predictions.values() if p.solver == solver and p.repeat == 0},
        )
        for solver, scored in by_solver.items()
    ]  # fmt: skip


def _model(run: Run, solver: str) -> str:
    if run.manifest:
        return run.manifest.plan.model
    return next((p.model for p in run.predictions.values() if p.solver == solver and p.model), UNNAMED)


def _renamed(arm: Arm, alike: int, pairs: int) -> Arm:
    if alike == 1:
        return arm
    return replace(arm, name=f"{arm.solver} · {arm.model if pairs == 1 else arm.folder.name}")


def _read_audit(file: Path) -> Iterable[tuple[CaseId, bool]]:
    """Read which tasks are decidable from what `bench audit --out` wrote; those that could not be run are left out."""
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            record = cast("dict[str, Any]", json.loads(line))
            if record["decidable"] is not None:
                yield CaseId(str(record["db_id"]), int(record["record_id"])), bool(record["decidable"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LoadError(f"{file}: is no audit ({error})", hint="groundql bench audit SUITE --out FILE") from None


def _notes(runs: Sequence[Run], whole: Suite, narrowed: Suite, arms: Sequence[Arm]) -> Iterable[str]:
    for run in runs:
        if run.manifest and run.manifest.fingerprint != whole.fingerprint:
            yield f"{run.folder.name}: the records of {whole.name} have changed since this run was made"
    known = {case.id for case in narrowed.cases}
    gaps: dict[int, list[str]] = {}
    for arm in arms:
        gaps.setdefault(len(known - {one.id for one in arm.scored}), []).append(arm.name)
    for missing, names in gaps.items():
        if missing:
            yield f"{missing} of the {len(known)} tasks are not scored for {', '.join(names)}: their figures lack them"
    if any(one.repeat for run in runs for one in run.scores):
        yield "tasks were asked several times; figures are of the first time, `groundql bench study churn` has the rest"
