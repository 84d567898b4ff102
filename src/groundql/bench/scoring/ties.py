"""Rows that a gold's sort keys leave tied: they may come either way, also where a limit cuts through them.

The gold is run a second time with its sort keys carried along to the end and its last limit moved out, which shows
where ties begin and end, and which rows the limit might as well have kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from groundql.bench.scoring.canonical import Record, canonical
from groundql.bench.scoring.forms import Forms
from groundql.bench.scoring.order import Decided, decided_order, operator_of
from groundql.core.program import MqlProgram, Stage

KEYS: Final = "groundql_sort_keys"
BEYOND: Final = 1000
"""How many rows beyond a limit are looked at; a tie that goes on for longer is known so far."""

_AFTER_LIMIT: Final = frozenset({
    "$project", "$addFields", "$set", "$unset", "$replaceRoot", "$replaceWith", "$lookup", "$graphLookup",
})  # fmt: skip
"""Stages that give one row for one row, so that a limit before them may as well stand behind them."""


@dataclass(frozen=True, slots=True)
class Ties:
    """How far a gold's order is decided.

    Shape: `blocks` are the lengths of its runs of tied rows, in order; `pool` holds all rows of the last run, those
    beyond a limit included, and is empty when the limit cuts no tie.
    """

    blocks: tuple[int, ...]
    pool: tuple[Record, ...] = ()


def untied(rows: int, *, ordered: bool) -> Ties:
    """Say that order is decided in full, or not at all."""
    if not ordered:
        return Ties((rows,) if rows else ())
    return Ties((1,) * rows)


def tie_probe(program: MqlProgram) -> MqlProgram | None:
    """Build the program that shows a gold's ties; None where order has nothing to decide or cannot be followed."""
    order, stages = decided_order(program.stages), program.stages
    limit = _last_limit(stages, order)
    if order.keys is None or (not order.is_ordered and limit is None):
        return None
    carried: list[Stage] = []
    for index, stage in enumerate(stages):
        moved = _widened(stage) if index == limit else stage
        kept = _carrying(moved) if index >= order.since else moved
        if kept is None:
            return None
        carried.append(kept)
    return MqlProgram(program.container, (*carried[: order.since], _keys(order), *carried[order.since :]))


def _last_limit(stages: Sequence[Stage], order: Decided) -> int | None:
    """Find the one limit behind the sort behind which only whole rows are reshaped."""
    limits = [i for i in range(order.since, len(stages)) if operator_of(stages[i]) == "$limit"]
    if len(limits) != 1 or any(operator_of(stage) not in _AFTER_LIMIT for stage in stages[limits[0] + 1 :]):
        return None
    return limits[0]


def _widened(stage: Stage) -> Stage:
    size = stage["$limit"]
    return {"$limit": int(size) + BEYOND} if isinstance(size, int | float) else stage


def _keys(order: Decided) -> Stage:
    return {"$set": {KEYS: [{"$ifNull": [f"${key}", None]} for key in order.keys or ()]}}


def _carrying(stage: Stage) -> Stage | None:
    """Let a stage carry the sort keys on; None where it cannot."""
    operator = operator_of(stage)
    body = stage[operator]
    if operator == "$project":
        return {operator: {**body, KEYS: 1}} if _is_inclusion(body) else stage
    if operator == "$replaceRoot":
        return {operator: {"newRoot": {"$mergeObjects": [body["newRoot"], {KEYS: f"${KEYS}"}]}}}
    if operator == "$replaceWith":
        return {operator: {"$mergeObjects": [body, {KEYS: f"${KEYS}"}]}}
    return None if operator == "$redact" else stage


def _is_inclusion(body: Mapping[str, Any]) -> bool:
    deciding = [value for name, value in body.items() if name != "_id"] or list(body.values())
    return any(not isinstance(value, bool | int | float) or value for value in deciding)


def read_ties(gold: Sequence[Record], probed: Sequence[Record], *, ordered: bool) -> Ties | None:
    """Read the ties off the rows of a probe; None when they are not the gold's rows."""
    if not gold or len(probed) < len(gold) or any(KEYS not in record for record in probed):
        return None
    keys = [record[KEYS] for record in probed]
    rows = [{name: value for name, value in record.items() if name != KEYS} for record in probed]
    forms = Forms.over(keys)
    runs = _runs([forms.form(key) for key in keys], len(gold))
    start, end = sum(runs[:-1]), sum(runs)
    blocks = (*runs[:-1], len(gold) - start)
    if not _are_the_same(gold, rows, blocks, end):
        return None
    pool = tuple(rows[start:end]) if end > len(gold) else ()
    return Ties(blocks if ordered or pool else (len(gold),), pool)


def _runs(keys: Sequence[object], needed: int) -> list[int]:
    """Measure the runs of equal keys, up to the end of the one in which the last needed row stands."""
    starts = [0, *(i + 1 for i, (one, other) in enumerate(pairwise(keys)) if one != other), len(keys)]
    runs = [after - start for start, after in pairwise(starts)]
    total = 0
    for count, run in enumerate(runs, start=1):
        total += run
        if total >= needed:
            return runs[:count]
    return runs


def _are_the_same(gold: Sequence[Record], rows: Sequence[Record], blocks: Sequence[int], end: int) -> bool:
    start = 0
    for index, length in enumerate(blocks):
        stop = end if index == len(blocks) - 1 else start + length
        wanted = Counter(canonical(cast("Any", record)) for record in gold[start : start + length])
        if not wanted <= Counter(canonical(cast("Any", record)) for record in rows[start:stop]):
            return False
        start += length
    return True
