"""How a prediction is judged: one bucket and one graded figure per protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from groundql.bench.case import CaseId

TEND_V1: Final = "tend-v1"
STRICT: Final = "strict"
PROTOCOLS: Final = (TEND_V1, STRICT)


class Bucket(StrEnum):
    """The outcome of a prediction; exactly one holds.

    Source: the outcome decomposition of the TEND paper
    """

    CORRECT = "correct"
    NO_SUBMISSION = "no_submission"
    INVALID = "invalid"
    EXEC_ERROR = "exec_error"
    EMPTY = "empty"
    ORDER_ONLY = "order_only"
    ROW_SUBSET = "row_subset"
    ROW_SUPERSET = "row_superset"
    VALUE_MISMATCH = "value_mismatch"
    ROW_COUNT_EXCEEDED = "row_count_exceeded"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one protocol says of one prediction. Units: `exf1` is a share, 0 to 1."""

    bucket: Bucket
    exf1: float = 0.0
    detail: str = ""

    @property
    def is_correct(self) -> bool:
        """Whether it counts towards execution accuracy (EXC)."""
        return self.bucket is Bucket.CORRECT


@dataclass(frozen=True, slots=True)
class Scored:
    """A prediction's verdicts by protocol. `repeat` as in `Prediction`; rows are None where it did not run.

    `occurrence` counts, from 0, the predictions that one solver handed in for one case and repeat.
    """

    id: CaseId
    solver: str
    verdicts: Mapping[str, Verdict]
    gold_rows: int = 0
    predicted_rows: int | None = None
    repeat: int = 0
    occurrence: int = 0
