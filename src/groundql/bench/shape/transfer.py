"""How far a program is from what SQL says: the published levels of anti-SQL transfer."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from groundql.bench.shape.operators import operators_of
from groundql.core.program import MqlProgram

_STRONG: Final = frozenset({"$objectToArray", "$switch", "$setIntersection", "$setIsSubset", "$setUnion"})
_MEDIUM: Final = frozenset({"$filter", "$map", "$reduce", "$type", "$exists", "$ifNull", "$cond"})


class TransferLevel(StrEnum):
    """How little of a program could be carried over from SQL."""

    WEAK = "weak"
    MEDIUM = "medium"
    STRONG = "strong"


def transfer_level(program: MqlProgram, *, is_verified: bool = False) -> TransferLevel:
    """Class a program by its operators, at any depth; the first rule that applies decides.

    `is_verified` says that the release's own metadata vouches for it; figures recomputed from golds leave it out.
    Source: TEND, final version of the rule
    """
    used = operators_of(program).keys()
    strong, medium = _STRONG & used, _MEDIUM & used
    if {"$unwind", "$group"} <= used and not strong and "$filter" not in used:
        return TransferLevel.WEAK
    if strong and (medium or is_verified or len(strong) > 1):
        return TransferLevel.STRONG
    return TransferLevel.MEDIUM if strong or medium else TransferLevel.WEAK
