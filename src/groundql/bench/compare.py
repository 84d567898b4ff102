"""Compare two arms on the same tasks: who is right where, and is the difference more than chance?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from groundql.bench.case import CaseId, Suite
from groundql.bench.report.measures import correctness, difference, pair
from groundql.bench.report.reading import Arm, Run, agreed_suite
from groundql.bench.report.table import Figure
from groundql.bench.stats.mcnemar import Pairing
from groundql.bench.verdict import PROTOCOLS
from groundql.errors import InputError


@dataclass(frozen=True, slots=True)
class Flip:
    """A task that only one of two arms got right under a protocol."""

    id: CaseId
    protocol: str
    right: str
    question: str
    outcome: str

    def to_record(self) -> dict[str, Any]:
        """Write it as one flat row; `outcome` is the bucket of the arm that is wrong."""
        return {
            "db_id": self.id.database, "record_id": self.id.record_id, "protocol": self.protocol,
            "right": self.right, "other": self.outcome, "question": self.question,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms under one protocol, the first seen as the one that wins or loses."""

    first: str
    second: str
    protocol: str
    pairing: Pairing
    difference: Figure

    def to_record(self) -> dict[str, Any]:
        """Write it as one flat row; shares to 4 places."""
        gap = self.difference
        return {
            "first": self.first, "second": self.second, "protocol": self.protocol, "tasks": self.pairing.tasks,
            "both": self.pairing.both, "wins": self.pairing.wins, "losses": self.pairing.losses,
            "neither": self.pairing.neither, "difference": round(gap.value, 4), "low": round(gap.low, 4),
            "high": round(gap.high, 4), "p": float(f"{self.pairing.p:.4g}"),
        }  # fmt: skip


def require_same_tasks(runs: Sequence[Run]) -> str:
    """Return the suite that runs answer.

    Raises: InputError when they answer different suites, other records of one, or no task in common.
    """
    name = agreed_suite(runs)
    if not set[CaseId].intersection(*(run.cases for run in runs)):
        raise InputError("the runs have no task in common", hint="compare runs over the same databases")
    return name


def compare(first: Arm, second: Arm, suite: Suite) -> tuple[list[Comparison], list[Flip]]:
    """Compare two arms by every protocol that both were scored by."""
    cases = {case.id for case in suite.cases}
    comparisons, flips = list[Comparison](), list[Flip]()
    for protocol in PROTOCOLS:
        pairing = pair(first, second, protocol, cases)
        if pairing.tasks:
            gap = difference(first, second, protocol, cases)
            comparisons.append(Comparison(first.name, second.name, protocol, pairing, gap))
            flips += _flips(first, second, protocol, suite)
    return comparisons, flips


def _flips(first: Arm, second: Arm, protocol: str, suite: Suite) -> Iterator[Flip]:
    cases = {case.id for case in suite.cases}
    ours, theirs = correctness(first, protocol, cases), correctness(second, protocol, cases)
    for case in suite.cases:
        if case.id in ours and case.id in theirs and ours[case.id] != theirs[case.id]:
            right, wrong = (first, second) if ours[case.id] else (second, first)
            outcome = wrong.last[case.id].verdicts[protocol].bucket.value
            yield Flip(case.id, protocol, right.name, case.question.text, outcome)
