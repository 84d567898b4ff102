"""What an audit of one task works on: the gold as a program, its claims, its rows, and every program run so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from groundql.bench.audit.stated import Stated
from groundql.bench.case import Gold
from groundql.bench.scoring import strict
from groundql.bench.scoring.execute import Ran, run
from groundql.bench.scoring.order import decided_order
from groundql.bench.scoring.sets import unordered_arrays
from groundql.bench.scoring.ties import read_ties, tie_probe, untied
from groundql.core.answer import Grounding
from groundql.core.ports import Database
from groundql.core.program import Claims, MqlProgram
from groundql.core.rows import Limits

LIMITS: Final = Limits(rows=200_000, elapsed_s=30.0, read_bytes=100_000_000, disk=False)
"""What one run of an audit may take; a variant that takes more differs from the gold."""


@dataclass(slots=True)
class Ground:
    """One task at its database. Shape: `rows` are the gold's."""

    gold: Gold
    stated: Stated
    program: MqlProgram
    claims: Claims
    grounding: Grounding
    database: Database
    rows: Sequence[Any] = ()
    ran: dict[str, Ran] = field(default_factory=dict[str, Ran])
    wanted: strict.Wanted | None = None

    async def run(self, stages: Sequence[Any], container: str = "") -> Ran:
        """Run a pipeline on the gold's container, or another; each is run once."""
        program = MqlProgram(container or self.program.container, tuple(stages))
        key = repr((program.container, program.stages))
        if key not in self.ran:
            self.ran[key] = await run(self.database, program, LIMITS)
        return self.ran[key]

    async def differs(self, stages: Sequence[Any]) -> bool:
        """Tell whether a variant of the gold gives other rows under the strict protocol; one that fails does."""
        ran = await self.run(stages)
        if ran.error or ran.is_cut or len(ran.records) != len(self.rows):
            return True
        return await self.differs_from(ran.records)

    async def differs_from(self, records: Sequence[Any]) -> bool:
        """Tell whether rows differ from the gold's under the strict protocol."""
        return not strict.judge(await self._wanted(), records).is_correct

    async def _wanted(self) -> strict.Wanted:
        if self.wanted is None:
            order = decided_order(self.program.stages)
            ties = untied(len(self.rows), ordered=order.is_ordered)
            probe = tie_probe(self.program)
            probed = await self.run(probe.stages) if probe else Ran(error="nothing to probe")
            if not probed.error:
                ties = read_ties(self.rows, probed.records, ordered=order.is_ordered) or ties
            self.wanted = strict.Wanted(self.rows, ties, unordered_arrays(self.program.stages))
        return self.wanted
