"""Whether and how far a gold program decides the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

ORDERING: Final = frozenset({"$sort", "$limit", "$skip", "$setWindowFields"})


def operator_of(stage: Any) -> str:
    """Return a stage's operator; nothing for what is no stage."""
    return next(iter(cast("Mapping[str, Any]", stage)), "") if isinstance(stage, Mapping) else ""


def is_order_sensitive(stages: Sequence[Any]) -> bool:
    """Tell whether the published protocol compares position by position: any root stage that orders or cuts.

    Source: TEND, order rule
    """
    return any(operator_of(stage) in ORDERING for stage in stages)


_KEEPING: Final = frozenset({
    "$match", "$project", "$addFields", "$set", "$unset", "$limit", "$skip", "$unwind", "$replaceRoot", "$replaceWith",
    "$lookup", "$graphLookup", "$redact",
})  # fmt: skip
"""Stages that leave rows in the order in which they came."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What decides the order in which a program's rows come out.

    Shape: `stage` is the root stage that orders them, counted from 0, or -1; `keys` are its dotted paths, None where
    it orders by something that is no plain path. `since` is the first stage from which on nothing reshuffles rows.
    """

    stage: int = -1
    keys: tuple[str, ...] | None = ()
    since: int = 0

    @property
    def is_ordered(self) -> bool:
        """Whether anything does: a sort that no later stage reshuffles."""
        return self.stage >= 0


def decided_order(stages: Sequence[Any]) -> Decided:
    """Find the sort that still holds at the end of a pipeline; a `$group` after it, for instance, undoes it."""
    found = Decided()
    for index, stage in enumerate(stages):
        operator = operator_of(stage)
        if operator == "$sort":
            found = Decided(index, _sort_keys(stage[operator]), index + 1)
        elif operator == "$sortByCount":
            found = Decided(index, ("count",), index + 1)
        elif operator == "$geoNear":
            found = Decided(index, None, index + 1)
        elif operator not in _KEEPING:
            found = Decided(since=index + 1)
    return found


def _sort_keys(body: Any) -> tuple[str, ...] | None:
    if not isinstance(body, Mapping):
        return None
    keys = cast("Mapping[str, Any]", body)
    plain = all(isinstance(way, int | float) and _is_plain(key) for key, way in keys.items())
    return tuple(keys) if plain else None


def _is_plain(path: str) -> bool:
    # an expression takes a numeric step as a field's name, a sort also as an array's position
    return not any(step.isdigit() for step in path.split("."))
