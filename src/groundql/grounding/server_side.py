"""Letting the server describe documents that are too large to be pulled: an aggregation per place.

The lattice is built from the outside in. One program per place of objects lists its keys with kinds, counts and ranges;
one per place of arrays lists lengths and the kinds of items. Only these small tables travel. What the keys say
decides at once whether a place is a map, since a program per key of a map would never end; the usual reading of the
lattice then judges again with all that is known below.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groundql.core.catalog import ContainerInfo, Sampling, StopReason
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.core.ports import Database
from groundql.core.program import Admitted, MqlProgram, Stage
from groundql.core.rows import Limits
from groundql.errors import DatabaseError, DatabaseUnreachable
from groundql.grounding.drawing import SamplePolicy
from groundql.grounding.keys import levels_keyed
from groundql.grounding.maps import MapJudge
from groundql.grounding.node import MapKeys, Node, fold
from groundql.grounding.profile import Profiler
from groundql.grounding.tally import as_instant, as_number, name_of_odd
from groundql.languages.safety import admit

MOST_PROGRAMS: Final = 400
MOST_KEYS: Final = 2000
MOST_NAMES: Final = 64
"""A place with more keys of objects or arrays than this is taken for a map: each of them would cost a program."""
LONGEST_EXAMPLE: Final = 60
_NUMBERS: Final = ["int", "long", "double", "decimal"]
_ODD: Final = (math.nan, math.inf, -math.inf)
_SLOTS: Final[Mapping[str, type]] = {
    "int": int,
    "long": int,
    "double": float,
    "decimal": float,
    "string": str,
    "date": dt.datetime,
}


async def describe_on_server(
    database: Database, info: ContainerInfo, policy: SamplePolicy, version: str = ""
) -> tuple[Profiler, Sampling]:
    """Build a container's lattice by aggregations.

    Raises: DatabaseError when the server will not even list the keys of the documents.
    """
    started_s = time.monotonic()
    asking = _Asking(database, info.name, version, started_s + policy.elapsed_s, policy.elapsed_s)
    await asking.choose(policy.server_documents, info.documents)
    root = Node()
    await asking.fill(root)
    profiler = Profiler.of(info, root)
    sampling = Sampling(root.documents, asking.stop, 0.0, asking.read_bytes, time.monotonic() - started_s)
    return profiler, sampling


@dataclass(slots=True)
class _Asking:
    database: Database
    container: str
    version: str
    deadline_s: float
    elapsed_s: float
    stop: StopReason = StopReason.SERVER
    read_bytes: int = 0
    programs: int = 0
    judge: MapJudge = field(default_factory=MapJudge)
    start: tuple[Stage, ...] = ()

    async def choose(self, size: int, documents: int | None) -> None:
        """Fix which documents are described, so that all programs look at the same."""
        if documents is not None and documents <= size:
            return
        rows = await self.run([{"$sample": {"size": size}}, {"$project": {"_id": 1}}])
        self.start = ({"$match": {"_id": {"$in": [row["_id"] for row in rows]}}},)

    async def fill(self, root: Node) -> None:
        """Fill the lattice place by place, until nothing is left or a bound is reached."""
        root.documents = root.objects = await self._count()
        waiting = [(Path(), root, 0)]
        while waiting:
            path, node, levels = waiting.pop(0)
            if self.programs >= MOST_PROGRAMS or time.monotonic() > self.deadline_s:
                node.folded = True
                continue
            try:
                waiting.extend(await self._expand(path, node, levels))
            except DatabaseUnreachable:
                raise
            except DatabaseError:
                if not path.steps:
                    raise
                node.folded = True

    async def _count(self) -> int:
        rows = await self.run([{"$count": "n"}])
        return int(rows[0]["n"]) if rows else 0

    async def _expand(self, path: Path, node: Node, levels: int) -> list[tuple[Path, Node, int]]:
        below: list[tuple[Path, Node, int]] = []
        if node.arrays:
            node.items = await self._items(path, node)
            below.append((path / ITEMS, node.items, 0))
        if node.objects:
            below += await self._keys(path, node, levels)
        return [(p, n, at) for p, n, at in below if n.objects or n.arrays]

    async def _items(self, path: Path, node: Node) -> Node:
        arrays = [*reach(path), {"$match": {"$expr": {"$isArray": "$v"}}}]
        length = {"$size": "$v"}
        grouped = {"_id": None, "n": {"$sum": length}, "low": {"$min": length}, "high": {"$max": length}}
        for row in await self.run([*arrays, {"$group": grouped}]):
            node.slots, node.shortest, node.longest = int(row["n"]), int(row["low"]), int(row["high"])
        items = Node()
        items.documents = node.documents
        for row in await self.run([*reach(path / ITEMS), _grouped({"t": {"$type": "$v"}}, "$v")]):
            _note(items, row)
        return items

    async def _keys(self, path: Path, node: Node, levels: int) -> list[tuple[Path, Node, int]]:
        stages: list[Stage] = [
            *reach(path),
            {"$match": {"$expr": {"$eq": [{"$type": "$v"}, "object"]}}},
            {"$project": {"e": {"$objectToArray": "$v"}}},
            {"$unwind": "$e"},
            _grouped({"k": "$e.k", "t": {"$type": "$e.v"}}, "$e.v"),
            {"$sort": {"n": -1, "_id": 1}},
            {"$limit": MOST_KEYS},
        ]
        rows = await self.run(stages)
        for row in rows:
            child = node.fields.setdefault(str(row["_id"]["k"]), Node())
            _note(child, row)
            child.documents = min(node.documents, child.count())
        deep = sum(1 for child in node.fields.values() if child.objects or child.arrays)
        is_map = bool(path.steps) and (len(rows) >= MOST_KEYS or deep > MOST_NAMES or self.judge.is_map(node, levels))
        if is_map and node.fields:
            fold(node)
            if len(rows) >= MOST_KEYS:
                node.spill(MapKeys).kinds[Kind.OTHER] = 1
            assert node.entries is not None
            node.entries.documents = min(node.documents, node.entries.documents)
            return [(path / ENTRIES, node.entries, max(0, levels - 1))]
        return [(path / key, child, levels_keyed(key)) for key, child in node.fields.items()]

    async def run(self, stages: list[Stage]) -> tuple[Mapping[str, Any], ...]:
        self.programs += 1
        sealed = admit(MqlProgram(self.container, (*self.start, *stages)), self.version)
        if not isinstance(sealed, Admitted):
            raise DatabaseError(sealed.message)
        left_s = max(1.0, min(self.elapsed_s, self.deadline_s - time.monotonic()))
        rows = await self.database.execute(sealed, Limits(rows=MOST_KEYS + 1, elapsed_s=left_s))
        self.read_bytes += rows.read_bytes
        return rows.records


def reach(path: Path) -> list[Stage]:
    """Write the stages that bring what stands at a path into the field `v`, one row for each."""
    stages: list[Stage] = [{"$project": {"_id": 0, "v": "$$ROOT"}}]
    for step in path.steps:
        if step is ITEMS:
            stages += [{"$match": {"$expr": {"$isArray": "$v"}}}, {"$unwind": "$v"}]
            continue
        stages.append({"$match": {"$expr": {"$eq": [{"$type": "$v"}, "object"]}}})
        if step is ENTRIES:
            stages += [
                {"$project": {"v": {"$objectToArray": "$v"}}},
                {"$unwind": "$v"},
                {"$project": {"v": "$v.v"}},
            ]
        else:
            name = {"$literal": step}
            stages.append({"$project": {"v": {"$getField": {"field": name, "input": "$v"}}}})
    return stages


def _grouped(by: Mapping[str, Any], value: str) -> Stage:
    of = {"$type": value}
    # by the order of values NaN lies below every number, so both bounds leave out what is not finite
    finite = {"$and": [{"$in": [of, _NUMBERS]}, {"$gt": [value, -math.inf]}, {"$lt": [value, math.inf]}]}
    ranged = {"$or": [finite, {"$eq": [of, "date"]}]}
    is_short = {
        "$and": [
            {"$eq": [of, "string"]},
            {"$lte": [{"$strLenCP": {"$cond": [{"$eq": [of, "string"]}, value, ""]}}, LONGEST_EXAMPLE]},
        ]
    }
    return {
        "$group": {
            "_id": dict(by),
            "n": {"$sum": 1},
            "low": {"$min": {"$cond": [ranged, value, None]}},
            "high": {"$max": {"$cond": [ranged, value, None]}},
            "example": {"$max": {"$cond": [is_short, value, None]}},
            **{f"odd{at}": {"$sum": {"$cond": [{"$eq": [value, odd]}, 1, 0]}} for at, odd in enumerate(_ODD)},
        }
    }


def _note(node: Node, row: Mapping[str, Any]) -> None:
    """Take in how many values of one kind stand at a place."""
    kind, count = str(row["_id"]["t"]), int(row["n"])
    if kind == "object":
        node.objects += count
    elif kind == "array":
        node.arrays += count
    elif kind != "missing":
        _note_scalars(node, kind, count, row)


def _note_scalars(node: Node, kind: str, count: int, row: Mapping[str, Any]) -> None:
    named = Kind(kind) if kind in frozenset(Kind) else Kind.OTHER
    example = row.get("example")
    if kind == "string" and isinstance(example, str):
        node.tables.setdefault(str, {})[example] = 1
        count -= 1
    low, high = _edge(row.get("low")), _edge(row.get("high"))
    spill = node.spill(_SLOTS.get(kind, object))
    spill.kinds[named] = spill.kinds.get(named, 0) + count
    for at, odd in enumerate(_ODD):
        if seen := int(row.get(f"odd{at}") or 0):
            name = name_of_odd(float, odd)
            spill.odd[name] = spill.odd.get(name, 0) + seen
    if low is not None and high is not None:
        spill.stretch(low)
        spill.stretch(high)


def _edge(value: Any) -> Any:
    return as_instant(value) if isinstance(value, dt.date) else as_number(value)
