"""Groups over the items of arrays, where a small model grouped by whole arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.kind import Kind
from groundql.core.path import ITEMS, Path
from groundql.core.program import MqlProgram, Program
from groundql.semantic.ref import field_at


def unwound_groups(program: Program, grounding: Grounding) -> Program:
    """Unwind the arrays that a first `$group` groups by: "the most common tags" speaks of tags, not of their lists."""
    container = grounding.catalog.get(program.container) if isinstance(program, MqlProgram) else None
    if not isinstance(program, MqlProgram) or container is None:
        return program
    at = next((n for n, stage in enumerate(program.stages) if "$group" in stage), None)
    if at is None or any(not {"$match", "$unwind"} & stage.keys() for stage in program.stages[:at]):
        return program
    key = cast("Mapping[str, Any]", program.stages[at]["$group"]).get("_id")
    if not isinstance(key, str) or not key.startswith("$") or key.startswith("$$"):
        return program
    done = {_unwound(stage) for stage in program.stages[:at]}
    missing = tuple({"$unwind": f"${name}"} for name in _arrays_along(key[1:], container) if f"${name}" not in done)
    return replace(program, stages=(*program.stages[:at], *missing, *program.stages[at:]))


def _unwound(stage: Mapping[str, Any]) -> object:
    unwind = stage.get("$unwind")
    return cast("Mapping[str, Any]", unwind).get("path") if isinstance(unwind, Mapping) else unwind


def _arrays_along(name: str, container: Container) -> Iterator[str]:
    """The arrays that a dotted name goes through or ends in, outermost first."""
    path, names = Path(), name.split(".")
    for n, step in enumerate(names, start=1):
        path = path / step
        found = field_at(container, path)
        if found is not None and Kind.ARRAY in found.kind_set and field_at(container, path / ITEMS) is not None:
            yield ".".join(names[:n])
            path = path / ITEMS
