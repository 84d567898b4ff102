"""Probes: what the rows that came back say about the program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bson import ObjectId

from groundql.checking.asking import ask_rows
from groundql.checking.funnel import Funnel, first_empty_stage
from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.ports import Env
from groundql.core.program import Comparison, MqlProgram, Place, ReadStatus
from groundql.grounding.fence import fence_value

VALUES_SHOWN: Final = 8
SHAPING: Final = frozenset({"$group", "$project", "$addFields", "$set", "$replaceRoot", "$replaceWith", "$bucket"})
"""Stages that make columns; without one, an empty column is an optional field of the documents themselves."""
SYNTHETIC_ID: Final = re.compile(r"^\w+:{1,2}[\w:.-]+$")
ASKS_FOR_ID: Final = re.compile(r"\b(ids?|identifiers?|keys?|_id)\b", re.IGNORECASE)


async def empty_probe(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Say that nothing came back, without looking for the reason."""
    if candidate.rows is None or candidate.rows.records:
        return []
    return [Finding(Code.EMPTY, "the program ran and returned no rows", blocking=False)]


async def bisect_probe(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Find the stage that emptied the result, and the values that stood at its filter.

    Source: the bisection of the SAG solver, made binary, and reading values at the stage itself rather than in the
    base collection.
    """
    program, rows = candidate.program, candidate.rows
    if rows is None or rows.records or not isinstance(program, MqlProgram) or not program.stages:
        return []
    funnel = await first_empty_stage(program, env)
    if funnel is None:
        return await empty_probe(candidate, grounding, env)
    return [await _emptied(program, candidate, funnel, env)]


async def _emptied(program: MqlProgram, candidate: Candidate, funnel: Funnel, env: Env) -> Finding:
    stage = funnel.stage
    operator = next(iter(program.stages[stage]), "")
    seen = await _values_at(program, stage, candidate, env) if operator == "$match" else []
    before = _reaching(funnel.before)
    return Finding(
        Code.EMPTY,
        "removes every row",
        Place(stage, operator),
        evidence="; ".join([before, *seen, *_nothing_counted(program)]),
        nearest=(),
        blocking=False,
    )


def _reaching(rows: int | None) -> str:
    if rows is None:
        return "an unknown number of rows reach it"
    return "1 row reaches it" if rows == 1 else f"{rows} rows reach it"


def _nothing_counted(program: MqlProgram) -> list[str]:
    """A count of nothing is no row instead of a zero: said only where it happened."""
    return ["a count of nothing gives no row, which means 0"] if "$count" in program.stages[-1] else []


async def _values_at(program: MqlProgram, stage: int, candidate: Candidate, env: Env) -> list[str]:
    """Read, at the stage itself, what the fields of its filter hold."""
    names: dict[str, None] = {}
    for c in candidate.claims.comparisons:
        if c.place.stage == stage and c.is_filter and c.read.status is not ReadStatus.ABSENT:
            names.setdefault(_dotted(c), None)
    lines: list[str] = []
    for name in list(names)[:3]:
        values = await _distinct_at(program, stage, name, env)
        if values is not None:
            lines.append(f"{name} holds there: {', '.join(values) if values else 'nothing'}")
    return lines


def _dotted(comparison: Comparison) -> str:
    return comparison.read.text.lstrip("$")


async def _distinct_at(program: MqlProgram, stage: int, name: str, env: Env) -> list[str] | None:
    prefix = program.stages[:stage]
    rows = await ask_rows(
        MqlProgram(
            program.container,
            (
                *prefix,
                {"$limit": 20_000},
                {"$group": {"_id": f"${name}", "n": {"$sum": 1}}},
                {"$sort": {"n": -1, "_id": 1}},
                {"$limit": VALUES_SHOWN},
            ),
        ),
        env,
    )
    return None if rows is None else [f"{_short(row.get('_id'))} ({row['n']})" for row in rows]


def _short(value: Any) -> str:
    return fence_value(value, 60)


async def null_column_probe(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Name the columns that are null or missing in every row."""
    if candidate.rows is None or not candidate.rows.records or not candidate.claims.operators & SHAPING:
        return []
    records = candidate.rows.records
    names = dict.fromkeys((*candidate.rows.columns, *(candidate.claims.outputs or ())))
    return [
        Finding(
            Code.NULL_COLUMN,
            f"column {name!r} is null or missing in every one of {len(records)} rows",
            path=name,
            nearest=_alternatives(name, records),
            blocking=False,
        )
        for name in names
        if name != "_id" and all(record.get(name) is None for record in records)
    ]


def _alternatives(name: str, records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Where the same name can be read instead: usually below a group's `_id`."""
    first = records[0].get("_id")
    return (f"_id.{name}",) if isinstance(first, dict) and name in first else ()


async def leaked_id_probe(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Name an `_id` column that is a stored identifier nobody asked for."""
    rows = candidate.rows
    if rows is None or not rows.records or ASKS_FOR_ID.search(grounding.question.text):
        return []
    if not _is_stored_id(candidate) or not all(_is_synthetic(record.get("_id")) for record in rows.records):
        return []
    return [
        Finding(
            Code.LEAKED_ID,
            "the rows carry the stored _id, which the question does not ask for",
            path="_id",
            evidence=f"for instance {_short(rows.records[0].get('_id'))}",
            nearest=('{"$project": {"_id": 0, ...}} at the end',),
            blocking=False,
        )
    ]


def _is_stored_id(candidate: Candidate) -> bool:
    """Whether the `_id` that comes out is the documents' own: a group's key is the answer, not a leak."""
    makers = ("$group", "$bucket", "$bucketAuto", "$sortByCount")
    return not (candidate.claims.operators & frozenset(makers)) and "_id" in (candidate.claims.outputs or ("_id",))


def _is_synthetic(value: object) -> bool:
    return isinstance(value, ObjectId) or (isinstance(value, str) and SYNTHETIC_ID.match(value) is not None)


async def multiplied_probe(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Note that several unwinds or joins multiply each other before a count or a sum."""
    claims = candidate.claims
    if candidate.rows is None or not claims.operators & {"$group", "$count", "$sortByCount"}:
        return []
    roots = list(dict.fromkeys(_independent(candidate)))
    if len(roots) < 2:
        return []
    return [
        Finding(
            Code.ROWS_MULTIPLIED,
            f"{' and '.join(roots)} are unwound side by side: each row stands once for every pair, and sums repeat",
            claims.multiplies[-1].place,
            evidence=f"{len(roots)} independent unwinds",
            blocking=False,
        )
    ]


def _independent(candidate: Candidate) -> Iterable[str]:
    """The unwound places that do not lie below another unwound place."""
    reads = [r for r in candidate.claims.multiplies if r.path is not None]
    for read in reads:
        others = [o for o in reads if o is not read and o.path != read.path]
        if not any(
            read.path and o.path and (read.path.starts_with(o.path) or o.path.starts_with(read.path)) for o in others
        ):
            yield str(read.path)
