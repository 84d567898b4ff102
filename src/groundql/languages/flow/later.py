"""Which names the current or a later stage of a pipeline computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from groundql.languages.flow.literals import as_list, as_object, is_switch, operator_of
from groundql.languages.flow.reshape import leaves


def defined_later(stages: Sequence[Any], index: int, name: str, target: str, resolved: int) -> str:
    """Say which stage, from `index` on, computes a dotted name; the empty text for none.

    `target` is the field that is being computed now, which does not count for itself; the first `resolved` steps of
    the name lead somewhere already, so that a stage which computes no more than these is not waited for.
    """
    for at in range(index, len(stages)):
        spec = as_object(stages[at]) or {}
        operator = operator_of(spec)
        names = set(_computed(operator, spec.get(operator))) if operator else set[str]()
        if at == index:
            names.discard(target)
        if any(f"{name}.".startswith(f"{found}.") and found.count(".") >= resolved for found in names):
            if at == index:
                return f"computed by this same {operator}, which reads the documents as they came in"
            return f"computed only later, by stage {at + 1} {operator}"
    return ""


def _computed(operator: str, spec: Any) -> Iterator[str]:
    parts = as_object(spec) or {}
    if operator in ("$addFields", "$set", "$project"):
        yield from (n for n, v in leaves(parts) if operator != "$project" or not is_switch(v))
    elif operator == "$group":
        yield from parts
    elif operator in ("$bucket", "$bucketAuto", "$setWindowFields", "$fill"):
        yield from as_object(parts.get("output")) or {}
    elif operator in ("$lookup", "$graphLookup"):
        yield from (parts[key] for key in ("as", "depthField") if isinstance(parts.get(key), str))
    elif operator == "$unwind" and isinstance(parts.get("includeArrayIndex"), str):
        yield parts["includeArrayIndex"]
    elif operator == "$count" and isinstance(spec, str):
        yield spec
    elif operator == "$sortByCount":
        yield "count"
    elif operator == "$facet":
        yield from parts
    elif operator in ("$replaceRoot", "$replaceWith"):
        yield from _replaced(parts.get("newRoot") if operator == "$replaceRoot" else spec)


def _replaced(root: Any) -> Iterator[str]:
    """Yield the names that a new root writes out, also within a `$mergeObjects`."""
    parts = as_object(root) or {}
    if operator_of(parts) == "$mergeObjects":
        for layer in as_list(parts["$mergeObjects"]) or []:
            yield from _replaced(layer)
    elif not operator_of(parts):
        yield from parts
