"""Whether a pipeline's rows come out in an order that it asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from groundql.languages.flow.literals import as_object, operator_of

_ORDERS: Final = frozenset(
    [
        "$sort",
        "$sortByCount",
        "$bucket",
        "$bucketAuto",
        "$geoNear",
        "$search",
        "$vectorSearch",
        "$rankFusion",
        "$scoreFusion",
    ]
)
_DISORDERS: Final = frozenset(
    ["$group", "$unionWith", "$facet", "$sample", "$count", "$setWindowFields", "$densify", "$documents"]
)


def is_ordered(stages: Sequence[Any]) -> bool:
    """Tell whether the last stage that touches the order sets one."""
    ordered = False
    for stage in stages:
        name = operator_of(stage)
        if name in _ORDERS:
            ordered = True
        elif name in _DISORDERS or (name == "$fill" and "sortBy" in (as_object((as_object(stage) or {})[name]) or {})):
            ordered = False
    return ordered
