"""Run golds and predictions as the published evaluator runs them: 30 seconds, no disk-use flag, rows uncut.

Two bounds are ours: what the safety check refuses never runs, and memory ends a result of more than a million rows
or 256 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groundql.bench.scoring.canonical import Record
from groundql.core.finding import Code, Finding
from groundql.core.ports import Database
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.errors import DatabaseDenied, DatabaseError, DatabaseUnreachable, ProgramForbidden
from groundql.languages.safety import admit

LIMITS: Final = Limits(rows=1_000_000, elapsed_s=30.0, read_bytes=256_000_000, disk=False)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a program: its records, or why there are none. `is_forbidden`: it may never run, whoever asks."""

    records: Sequence[Record] = ()
    error: str = ""
    is_forbidden: bool = False
    is_cut: bool = False


async def run(database: Database, program: MqlProgram, limits: Limits = LIMITS) -> Ran:
    """Run a program if the safety check lets it.

    Raises: DatabaseUnreachable and DatabaseDenied, which say nothing about the program.
    """
    admitted = admit(program)
    if isinstance(admitted, Finding):
        return Ran(error=f"not run: {admitted.message}", is_forbidden=admitted.code is Code.FORBIDDEN)
    try:
        rows = await database.execute(admitted, limits)
    except (DatabaseUnreachable, DatabaseDenied):
        raise
    except (DatabaseError, ProgramForbidden) as error:
        return Ran(error=_line(str(error)))
    return Ran(rows.records, is_cut=rows.truncated)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
