"""Field names in a small model's pipeline, brought to the stored ones where only one can be meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.path import ENTRIES, Path
from groundql.core.program import Claims, MqlProgram, Program, Read, ReadStatus
from groundql.grounding.terms import read_terms
from groundql.grounding.words import fold, stems
from groundql.languages.flow import analyse
from groundql.languages.read import claims_of
from groundql.solvers.local_mend import leaves_out_missing, unsaid_categories


def stated_limit(program: Program, grounding: Grounding) -> Program:
    """Cut sorted rows to as many as the question asks for, to one for a singular superlative, where nothing does."""
    asked = read_terms(grounding.question).limit
    if asked is None or not isinstance(program, MqlProgram) or any("$limit" in stage for stage in program.stages):
        return program
    sorts = [n for n, stage in enumerate(program.stages) if "$sort" in stage]
    if not sorts or any("$group" in stage or "$unwind" in stage for stage in program.stages[sorts[-1] :]):
        return program
    at = sorts[-1] + 1
    return replace(program, stages=(*program.stages[:at], {"$limit": asked.number}, *program.stages[at:]))


def stated_categories(program: Program, grounding: Grounding) -> Program:
    """Keep only what is of the kind that the question speaks of, where the program does not: "airports" of places."""
    container = grounding.catalog.get(program.container) if isinstance(program, MqlProgram) else None
    if not isinstance(program, MqlProgram) or container is None:
        return program
    whole = _without_namesakes(program, container, grounding)
    claims = claims_of(whole, grounding.catalog)
    used = {*claims.texts, *(str(read.path) for read in claims.stored_reads())}
    wanted = {path: value for path, value, _ in unsaid_categories(used, container, grounding)}
    return replace(whole, stages=({"$match": wanted}, *whole.stages)) if wanted else program


def _without_namesakes(program: MqlProgram, container: Container, grounding: Grounding) -> MqlProgram:
    """Leave out that a field is there whose name the question uses for a kind of document: `city` for "the cities"."""
    words = {stems(word) for _, _, word in unsaid_categories(frozenset(), container, grounding)}

    def is_namesake(name: str, test: object) -> bool:
        there = test in ({"$exists": True}, {"$ne": None}, {"$exists": True, "$ne": None})
        return there and stems(name) in words

    stages: list[Mapping[str, Any]] = []
    for stage in program.stages:
        if "$match" not in stage:
            stages.append(stage)
        elif kept := {k: v for k, v in stage["$match"].items() if not is_namesake(k, v)}:
            stages.append({"$match": kept})
    return replace(program, stages=tuple(stages))


def without_missing(program: Program, grounding: Grounding) -> Program:
    """Drop what lacks the field that a first `$group` groups by, where the question leaves that out."""
    if not isinstance(program, MqlProgram) or not leaves_out_missing(grounding.question.text):
        return program
    at = next((n for n, stage in enumerate(program.stages) if "$group" in stage), None)
    if at is None or not all("$match" in stage for stage in program.stages[:at]):
        return program
    key = cast("Mapping[str, Any]", program.stages[at]["$group"]).get("_id")
    if not isinstance(key, str) or not key.startswith("$") or key.startswith("$$"):
        return program
    there = {"$match": {key[1:]: {"$ne": None}}}
    if any(stage["$match"].get(key[1:]) == {"$ne": None} for stage in program.stages[:at]):
        return program
    return replace(program, stages=(*program.stages[:at], there, *program.stages[at:]))


def stored_names(program: Program, grounding: Grounding) -> Program:
    """Replace a name that is stored nowhere by the one stored path that it can stand for; add a forgotten dollar.

    That is a path of the same words (`time_zones` for `time_zone`), else one that ends in that name (`iata` for
    `codes.iata`). Two such paths, or none, leave the name as it is. Never fails.
    """
    container = grounding.catalog.get(program.container) if isinstance(program, MqlProgram) else None
    if not isinstance(program, MqlProgram) or container is None:
        return program
    try:
        return _with_stored_names(program, container, grounding)
    except (RecursionError, TypeError, ValueError):
        return program


def _with_stored_names(program: MqlProgram, container: Container, grounding: Grounding) -> MqlProgram:
    stages = [_with_dollars(stage, container) for stage in program.stages]
    claims = analyse(replace(program, stages=tuple(stages)), grounding.catalog)
    for read in claims.reads:
        old = read.text.removeprefix("$")
        if read.status is ReadStatus.DROPPED and 0 <= read.place.stage < len(stages):
            stage = read.place.stage
            if (key := _group_key(stages[:stage], old)) is not None:
                stages[stage] = _renamed(stages[stage], old, key, keys=read.place.operator != "$project")
            continue
        if read.status is not ReadStatus.ABSENT or old.startswith("$") or read.container not in ("", container.name):
            continue
        new = _meant(old, container) or _place_of_value(read, claims, grounding)
        if new is not None and 0 <= read.place.stage < len(stages):
            stages[read.place.stage] = _renamed(stages[read.place.stage], old, new)
    return replace(program, stages=tuple(stages))


def _group_key(before: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """Where a `$group` put the field it groups by, when that is the last thing that happened to it."""
    if not before or not isinstance(group := before[-1].get("$group"), Mapping):
        return None
    key = cast("Mapping[str, Any]", group).get("_id")
    if key == f"${name}":
        return "_id"
    if not isinstance(key, Mapping):
        return None
    parts = cast("Mapping[str, Any]", key)
    return next((f"_id.{part}" for part, value in parts.items() if value == f"${name}"), None)


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


def _place_of_value(read: Read, claims: Claims, grounding: Grounding) -> str | None:
    """The one path at which the text that a name is compared with was found; among several, the documents' own id."""
    asked = [c.value for c in claims.comparisons if c.read == read and c.operator == "$eq" and isinstance(c.value, str)]
    places = {
        w.path.dotted
        for w in grounding.witnesses
        if asked and w.container == read.container and not w.is_key and not w.path.hops
        if all(fold(str(w.stored)) == fold(value) for value in asked)
    }
    return "_id" if "_id" in places else places.pop() if len(places) == 1 else None


def _ends_in(path: Path, names: tuple[str, ...]) -> bool:
    return path.fields[-len(names) :] == names


def _renamed(node: Any, old: str, new: str, *, keys: bool = True) -> Any:
    if isinstance(node, Mapping):
        parts = cast("Mapping[str, Any]", node).items()
        return {new if keys and k == old else k: _renamed(v, old, new, keys=keys) for k, v in parts}
    if isinstance(node, list | tuple):
        return [_renamed(v, old, new, keys=keys) for v in cast("list[Any]", node)]
    return f"${new}" if node == f"${old}" else node
