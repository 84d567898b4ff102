"""Does a question state by what its rows are ordered and cut, as far as the data needs it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.bench.audit.ground import Ground
from groundql.bench.audit.remark import Check, Level, Remark
from groundql.bench.scoring.canonical import canonical
from groundql.bench.scoring.order import decided_order, operator_of
from groundql.bench.scoring.ties import Ties, read_ties, tie_probe
from groundql.core.program import MqlProgram
from groundql.grounding.words import stems
from groundql.languages.flow.literals import as_object

_COUNTED: Final = frozenset(stems("count number total amount frequency many how size"))
_NAMED: Final = frozenset(stems("id identifier code key name number"))
_BETWEEN: Final = frozenset(
    {"$project", "$addFields", "$set", "$unset", "$match", "$lookup", "$unwind", "$replaceRoot"}
)


async def order_remarks(ground: Ground) -> list[Remark]:
    """Name the sort keys that the question does not state and the data needs, and the ties that are left."""
    remarks: list[Remark] = []
    stages = ground.program.stages
    for index, stage in enumerate(stages):
        if operator_of(stage) == "$sort" and isinstance(stage["$sort"], Mapping):
            remarks += await _sort_remarks(ground, index, stages[: _end(stages, index)])
    return list(dict.fromkeys(remarks))


def _end(stages: Sequence[Any], index: int) -> int:
    """Where the part of a pipeline ends whose rows a sort decides: at the limit behind it, or at its own end."""
    for n in range(index + 1, len(stages)):
        operator = operator_of(stages[n])
        if operator == "$limit":
            return n + 1
        if operator not in _BETWEEN:
            return n
    return len(stages)


async def _sort_remarks(ground: Ground, index: int, stages: Sequence[Any]) -> list[Remark]:
    keys = list(cast("Mapping[str, Any]", stages[index]["$sort"]))
    is_last = decided_order(ground.program.stages).stage == index
    cuts = operator_of(stages[-1]) == "$limit"
    if not (is_last or cuts):
        return []
    rows = (await ground.run(stages)).records
    if len(rows) < 2 and not cuts:
        return []
    if not ground.stated.is_ordered:
        what = "cut" if cuts else "ordered"
        return [Remark(Check.ORDER, Level.UNDECIDED, f"nothing says by what rows are {what}", index)]
    hidden = [key for n, key in enumerate(keys) if n and not ground.stated.orders_by(_words(key, ground, index))]
    stated = [key for key in keys if key not in hidden]
    if hidden and (tie := await _tie(ground, index, stages, stated)):
        named = ", ".join(repr(key) for key in hidden)
        return [Remark(Check.TIE, Level.UNDECIDED, f"{tie}, which only {named} decides, and that is not stated", index)]
    left = await _tie(ground, index, stages, keys)
    if left:
        level = Level.UNDECIDED if "limit" in left else Level.NOTE
        return [Remark(Check.CUT if "limit" in left else Check.TIE, level, f"{left}, which nothing decides", index)]
    return []


async def _tie(ground: Ground, index: int, stages: Sequence[Any], keys: Sequence[str]) -> str:
    """Say which tie these sort keys leave in the data; nothing when they leave none."""
    sort = {key: stages[index]["$sort"][key] for key in keys}
    program = MqlProgram(ground.program.container, (*stages[:index], {"$sort": sort}, *stages[index + 1 :]))
    probe = tie_probe(program)
    if probe is None:
        return ""
    rows, probed = (await ground.run(program.stages)).records, await ground.run(probe.stages)
    ties = None if probed.error else read_ties(rows, probed.records, ordered=True)
    return _described(ties, rows) if ties else ""


def _described(ties: Ties, rows: Sequence[Mapping[str, Any]]) -> str:
    if ties.pool and len({canonical(row) for row in ties.pool}) > 1:
        return f"the limit cuts through {len(ties.pool)} rows of equal rank"
    start = 0
    for size in ties.blocks:
        if len({canonical(row) for row in rows[start : start + size]}) > 1:
            return f"rows {start + 1} to {start + size} are of equal rank"
        start += size
    return ""


def _words(key: str, ground: Ground, index: int) -> frozenset[str]:
    """The words by which a question may name a sort key: its own, its path's, and the names it has elsewhere."""
    words = set(stems(key))
    stages = ground.program.stages
    for read in ground.claims.reads:
        if read.role == "sort" and read.place.stage == index and read.text.lstrip("$") == key:
            words |= set(stems(f"{read.path or ''} {read.note.removeprefix('from ')}"))
    for stage in stages:
        words |= {w for name in _aliases(operator_of(stage), stage, key) for w in stems(name)}
    if words & _COUNTED or _counts(stages, key):
        words |= _COUNTED
    if key == "_id" or key.startswith("_id."):
        words |= _NAMED if not _is_grouped(stages[:index]) else set(_group_words(stages[:index], key))
    return frozenset(words - {"id"} if _is_grouped(stages[:index]) else words)


def _aliases(operator: str, stage: Mapping[str, Any], key: str) -> Iterator[str]:
    """Names given to a key, and what a key is a name for."""
    if operator not in ("$project", "$addFields", "$set", "$group"):
        return
    for name, value in cast("Mapping[str, Any]", stage[operator]).items():
        if value == f"${key}":
            yield name
        elif name == key or (isinstance(value, Mapping) and key.startswith(f"{name}.")):
            yield from references(value)


def references(value: Any) -> Iterator[str]:
    """Yield the paths that an expression reads, as written, without their dollars."""
    if isinstance(value, str) and value.startswith("$"):
        yield value.lstrip("$")
    elif isinstance(value, Mapping):
        for part in cast("Mapping[str, Any]", value).values():
            yield from references(part)
    elif isinstance(value, list | tuple):
        for part in cast("Sequence[Any]", value):
            yield from references(part)


def _counts(stages: Sequence[Any], key: str) -> bool:
    return any(
        bool(
            {"$sum", "$size", "$count"}
            & set(as_object((as_object(stage.get(operator_of(stage))) or {}).get(key)) or {})
        )
        for stage in stages
    )


def _is_grouped(stages: Sequence[Any]) -> bool:
    return any(operator_of(stage) in ("$group", "$bucket", "$sortByCount", "$bucketAuto") for stage in stages)


def _group_words(stages: Sequence[Any], key: str) -> Iterator[str]:
    for stage in stages:
        spec = as_object(stage[operator_of(stage)])
        source: Any = spec.get("_id", spec.get("groupBy")) if spec else stage[operator_of(stage)]
        for text in references(source):
            yield from stems(text)
        if isinstance(source, Mapping):
            yield from (w for name in cast("Mapping[str, Any]", source) for w in stems(name))
