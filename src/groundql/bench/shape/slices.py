"""The slices by which figures are broken down: one value per axis for a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from groundql.bench.case import Gold
from groundql.bench.scoring.judging import read_gold
from groundql.bench.shape.complexity import aggregation_depth, join_depth
from groundql.bench.shape.transfer import transfer_level
from groundql.core.path import Hop, Path
from groundql.core.program import Claims, MqlProgram
from groundql.errors import InputError

LABELLED: Final[Mapping[str, str]] = {
    "schema_flex": "schema_flex",
    "anti_sql_labelled": "anti_sql_transfer_level",
    "native_feature_type": "native_feature_type",
    "shape_policy": "shape_policy",
    "difficulty": "difficulty",
    "category": "category",
}
"""Axes whose values are labels of the release, by the label's name."""
_STAGE_STEPS: Final = ((3, "1-3"), (6, "4-6"), (9, "7-9"))
_DEEP: Final = 5
_HOP_NAMES: Final[Mapping[Hop | None, str]] = {Hop.ITEMS: "items", Hop.ENTRIES: "entries", None: "fields"}


def slices_of(gold: Gold, claims: Claims | None = None) -> dict[str, str]:
    """Place a task on every axis that is known for it.

    Shape: axis -> value. `hops` and `depth` need the gold's claims against a catalog; a label that a release does not
    give, and what a gold that cannot be read would say, leave their axes out. What a task exercises is an axis each,
    `exercises NAME`, with the one value yes.
    """
    try:
        program = read_gold(gold.mql)
    except InputError:
        program = None
    return {
        "database": gold.id.database,
        **_labelled(gold.labels),
        **(_formed(program) if program else {}),
        **(_reached(claims) if claims else {}),
    }


def _labelled(labels: Mapping[str, Any]) -> dict[str, str]:
    found = {axis: str(labels[name]) for axis, name in LABELLED.items() if labels.get(name)}
    stressors: Any = labels.get("stressors")
    if isinstance(stressors, list | tuple):
        found |= {f"exercises {name}": "yes" for name in cast("Iterable[Any]", stressors)}
    return found


def _formed(program: MqlProgram) -> dict[str, str]:
    count = len(program.stages)
    return {
        "anti_sql": transfer_level(program).value,
        "join_depth": join_depth(program),
        "aggregation_depth": aggregation_depth(program),
        "stages": next((name for most, name in _STAGE_STEPS if count <= most), "10+"),
    }


def _reached(claims: Claims) -> dict[str, str]:
    paths = [read.path for read in claims.reads if read.path is not None]
    if not paths:
        return {}
    deepest = max(len(path) for path in paths)
    return {"hops": hops_of(paths), "depth": f"{_DEEP}+" if deepest >= _DEEP else str(deepest)}


def hops_of(paths: Iterable[Path]) -> str:
    """Name the kinds of hops that paths take beyond field names: fields, items, entries, or items and entries."""
    kinds = {_HOP_NAMES[hop] for path in paths for hop in path.hops}
    return " and ".join(sorted(kinds, reverse=True)) or _HOP_NAMES[None]
