"""Field names in a small model's pipeline, brought to the stored ones where only one can be meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.path import ENTRIES, Path
from groundql.core.program import MqlProgram, Program, ReadStatus
from groundql.grounding.words import stems
from groundql.languages.flow import analyse


def stored_names(program: Program, grounding: Grounding) -> Program:
    """Replace a name that is stored nowhere by the one stored path that it can stand for; add a forgotten dollar.

    That is a path of the same words (`time_zones` for `time_zone`), else one that ends in that name (`iata` for
    `codes.iata`). Two such paths, or none, leave the name as it is. Never fails.
    """
    container = grounding.catalog.get(program.container) if isinstance(program, MqlProgram) else None
    if not isinstance(program, MqlProgram) or container is None or not container.is_exhaustive:
        return program
    try:
        return _with_stored_names(program, container, grounding)
    except (RecursionError, TypeError, ValueError):
        return program


def _with_stored_names(program: MqlProgram, container: Container, grounding: Grounding) -> MqlProgram:
    stages = list(program.stages)
    for read in analyse(program, grounding.catalog).reads:
        old = read.text.removeprefix("$")
        if read.status is not ReadStatus.ABSENT or old.startswith("$") or read.container not in ("", container.name):
            continue
        new = _meant(old, container)
        if new is not None and 0 <= read.place.stage < len(stages):
            stages[read.place.stage] = _renamed(stages[read.place.stage], old, new)
    return replace(program, stages=tuple(_with_dollars(stage, container) for stage in stages))


def _with_dollars(stage: Mapping[str, Any], container: Container) -> Mapping[str, Any]:
    """Write `$kind` for `kind` where a `$group` would otherwise put a field's bare name, a constant, into every row."""
    group = stage.get("$group")
    if not isinstance(group, Mapping):
        return stage

    def written(value: Any) -> Any:
        if isinstance(value, Mapping):
            parts = cast("Mapping[str, Any]", value)
            return {k: v if k == "$literal" else written(v) for k, v in parts.items()}
        return f"${value}" if isinstance(value, str) and _is_stored(value, container) else value

    return {"$group": written(cast("Any", group))}


def _is_stored(name: str, container: Container) -> bool:
    """Tell whether a dotted name is a stored path, a map's key among those seen included."""
    if any(f.path.dotted == name for f in container.fields if f.path.steps and ENTRIES not in f.path.steps):
        return True
    names = name.split(".")
    maps = (f for f in container.fields if f.keys is not None and not f.path.hops)
    return any(
        f.path.fields == tuple(names[: len(f.path)]) and len(names) == len(f.path) + 1 and names[-1] in f.keys.examples
        for f in maps
        if f.keys is not None
    )


def _meant(name: str, container: Container) -> str | None:
    usable = [f.path for f in container.fields if f.path.steps and ENTRIES not in f.path.steps]
    words, last = stems(name), tuple(name.split("."))
    for fits in (
        {p.dotted for p in usable if stems(p.dotted) == words},
        {p.dotted for p in usable if _ends_in(p, last)},
    ):
        if fits:
            return fits.pop() if len(fits) == 1 else None
    return None


def _ends_in(path: Path, names: tuple[str, ...]) -> bool:
    return path.fields[-len(names) :] == names


def _renamed(node: Any, old: str, new: str) -> Any:
    if isinstance(node, Mapping):
        return {new if k == old else k: _renamed(v, old, new) for k, v in cast("Mapping[str, Any]", node).items()}
    if isinstance(node, list | tuple):
        return [_renamed(v, old, new) for v in cast("list[Any]", node)]
    return f"${new}" if node == f"${old}" else node
