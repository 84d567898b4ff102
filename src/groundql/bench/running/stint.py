"""Begin a run or go on with one: hold its folder, keep its manifest, and let the runner work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from groundql.bench.case import Case
from groundql.bench.prediction import Prediction
from groundql.bench.running.budget import Spending
from groundql.bench.running.calls import OpenModel
from groundql.bench.running.journal import Journal
from groundql.bench.running.manifest import (
    Manifest,
    new_manifest,
    new_stint,
    now_text,
    read_manifest,
    write_manifest,
)
from groundql.bench.running.plan import Plan, Terms, differences, tasks_of
from groundql.bench.running.progress import Board
from groundql.bench.running.runner import Halt, Hosts, Runner, Solve, solve_plainly
from groundql.core.budget import Budget
from groundql.core.ports import Solver
from groundql.core.rows import Limits
from groundql.errors import InputError
from groundql.grounding.grounder import CatalogGrounder


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run works with. `listen` is told how far it is, each time that a task is finished."""

    hosts: Hosts
    solvers: Mapping[str, Solver]
    open_model: OpenModel
    solve: Solve = solve_plainly
    listen: Callable[[Board], None] | None = None
    remark: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a stint ended: where the run stands, and what stopped it, if anything."""

    board: Board
    halt: Halt | None


async def work_on(
    folder: Path, plan: Plan, fingerprint: str, cases: Sequence[Case], terms: Terms, parts: Parts
) -> Ended:
    """Work on a run until it is finished or stopped. What earlier stints finished is not done again.

    `cases` are the suite's that the plan is about; a run that began before has its own, which are picked from them.
    Raises: InputError when another process has the folder, or when what was begun there differs; OSError.
    """
    with Journal(folder) as journal:
        stored = read_manifest(folder)
        manifest = new_manifest(plan, fingerprint, [c.id for c in cases])
        if stored and (journal.done or stored.made_with == manifest.made_with):
            manifest = _continued(stored, manifest, folder)
        if journal.repaired and parts.remark:
            parts.remark(
                f"{journal.repaired} damaged lines were taken out of the predictions; their tasks are done again"
            )
        stint = _Stint(folder, manifest.with_stint(new_stint(terms)), parts)
        chosen = set(manifest.cases)
        return await stint.run(journal, [c for c in cases if c.id in chosen], terms)


def _continued(stored: Manifest, fresh: Manifest, folder: Path) -> Manifest:
    """Go on with what is stored.

    Raises: InputError when it was made with something else.
    """
    changed = differences(stored.made_with, fresh.made_with)
    gone = [f"{name}: there when it began, gone now" for name in stored.made_with.keys() - fresh.made_with.keys()]
    if changed or gone:
        raise InputError(
            f"{folder} was begun differently: {'; '.join([*changed, *gone][:5])}",
            hint="go on with what it was begun with, or choose another folder for a new run",
        )
    return stored


@dataclass(slots=True)
class _Stint:
    """One stint at work."""

    folder: Path
    manifest: Manifest
    parts: Parts

    async def run(self, journal: Journal, cases: Sequence[Case], terms: Terms) -> Ended:
        plan = self.manifest.plan
        tasks = tasks_of(cases, plan.solvers, plan.repeats)
        keys = {task.key for task in tasks}
        done = [prediction for key, prediction in journal.done.items() if key in keys]
        board, spending = Board.of(tasks, done), Spending(terms.budget_usd, terms.budget_tokens)
        spending.count(done)
        self._write(board)
        runner = self._runner(journal, spending, board, terms)
        halt: Halt | None = None
        stopped = "interrupted"
        try:
            halt = await runner.run(tasks)
            stopped = halt.message if halt else ""
        finally:
            self._write(board, ended=now_text(), stopped=stopped)
        return Ended(board, halt)

    def _runner(self, journal: Journal, spending: Spending, board: Board, terms: Terms) -> Runner:
        plan, parts = self.manifest.plan, self.parts
        bounds = plan.bounds

        def done(prediction: Prediction) -> None:
            board.count(prediction)
            if parts.listen:
                parts.listen(board)

        def opened(name: str, grounder: CatalogGrounder) -> None:
            board.begin()
            self._opened(name, grounder)

        return Runner(
            hosts=parts.hosts,
            solvers=parts.solvers,
            open_model=parts.open_model,
            journal=journal,
            spending=spending,
            model=plan.model,
            limits=Limits(**bounds.get("limits", {})),
            budget=Budget(**bounds.get("budget", {})),
            concurrency=terms.concurrency,
            task_timeout_s=plan.task_timeout_s,
            solve=parts.solve,
            on_done=done,
            on_open=opened,
        )

    def _opened(self, name: str, grounder: CatalogGrounder) -> None:
        before = self.manifest.databases.get(name, {}).get("groundings", ())
        self.manifest = self.manifest.with_database(name, grounder)
        write_manifest(self.folder, self.manifest)
        if before and grounder.catalog.fingerprint not in before and self.parts.remark:
            self.parts.remark(f"the data of {name} is not what it was when this run began; both are in the manifest")

    def _write(self, board: Board, *, ended: str = "", stopped: str = "") -> None:
        stint = replace(self.manifest.stints[-1], ended=ended, finished=board.here, stopped=stopped)
        self.manifest = self.manifest.with_stint(stint, last=True)
        write_manifest(self.folder, self.manifest)
