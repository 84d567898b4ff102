"""The operators of a program, and the sets of them that the published statistics tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.core.program import MqlProgram

DYNAMIC_KEY: Final = frozenset({"$objectToArray", "$arrayToObject", "$getField", "$setField"})
ARRAY: Final = frozenset(
    {"$unwind", "$size", "$filter", "$map", "$isArray", "$addToSet", "$push", "$slice", "$arrayElemAt"}
)
GROUPING: Final = frozenset({"$group", "$sum", "$avg", "$min", "$max", "$count", "$addToSet", "$push"})
JOINING: Final = frozenset({"$lookup", "$graphLookup", "$unionWith"})
CONDITIONAL: Final = frozenset({"$cond", "$switch", "$ifNull"})
FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    "dynamic_key": DYNAMIC_KEY,
    "array": ARRAY,
    "grouping": GROUPING,
    "joining": JOINING,
    "conditional": CONDITIONAL,
}
"""Families of operators by name. Source: TEND, dataset statistics; joining and conditional by the same reading"""


def root_stages(program: MqlProgram) -> tuple[str, ...]:
    """Return the operator of each root stage, in order."""
    return tuple(next(iter(stage), "") for stage in program.stages)


def operators_of(program: MqlProgram) -> Counter[str]:
    """Count the operators of a program at any depth: every key that begins with a dollar sign."""
    return Counter(
        key
        for node in nodes(program.stages)
        if isinstance(node, Mapping)
        for key in cast("Mapping[str, Any]", node)
        if key.startswith("$")
    )


def families_of(program: MqlProgram) -> frozenset[str]:
    """Return the names of the operator families that a program draws on."""
    used = operators_of(program).keys()
    return frozenset(name for name, family in FAMILIES.items() if family & used)


def longest_reference(program: MqlProgram) -> int:
    """Return how many names the longest field reference joins by dots; 0 when it refers to none."""
    texts = (node for node in nodes(program.stages) if isinstance(node, str))
    return max((len(text.split(".")) for text in texts if text.startswith("$") and text[1:2] != "$"), default=0)


def nodes(value: Any) -> Iterator[Any]:
    """Walk every value of a program, without recursion."""
    waiting: list[Any] = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Mapping):
            waiting.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, list | tuple):
            waiting.extend(cast("Sequence[Any]", node))
