"""Look terms up in the database itself, for paths whose values are not all in the index.

Bounded in number and time; a lookup that fails or takes too long is left out, never an error: it can only make a
witness missing, not a wrong one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bson import Regex

from groundql.core.path import ENTRIES, ITEMS, Path, is_plain
from groundql.core.ports import Database
from groundql.core.program import Admitted, MqlProgram, Stage
from groundql.core.rows import Limits
from groundql.errors import DatabaseError
from groundql.grounding.index import IndexedPath, Location, ValueIndex
from groundql.grounding.terms import Term
from groundql.grounding.words import fold, stems
from groundql.languages.safety import admit

MOST_LOOKUPS: Final = 12
MOST_TERMS: Final = 8
TOTAL_S: Final = 4.0
_ONE: Final = Limits(rows=20, elapsed_s=1.5, read_bytes=200_000)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a lookup came to. `settled` says that every path was asked and answered: what is not found is not there."""

    found: tuple[tuple[Term, tuple[Location, ...]], ...]
    settled: bool


async def look_up(terms: Sequence[Term], index: ValueIndex, database: Database, words: frozenset[str]) -> LookedUp:
    """Look terms up at the incomplete paths whose names the question speaks of, and then at the others.

    First as written and in the usual cases and joinings, which an index of the database can serve; then, while time is
    left, in any case at all.
    """
    paths = _promising(index, words)
    wanted = tuple(terms[:MOST_TERMS])
    found: dict[int, list[Location]] = {}
    settled = len(paths) == sum(not p.complete for p in index.paths) and len(wanted) == len(terms)
    deadline = time.monotonic() + TOTAL_S
    for patterns in (_spellings, _any_case):
        for at in paths:
            open_terms = [t for t in wanted if id(t) not in found]
            if not open_terms or time.monotonic() > deadline:
                settled &= not open_terms
                break
            answer = await _look_at(at, [p for t in open_terms for p in patterns(t)], database)
            settled &= answer is not None
            for location in answer or ():
                for term in open_terms:
                    if fold(str(location.stored)) in {fold(text) for text in (term.text, *term.forms)}:
                        found.setdefault(id(term), []).append(location)
    return LookedUp(tuple((t, tuple(found[id(t)])) for t in wanted if id(t) in found), settled)


def lookup_stages(path: Path, is_key: bool, patterns: Sequence[object]) -> tuple[Stage, ...]:
    """Return the stages that count the values (or keys) at a path that are among some texts or patterns."""
    steps, stages, dotted = path.steps, list[Stage](), [s for s in path.steps if s is not ITEMS]
    if not is_key and all(isinstance(s, str) and is_plain(s) and not s.startswith("$") for s in dotted):
        stages.append({"$match": {path.dotted: {"$in": list(patterns)}}})
    value: Any = "$$ROOT"
    for step in steps:
        if isinstance(step, str):
            value = _field(value, step)
            continue
        stages.extend(_unwound(_entries(value) if step is ENTRIES else value))
        value = "$x.v" if step is ENTRIES else "$x"
    if is_key:
        stages.extend(_unwound(_entries(value)))
        value = "$x.k"
    stages.append({"$project": {"_id": 0, "x": value}})
    stages.append({"$match": {"x": {"$in": list(patterns)}}})
    stages.append({"$group": {"_id": "$x", "n": {"$sum": 1}}})
    return (*stages, {"$limit": _ONE.rows})


def _promising(index: ValueIndex, words: frozenset[str]) -> tuple[IndexedPath, ...]:
    """The incomplete paths, those first whose names share words with the question."""
    incomplete = (p for p in index.paths if not p.complete)
    ranked = sorted(
        incomplete,
        key=lambda p: (-len(words & set(stems(f"{p.container} {p.path}"))), len(p.path), p.container, str(p.path)),
    )
    return tuple(ranked[:MOST_LOOKUPS])


async def _look_at(at: IndexedPath, patterns: Sequence[object], database: Database) -> tuple[Location, ...] | None:
    """What is stored at a path of what was asked for; None when the database gave no answer."""
    admitted = admit(MqlProgram(at.container, lookup_stages(at.path, at.is_key, patterns)))
    if not isinstance(admitted, Admitted):
        return None
    try:
        rows = await database.execute(admitted, _ONE)
    except DatabaseError:
        return None
    return tuple(Location(at, r["_id"], _count(r)) for r in rows.records if isinstance(r.get("_id"), str))


def _count(record: Mapping[str, Any]) -> int:
    return int(record.get("n") or 0)


def _spellings(term: Term) -> tuple[object, ...]:
    texts = (term.text, *term.forms)
    cased = (v for t in texts for v in (t, t.lower(), t.upper(), t.title(), t.capitalize()))
    joined = (v for t in cased for v in (t, "_".join(t.split()), "-".join(t.split())))
    return tuple(dict.fromkeys(joined))


def _any_case(term: Term) -> tuple[object, ...]:
    words = (r"[\s_-]+".join(re.escape(w) for w in fold(t).split()) for t in (term.text, *term.forms))
    return tuple(Regex(f"^{pattern}$", "i") for pattern in words)


def _field(value: Any, name: str) -> Any:
    if isinstance(value, str) and is_plain(name) and not name.startswith("$"):
        return f"${name}" if value == "$$ROOT" else f"{value}.{name}"
    return {"$getField": {"field": {"$literal": name}, "input": value}}


def _entries(value: Any) -> Any:
    nothing: list[Any] = []
    return {"$cond": [{"$eq": [{"$type": value}, "object"]}, {"$objectToArray": value}, nothing]}


def _unwound(value: Any) -> tuple[Stage, Stage]:
    return {"$project": {"_id": 0, "x": value}}, {"$unwind": "$x"}
