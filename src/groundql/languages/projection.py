"""A find's projection as stages: mostly `$project`, but for what only a find can say."""

from __future__ import annotations

from typing import Any, Final, cast

from groundql.languages.syntax import Spot, syntax_error

Stage = dict[str, Any]

_INSTEAD: Final = '{$project: {NAME: {$slice: [{$filter: {input: "$NAME", cond: {...}}}, 1]}}}'


def check_projection(projection: Stage, at: Spot) -> None:
    """Refuse what has no counterpart in an aggregation, and say what to write instead.

    Raises: ProgramSyntaxError naming the field.
    """
    for name, shown in projection.items():
        if name.endswith(".$"):
            field = name[:-2]
            raise _no_counterpart(f"{name} (the first item that the filter matched)", field, at)
        if isinstance(shown, dict) and "$elemMatch" in shown:
            raise _no_counterpart(f"{name}: $elemMatch", name, at)
    for name in slices_in(projection):
        _check_slice(projection, name, at)


def _no_counterpart(what: str, field: str, at: Spot) -> Exception:
    message = f"{what} in a find's projection has no counterpart in a pipeline"
    return syntax_error(message, at, f"use aggregate with {_INSTEAD.replace('NAME', field)}")


def slices_in(projection: Stage) -> list[str]:
    """Return the fields of which a find's own `$slice` takes a part; an aggregation's starts with an expression."""
    return [name for name, shown in projection.items() if _is_slice(shown)]


def _is_slice(shown: Any) -> bool:
    if not isinstance(shown, dict) or set(cast("Stage", shown)) != {"$slice"}:
        return False
    given = cast("Stage", shown)["$slice"]
    return not (isinstance(given, list) and given and not _is_number(cast("list[Any]", given)[0]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_slice(projection: Stage, name: str, at: Spot) -> None:
    given = projection[name]["$slice"]
    parts = cast("list[Any]", given) if isinstance(given, list) else [given]
    is_pair = isinstance(given, list)
    if not all(_is_number(p) and p == int(p) for p in parts) or len(parts) != (2 if is_pair else 1):
        raise syntax_error(f"{name}: $slice takes a whole number, or two: how many to skip and to keep", at)
    if is_pair and parts[1] <= 0:
        raise syntax_error(f"{name}: $slice keeps at least one item", at)
    if "." in name:
        # inside an array of objects a find slices the list of each, which one expression cannot say
        message = f"{name}: $slice of a nested field is not read"
        raise syntax_error(message, at, "use aggregate, with $map where an array of objects is on the way")
    if projection.get("_id") and not _includes(projection):
        message = "whether only _id, or every other field too, is wanted beside $slice is not clear"
        raise syntax_error(message, at, "name the other fields, or take _id out")


def _includes(projection: Stage) -> bool:
    """Tell whether a projection beside its slices lists the fields to keep, and not those to leave out."""
    slices = slices_in(projection)
    return any(shown not in (0, False) for name, shown in projection.items() if name != "_id" and name not in slices)


def projected(projection: Stage) -> list[Stage]:
    """Build what a find's projection does: scores alone are added to the whole document, all else is as `$project`."""
    scores = {name: shown for name, shown in projection.items() if name != "_id"}
    are_scores = all(isinstance(shown, dict) and set(cast("Stage", shown)) == {"$meta"} for shown in scores.values())
    if scores and are_scores and not projection.get("_id"):
        return [{"$addFields": scores}, *([{"$unset": "_id"}] if "_id" in projection else [])]
    slices = {name: _slice(name, projection[name]["$slice"]) for name in slices_in(projection)}
    if not slices or _includes(projection):
        return [{"$project": {**projection, **slices}}] if projection else []
    others = {name: shown for name, shown in projection.items() if name not in slices}
    return [{"$addFields": slices}, *([{"$project": others}] if others else [])]


def _slice(name: str, given: Any) -> Stage:
    """Build the part of an array; a find leaves alone what is no array."""
    parts = [int(p) for p in (cast("list[Any]", given) if isinstance(given, list) else [given])]
    return {"$cond": [{"$isArray": [f"${name}"]}, {"$slice": [f"${name}", *parts]}, f"${name}"]}
