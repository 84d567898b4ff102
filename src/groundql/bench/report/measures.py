"""The figures of one arm over some tasks: accuracy, F1 and outcomes, each with what it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from groundql.bench.case import CaseId
from groundql.bench.report.reading import Arm
from groundql.bench.report.table import Figure
from groundql.bench.scoring.figures import counted_rows
from groundql.bench.stats.intervals import Interval, bootstrap, by_stratum, wilson
from groundql.bench.stats.mcnemar import Pairing, paired
from groundql.bench.verdict import Bucket, Scored

STRUCTURAL: Final = (Bucket.ORDER_ONLY, Bucket.ROW_SUBSET, Bucket.ROW_SUPERSET)
"""The right rows in the wrong order, or only some of them, or more than them. Source: TEND, outcome decomposition"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What an arm came to under one protocol: shares of `rows` scored rows, and outcomes, which sum to one."""

    rows: int
    correct: int
    exc: Figure
    exf1: Figure
    outcomes: Mapping[Bucket, float]

    @property
    def structural(self) -> float:
        """The share of structural errors."""
        return sum(self.outcomes.get(bucket, 0.0) for bucket in STRUCTURAL)


def measure(arm: Arm, protocol: str, known: Collection[CaseId]) -> Measured:
    """Measure an arm over all rows that count under a protocol."""
    rows = _rows(arm, protocol, known)
    verdicts = [one.verdicts[protocol] for one in rows]
    total, buckets = len(rows), Counter(verdict.bucket for verdict in verdicts)
    graded = by_stratum((one.id.database, one.verdicts[protocol].exf1) for one in rows)
    mean = sum(verdict.exf1 for verdict in verdicts) / total if total else 0.0
    return Measured(
        total,
        buckets[Bucket.CORRECT],
        _share(buckets[Bucket.CORRECT], total),
        Figure.within(mean, bootstrap(graded), total),
        {bucket: buckets[bucket] / total if total else 0.0 for bucket in Bucket},
    )


def accuracy(arm: Arm, protocol: str, cases: Collection[CaseId]) -> Figure | None:
    """Return an arm's accuracy over these cases, as counted under a protocol; None when it was asked none of them."""
    rows = [one for one in _rows(arm, protocol, cases) if one.id in cases]
    if not rows:
        return None
    return _share(sum(one.verdicts[protocol].is_correct for one in rows), len(rows))


def pair(first: Arm, second: Arm, protocol: str, cases: Collection[CaseId]) -> Pairing:
    """Pair two arms over the cases that both were scored on."""
    return paired(correctness(first, protocol, cases), correctness(second, protocol, cases))


def correctness(arm: Arm, protocol: str, cases: Collection[CaseId]) -> dict[CaseId, bool]:
    """Tell for each of these cases whether the last prediction for it is correct."""
    return {
        case: one.verdicts[protocol].is_correct
        for case, one in arm.last.items()
        if case in cases and protocol in one.verdicts
    }


def difference(first: Arm, second: Arm, protocol: str, cases: Collection[CaseId]) -> Figure:
    """Return the first's accuracy less the second's, with an interval that draws pairs within each database."""
    ours, theirs = correctness(first, protocol, cases), correctness(second, protocol, cases)
    gaps = {case: ours[case] - theirs[case] for case in ours if case in theirs}
    mean = sum(gaps.values()) / len(gaps) if gaps else 0.0
    interval = bootstrap(by_stratum((case.database, float(gap)) for case, gap in gaps.items()))
    return Figure.within(mean, interval if gaps else Interval(0.0, 0.0), len(gaps))


def _rows(arm: Arm, protocol: str, known: Collection[CaseId]) -> list[Scored]:
    return [one for one in counted_rows(arm.scored, protocol, known) if protocol in one.verdicts]


def _share(successes: int, of: int) -> Figure:
    return Figure.within(successes / of if of else 0.0, wilson(successes, of), of)
