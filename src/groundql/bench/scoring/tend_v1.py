"""The published protocol, to the letter: rows in, verdict out.

Source: TEND, sections on EXC, EXF1 and outcome buckets
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundql.bench.scoring.buckets import bucket_of_rows, row_f1
from groundql.bench.scoring.canonical import Numbering, Record, Row
from groundql.bench.scoring.matching import BETA, match_in_any_order, match_in_order
from groundql.bench.scoring.overrun import CALLS, overruns
from groundql.bench.verdict import Bucket, Verdict


@dataclass(frozen=True, slots=True)
class Rules:
    """What of the protocol can be turned: the surplus `beta`, and whether to stop one row beyond the gold's.

    `row_cap` is the later version of the published evaluator; its figures are not comparable with the earlier one's.
    """

    beta: float = BETA
    row_cap: bool = False
    calls: int = CALLS


def judge(gold: Sequence[Record], predicted: Sequence[Record], *, ordered: bool, rules: Rules = Rules()) -> Verdict:
    """Judge the rows of a prediction that ran; `ordered` says whether the gold's order counts."""
    numbering = Numbering()
    wanted = numbering.rows(gold)
    exceeds = rules.row_cap and len(predicted) > len(gold)
    given = numbering.rows(predicted[: len(gold) + 1] if exceeds else predicted)
    graded = row_f1(wanted, given)
    if exceeds:
        return Verdict(Bucket.ROW_COUNT_EXCEEDED, graded, f"more than {len(gold)} rows")
    if not ordered and overruns(wanted, given, rules.beta, rules.calls):
        return Verdict(Bucket.NO_SUBMISSION, 0.0, f"the published matching recurses {rules.calls} deep on these rows")
    if is_match(wanted, given, ordered=ordered, beta=rules.beta):
        return Verdict(Bucket.CORRECT, graded)
    return Verdict(bucket_of_rows(wanted, given), graded)


def is_match(gold: Sequence[Row], predicted: Sequence[Row], *, ordered: bool, beta: float = BETA) -> bool:
    """Tell whether the rows match: by position where order counts, else one to one in any order."""
    match = match_in_order if ordered else match_in_any_order
    return match(gold, predicted, beta)
