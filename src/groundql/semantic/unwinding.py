"""The stages that turn documents into rows: one for each item or entry of the hops that a query is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from groundql.core.path import ENTRIES, Path
from groundql.semantic.ref import Ref
from groundql.semantic.scope import Bound, Expr, Scope, field_name, is_addressable


@dataclass(frozen=True, slots=True)
class Unwound:
    """Rows: the stages that make them, where their values are, and what tells a hop's items apart."""

    stages: list[dict[str, Any]]
    scope: Scope
    marks: dict[Path, Expr]


def unwind(scope: Scope, rows: Sequence[Path], reads: Collection[Ref], marked: Collection[Path]) -> Unwound:
    """Unwind hops, outermost first.

    An array or map is unwound where it stands; into a field of its own where its name cannot be addressed or where
    one of `reads` still needs it whole. Items of `marked` hops get their number.
    """
    stages: list[dict[str, Any]] = []
    marks: dict[Path, Expr] = {}
    taken = {str(f.path.steps[0]) for f in scope.container.fields if f.path.steps}
    for hop in rows:
        source = scope.at(hop.parent)
        field = field_name(source)
        if field is None or _is_read_whole(hop, reads) or not all(is_addressable(p) for p in field.split(".")):
            field = _free(_plain(hop.name) + ("_entry" if hop.last is ENTRIES else "_item"), taken)
        taken.add(field)
        if hop.last is ENTRIES:
            stages += [{"$set": {field: scope.members(hop)}}, {"$unwind": f"${field}"}]
            bound = Bound(f"${field}.v", f"${field}.k")
            marks[hop] = bound.key
        else:
            if source != f"${field}":
                stages.append({"$set": {field: source}})
            number = _free(f"{_plain(hop.name)}_number", taken)
            taken.add(number)
            stages.append(_unwind(field, number if hop in marked else None))
            bound = Bound(f"${field}")
            marks[hop] = f"${number}"
        scope = scope.bind(hop, bound)
    return Unwound(stages, scope, marks)


def _unwind(field: str, number: str | None) -> dict[str, Any]:
    return {"$unwind": {"path": f"${field}", "includeArrayIndex": number} if number else f"${field}"}


def _is_read_whole(hop: Path, reads: Iterable[Ref]) -> bool:
    """Tell whether some reference reads what the hop goes into, or something that holds it, and not an item of it."""
    above = hop.parent
    return any(
        (ref.path.starts_with(above) and not ref.path.starts_with(hop)) or (above.starts_with(ref.path))
        for ref in reads
        if not ref.is_key or ref.path != above
    )


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name) or "value"


def _free(name: str, taken: Collection[str]) -> str:
    return _free(name + "_", taken) if name in taken else name
