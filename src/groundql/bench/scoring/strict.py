"""The strict protocol: rows in, verdict out, without the faults of the published evaluator.

Numbers by size, one column map for all rows, order as far as the gold's sort keys decide it, surplus columns set
aside before a wrong result is sorted into a bucket, and none allowed beside a single column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from groundql.bench.scoring.buckets import f1
from groundql.bench.scoring.canonical import Record
from groundql.bench.scoring.columns import Cells, Column, Pairing, Part, Relation, Search, overlap
from groundql.bench.scoring.forms import Forms, Way, below
from groundql.bench.scoring.ties import Ties, untied
from groundql.bench.verdict import Bucket, Verdict

BETA: Final = 2
"""How many columns a prediction may show beyond the gold's, where the gold has more than one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a prediction is held against: the gold's rows, how far their order counts, which arrays have none."""

    rows: Sequence[Record]
    ties: Ties
    sets: frozenset[Way] = frozenset()

    @staticmethod
    def of(rows: Sequence[Record], *, ordered: bool, sets: frozenset[Way] = frozenset()) -> Wanted:
        """Hold against rows whose order counts in full or not at all."""
        return Wanted(rows, untied(len(rows), ordered=ordered), sets)


def judge(wanted: Wanted, predicted: Sequence[Record], beta: float = BETA) -> Verdict:
    """Judge the rows of a prediction that ran."""
    if not wanted.rows:
        return Verdict(Bucket.ROW_SUPERSET) if predicted else Verdict(Bucket.CORRECT, 1.0)
    if not predicted:
        return Verdict(Bucket.EMPTY)
    pairing = _pair(wanted, predicted)
    problem = _width_problem(pairing, beta)
    if problem:
        return Verdict(Bucket.VALUE_MISMATCH, 0.0, problem)
    if len(predicted) == len(wanted.rows) and (found := Search(pairing, _parts(wanted)).find()) is not None:
        return Verdict(Bucket.CORRECT, 1.0, _renamed(found))
    if wanted.ties.pool:
        pairing = _pair(Wanted.of(wanted.rows, ordered=False, sets=wanted.sets), predicted)
    return _judge_wrong(pairing)


def _pair(wanted: Wanted, predicted: Sequence[Record]) -> Pairing:
    """Lay both results out; the pool of a tie that a limit cuts stands below the gold's own rows."""
    gold_rows = [*wanted.rows, *wanted.ties.pool]
    cells = Cells(Forms.over([*gold_rows, *predicted]))
    gold = cells.table(gold_rows, wanted.sets)
    given = cells.table(predicted)
    modes = {name: below(wanted.sets, name) for name in gold.columns}
    by_mode: dict[frozenset[Way], Mapping[str, Column]] = {frozenset(): given.columns}
    for mode in modes.values():
        if mode not in by_mode:
            by_mode[mode] = {
                name: cells.column([record.get(name) for record in predicted], mode) for name in given.columns
            }
    return Pairing(gold, {name: by_mode[mode] for name, mode in modes.items()}, given)


def _width_problem(pairing: Pairing, beta: float) -> str:
    wanted, given = len(pairing.gold.columns), len(pairing.given.columns)
    if given < wanted:
        return f"{given} of {wanted} columns"
    allowed = beta if wanted > 1 else 0
    return f"{given - wanted} columns too many, {allowed:g} allowed" if given - wanted > allowed else ""


def _parts(wanted: Wanted) -> list[Part]:
    """Lay the gold's runs of tied rows over both results; rows that stand alone are compared side by side."""
    parts, start, length = list[Part](), 0, len(wanted.rows)
    for alone, run in groupby(wanted.ties.blocks, key=lambda block: block == 1):
        relation = Relation.ALIGNED if alone else Relation.EQUAL
        for size in (sum(run),) if alone else run:
            rows = range(start, start + size)
            parts.append(Part(rows, rows, relation))
            start += size
    if wanted.ties.pool:
        parts[-1:] = _with_pool(parts[-1], wanted.ties, length)
    return parts


def _with_pool(last: Part, ties: Ties, length: int) -> list[Part]:
    """Hold the rows of the last run against all that are tied with them, which stand below the gold's rows."""
    start, stop = last.gold.stop - ties.blocks[-1], last.gold.stop
    before = [Part(range(last.gold.start, start), range(last.gold.start, start), last.relation)]
    pool = Part(range(length, length + len(ties.pool)), range(start, stop), Relation.WITHIN)
    return [*(before if start > last.gold.start else ()), pool]


def _judge_wrong(pairing: Pairing) -> Verdict:
    gold, given = pairing.gold.length, pairing.given.length
    relation, bucket = {
        0: (Relation.EQUAL, Bucket.ORDER_ONLY),
        1: (Relation.WITHIN, Bucket.ROW_SUBSET),
        -1: (Relation.AROUND, Bucket.ROW_SUPERSET),
    }[(gold > given) - (gold < given)]
    if Search(pairing, [Part(range(gold), range(given), relation)]).find() is not None:
        return Verdict(bucket, f1(min(gold, given), gold, given))
    return Verdict(Bucket.VALUE_MISMATCH, f1(overlap(pairing), gold, given))


def _renamed(found: Mapping[str, str]) -> str:
    pairs = [f"{name} as {other}" for name, other in found.items() if name != other]
    return f"columns: {', '.join(pairs)}" if pairs else ""
