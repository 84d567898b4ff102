"""Where a wrong program first goes astray: where a finding says so, else where it departs from the gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from groundql.bench.prediction import Prediction
from groundql.core.program import MqlProgram

KEYED: Final = frozenset({"$match", "$sort", "$project", "$unset", "$geoNear"})
"""Stages whose plain keys name what is read; elsewhere plain keys name what is made, and any name will do."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A stage that is marked, counted from 0, and why."""

    stage: int
    why: str


def first_wrong_stage(gold: MqlProgram, program: MqlProgram, prediction: Prediction | None = None) -> Mark | None:
    """Mark the first wrong stage of a program whose result is wrong.

    The earliest stage that a blocking finding names for the very program handed in; else the first root stage whose
    operators, stored paths or constants are not those of the gold's stage at the same place. Names of made columns do
    not count. None when no stage departs. A departure need not be a fault: two ways can lead to the same rows.
    """
    return _named(prediction) or _departing(gold, program)


def _named(prediction: Prediction | None) -> Mark | None:
    tries = [tried for tried in prediction.tries if tried.mql == prediction.mql] if prediction else []
    found = [f for tried in tries for f in tried.findings if f.get("blocking") and f.get("stage", -1) >= 0]
    first = min(found, key=lambda finding: finding["stage"], default=None)
    return None if first is None else Mark(first["stage"], f"finding: {first.get('text', '')}")


def _departing(gold: MqlProgram, program: MqlProgram) -> Mark | None:
    if gold.container != program.container:
        return Mark(0, f"reads {program.container}, the gold {gold.container}")
    for place in range(max(len(gold.stages), len(program.stages))):
        if place >= len(program.stages):
            return Mark(len(program.stages) - 1, f"ends here; the gold goes on with {_operator(gold.stages[place])}")
        if place >= len(gold.stages):
            return Mark(place, "the gold has ended")
        why = _difference(gold.stages[place], program.stages[place])
        if why:
            return Mark(place, why)
    return None


def _difference(gold: Mapping[str, Any], stage: Mapping[str, Any]) -> str:
    if _operator(gold) != _operator(stage):
        return f"{_operator(stage)}, the gold {_operator(gold)} here"
    wanted, given = Counter(_said(gold)), Counter(_said(stage))
    added, lacking = _list(given - wanted), _list(wanted - given)
    parts = [f"has {added}"] if added else []
    parts += [f"lacks {lacking}"] if lacking else []
    return ", ".join(parts)


def _list(counts: Counter[Hashable]) -> str:
    return " ".join(str(item) for item in list(counts)[:3])


def _operator(stage: Mapping[str, Any]) -> str:
    return next(iter(stage), "nothing")


def _said(stage: Mapping[str, Any]) -> Iterator[Hashable]:
    """Give what a stage says: its operators, the paths it reads, its constants."""
    keyed = _operator(stage) in KEYED
    waiting: list[Any] = [stage]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            for key, value in cast("Mapping[str, Any]", node).items():
                if key.startswith("$") or (keyed and not _is_made(stage, value)):
                    yield key
                waiting.append(value)
        elif isinstance(node, list | tuple):
            waiting.extend(cast("Sequence[Any]", node))
        elif not isinstance(node, bool):
            yield node if isinstance(node, Hashable) else repr(node)


def _is_made(stage: Mapping[str, Any], value: Any) -> bool:
    """Tell whether a key of `$project` names a column that is made rather than one that is kept."""
    return _operator(stage) == "$project" and not isinstance(value, bool | int)
