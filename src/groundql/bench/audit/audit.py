"""Audit one task, or all tasks of a suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from groundql.bench.audit.across import across_remarks, form_remarks
from groundql.bench.audit.deciding import constant_remarks
from groundql.bench.audit.ground import Ground
from groundql.bench.audit.mutants import Mutant, mutants_of
from groundql.bench.audit.ordering import order_remarks
from groundql.bench.audit.outputs import output_remarks
from groundql.bench.audit.reading import reading_remarks
from groundql.bench.audit.remark import Check, Level, Remark
from groundql.bench.audit.stated import Stated
from groundql.bench.case import Case, CaseId, Gold, Suite
from groundql.bench.hosts import Host
from groundql.bench.scoring.judging import read_gold
from groundql.core.answer import Grounding
from groundql.core.ports import Database
from groundql.core.program import Claims, MqlProgram
from groundql.errors import InputError
from groundql.languages.read import claims_of

MOST_MUTANTS: Final = 40


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit came to for one task.

    Shape: `mutants` counts the wrong programs that were tried, `survivors` are those the data does not tell from the
    gold. `is_decidable` is None where the gold
    gives no rows to judge by.
    """

    id: CaseId
    remarks: tuple[Remark, ...] = ()
    rows: int | None = None
    mutants: int = 0
    survivors: tuple[Mutant, ...] = ()

    @property
    def is_decidable(self) -> bool | None:
        """Whether the question's words decide the answer, as far as can be seen."""
        return not self.reasons if self.rows else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why they do not."""
        return tuple(str(r) for r in self.remarks if r.level is Level.UNDECIDED)

    @property
    def is_sound(self) -> bool:
        """Whether no rule of releases is broken."""
        return not any(r.level is Level.ERROR for r in self.remarks)

    def to_record(self) -> dict[str, Any]:
        """Write it as JSON-ready data, for the audits of a release and the slices of a report."""
        return {
            "record_id": self.id.record_id,
            "db_id": self.id.database,
            "decidable": self.is_decidable,
            "reasons": list(self.reasons),
            "sound": self.is_sound,
            "rows": self.rows,
            "remarks": [
                {"check": r.check.value, "level": r.level.value, "stage": r.stage, "message": r.message}
                for r in self.remarks
            ],
            "mutants": self.mutants,
            "survivors": [str(mutant) for mutant in self.survivors],
        }


@dataclass(slots=True)
class Auditor:
    """Audit the tasks of a suite, one after another, at the databases of a host."""

    suite: Suite
    host: Host
    with_mutants: bool = True
    shared: Mapping[CaseId, Sequence[Remark]] = field(default_factory=dict[CaseId, Sequence[Remark]])

    def __post_init__(self) -> None:
        golds = {case.id: self.suite.golds[case.id] for case in self.suite.cases}
        self.shared = across_remarks({case: (gold, _read(gold)) for case, gold in golds.items()})

    async def audit(self, case: Case) -> Audit:
        """Audit one task."""
        gold = self.suite.golds[case.id]
        async with self.host.use(case.id.database) as database:
            grounding = await (await self.host.grounder(case.id.database)).ground(case.question)
            audit = await audit_task(gold, grounding, database, with_mutants=self.with_mutants)
        return replace(audit, remarks=(*self.shared.get(case.id, ()), *audit.remarks))


async def audit_suite(suite: Suite, host: Host, *, with_mutants: bool = True) -> AsyncIterator[Audit]:
    """Audit every task of a suite, in its order."""
    auditor = Auditor(suite, host, with_mutants)
    for case in suite.cases:
        yield await auditor.audit(case)


async def audit_task(gold: Gold, grounding: Grounding, database: Database, *, with_mutants: bool = True) -> Audit:
    """Audit one task at its database; `grounding` is that of its question, which also gives the words to judge by."""
    program = _read(gold)
    remarks = form_remarks(gold, program)
    if program is None:
        return Audit(gold.id, (*remarks, Remark(Check.RUNS, Level.ERROR, "its program cannot be read")))
    claims = claims_of(program, grounding.catalog)
    ground = Ground(gold, Stated(grounding.question.text), program, claims, grounding, database)
    first = await ground.run(program.stages)
    if first.error or first.is_cut:
        problem = first.error or f"it gives more than {len(first.records):,} rows"
        return Audit(gold.id, (*remarks, Remark(Check.RUNS, Level.ERROR, problem)))
    ground.rows = first.records
    remarks += [*await _execution_remarks(ground), *await reading_remarks(ground)]
    if not ground.rows:
        return Audit(gold.id, tuple(remarks), 0)
    remarks += [*await constant_remarks(ground), *await order_remarks(ground), *output_remarks(ground)]
    audit = Audit(gold.id, tuple(remarks), len(ground.rows))
    return await _with_mutants(audit, ground, claims) if with_mutants else audit


async def _execution_remarks(ground: Ground) -> list[Remark]:
    if not ground.rows:
        return [Remark(Check.EMPTY, Level.ERROR, "its program gives no rows")]
    again = Ground(ground.gold, ground.stated, ground.program, ground.claims, ground.grounding, ground.database)
    second = await again.run(ground.program.stages)
    if second.error or list(second.records) != list(ground.rows):
        level = Level.ERROR if second.error or await ground.differs_from(second.records) else Level.NOTE
        return [Remark(Check.REPEATS, level, "a second run gave other rows, or the same in another order")]
    return []


async def _with_mutants(audit: Audit, ground: Ground, claims: Claims) -> Audit:
    made = list(mutants_of(ground.program, claims, ground.grounding.catalog))[:MOST_MUTANTS]
    survivors = tuple([mutant for mutant in made if not await ground.differs(mutant.stages)])
    remarks = (
        Remark(Check.MUTANT, Level.NOTE, f"the data does not tell it from {mutant}", mutant.stage)
        for mutant in survivors
    )
    return replace(audit, remarks=(*audit.remarks, *remarks), mutants=len(made), survivors=survivors)


def _read(gold: Gold) -> MqlProgram | None:
    try:
        return read_gold(gold.mql)
    except InputError:
        return None
