"""The stages that group rows, in as many steps as the metrics' grains need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from groundql.core.path import Path
from groundql.errors import InputError
from groundql.semantic.measuring import UNION, Measure, Slot
from groundql.semantic.scope import Expr

Stages: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Keys:
    """What to group by: expressions by column name, and which of them may be missing."""

    by_name: Mapping[str, Expr]
    nullable: frozenset[str] = frozenset()

    def parts(self) -> dict[str, Expr]:
        """The keys as fields of a group's id, where a missing one would tell itself from null."""
        return {k: {"$ifNull": [e, None]} if k in self.nullable else e for k, e in self.by_name.items()}


def homes_of(measures: Iterable[Measure], rows: Sequence[Path]) -> list[frozenset[Path]]:
    """List the grains coarser than the rows that metrics belong to, finest first.

    Raises: InputError where two metrics belong to things of which neither holds the other.
    """
    coarser = {m.home for m in measures} - {frozenset(rows)}
    ordered = sorted(coarser, key=len, reverse=True)
    for finer, coarse in pairwise(ordered):
        if not coarse < finer:
            first, second = (max(map(str, home), key=len) for home in (finer, coarse))
            raise InputError(
                f"metrics per {first} and per {second} would multiply each other here; ask for one at a time"
            )
    return ordered


def group_rows(keys: Keys, measures: Sequence[Measure], rows: Sequence[Path], marks: Mapping[Path, Expr]) -> Stages:
    """Group rows, and name the columns.

    `marks` tell the items of one hop apart within a document. A metric that belongs to something coarser than the rows
    is first brought down to one contribution for each such thing.
    """
    slots = [slot for m in measures for slot in m.slots]
    grain = {slot.name: m.home for m in measures for slot in m.slots}
    stages: Stages = []
    key_parts, mark_parts = keys.parts(), {"document": "$_id", **{_mark(rows, hop): e for hop, e in marks.items()}}
    mark_names = {name: _free(name, keys.by_name) for name in mark_parts}
    for home in homes_of(measures, rows):
        wanted = ["document", *(_mark(rows, hop) for hop in rows if hop in home)]
        finer = [slot for slot in slots if grain[slot.name] > home]
        coarser = [slot for slot in slots if slot not in finer and not isinstance(slot.row, int)]
        fields = {**_joined(finer), **{slot.name: {"$first": slot.row} for slot in coarser}}
        group_id = {**key_parts, **{mark_names[name]: mark_parts[name] for name in wanted}}
        stages += [{"$group": {"_id": group_id, **fields}}, *_unions(finer)]
        slots = [replace(slot, row=f"${slot.name}") if slot.name in fields else slot for slot in slots]
        key_parts = {k: f"$_id.{k}" for k in key_parts}
        mark_parts = {name: f"$_id.{mark_names[name]}" for name in mark_parts}
    first = key_parts if stages else keys.by_name
    only = next(iter(first.values()), None) if len(first) <= 1 else key_parts
    stages.append({"$group": {"_id": only, **_joined(slots)}})
    return [*stages, *_unions(slots), {"$project": _columns(keys, measures)}]


def _joined(slots: Iterable[Slot]) -> dict[str, Any]:
    return {slot.name: {"$push" if slot.join == UNION else slot.join: slot.row} for slot in slots}


def _unions(slots: Iterable[Slot]) -> Stages:
    united: dict[str, Any] = {
        slot.name: {
            "$reduce": {"input": f"${slot.name}", "initialValue": [], "in": {"$setUnion": ["$$value", "$$this"]}}
        }
        for slot in slots
        if slot.join == UNION
    }
    return [{"$set": united}] if united else []


def _columns(keys: Keys, measures: Sequence[Measure]) -> dict[str, Any]:
    alone = len(keys.by_name) == 1
    columns = {name: "$_id" if alone else f"$_id.{name}" for name in keys.by_name}
    hidden = {} if "_id" in columns else {"_id": 0}
    return {**hidden, **columns, **{m.name: m.result for m in measures}}


def _mark(rows: Sequence[Path], hop: Path) -> str:
    return f"item{rows.index(hop) + 1}"


def _free(name: str, taken: Iterable[str]) -> str:
    return _free(name + "_", taken) if name in taken else name
