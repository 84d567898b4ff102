"""The constant gate: a text that names a field, but stands where only `$name` would read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.core.answer import Candidate, Grounding
from groundql.core.finding import Code, Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram, Place

COMPARING: Final = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"})


async def constant_gate(candidate: Candidate, grounding: Grounding, env: Env) -> Sequence[Finding]:
    """Name the constants in a group's key, its accumulators and `$expr` that are spelled like a field."""
    program = candidate.program
    container = grounding.catalog.get(program.container) if isinstance(program, MqlProgram) else None
    if container is None or not isinstance(program, MqlProgram):
        return []
    names = frozenset(f.path.dotted for f in container.fields) | frozenset(f.path.name for f in container.fields)
    found = ((n, stage, text) for n, stage in enumerate(program.stages) for text in _constants(stage))
    return [_finding(n, stage, text) for n, stage, text in found if text in names]


def _finding(n: int, stage: Mapping[str, Any], text: str) -> Finding:
    return Finding(
        Code.CONSTANT_FOR_FIELD,
        f"{text!r} is a constant here, the same for every document",
        Place(n, next(iter(stage), "")),
        path=text,
        evidence="a field has this name",
        nearest=(f"${text}",),
        blocking=False,
    )


def _constants(stage: Mapping[str, Any]) -> Iterator[str]:
    group = stage.get("$group")
    if isinstance(group, Mapping):
        for name, value in cast("Mapping[str, Any]", group).items():
            operands = [value] if name == "_id" else list(_values(value))
            yield from (v for v in operands if _is_constant(v))
    match = stage.get("$match")
    if isinstance(match, Mapping):
        yield from _compared(cast("Mapping[str, Any]", match).get("$expr"))


def _compared(node: Any) -> Iterator[str]:
    """The constants of comparisons that hold no field at all."""
    if not isinstance(node, Mapping):
        return
    for operator, operands in cast("Mapping[str, Any]", node).items():
        items = cast("list[Any]", operands) if isinstance(operands, list | tuple) else [operands]
        if operator in COMPARING and all(_is_constant(i) or isinstance(i, int | float) for i in items):
            yield from (i for i in items if _is_constant(i))
        elif operator in ("$and", "$or", "$not"):
            for item in items:
                yield from _compared(item)


def _values(value: Any) -> Iterator[Any]:
    return iter(cast("Mapping[str, Any]", value).values()) if isinstance(value, Mapping) else iter(())


def _is_constant(value: Any) -> bool:
    return isinstance(value, str) and not value.startswith("$")
