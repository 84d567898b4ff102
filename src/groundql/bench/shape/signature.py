"""Name programs by their content (signature) and by their form (skeleton)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from bson import json_util

from groundql.bench.shape.operators import root_stages
from groundql.core.program import MqlProgram

_PLACES: Final = 12
"""Decimal places that tell two numbers apart. Source: TEND, signatures"""


def signature(program: MqlProgram) -> str:
    """Hash a program so that spelling does not count: keys sorted, numbers to 12 places.

    Shape: SHA-256 in hex, the published figure. Sorting keys makes `$sort {a, b}` and `$sort {b, a}` one.
    Source: TEND, `mql_signature`
    """
    return _hash({"collection": program.container, "pipeline": _rounded(list(program.stages))})


def ordered_signature(program: MqlProgram) -> str:
    """Hash a program as `signature` does, but tell programs apart whose keys stand in another order."""
    return _hash([program.container, _rounded(list(program.stages))], is_sorted=False)


def skeleton(program: MqlProgram) -> str:
    """Hash a program's form: root operators and the tree of operators, every name and constant blanked.

    How many items a list and how many fields an object has stays part of the form.
    Source: TEND, skeleton families
    """
    return _hash([root_stages(program), _blanked(list(program.stages))])


def skeleton_summary(program: MqlProgram) -> str:
    """Write the root operators in a line. Source: TEND, `mql_skeleton_summary`"""
    return ">".join(root_stages(program))


def _hash(form: Any, *, is_sorted: bool = True) -> str:
    text = json.dumps(form, sort_keys=is_sorted, separators=(",", ":"), ensure_ascii=False, default=json_util.default)
    return hashlib.sha256(text.encode()).hexdigest()


def _rounded(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _rounded(value) for key, value in cast("Mapping[str, Any]", node).items()}
    if isinstance(node, list | tuple):
        return [_rounded(part) for part in cast("Sequence[Any]", node)]
    return round(node, _PLACES) if isinstance(node, float) else node


def _blanked(node: Any) -> Any:
    if isinstance(node, Mapping):
        pairs = cast("Mapping[str, Any]", node).items()
        return sorted(
            ([key if key.startswith("$") else "field", _blanked(value)] for key, value in pairs), key=json.dumps
        )
    if isinstance(node, list | tuple):
        return [_blanked(part) for part in cast("Sequence[Any]", node)]
    return _placeholder(node)


def _placeholder(leaf: Any) -> str:
    match leaf:
        case str():
            return "variable" if leaf.startswith("$$") else "path" if leaf.startswith("$") else "text"
        case bool():
            return "flag"
        case None:
            return "null"
        case int() | float():
            return "number"
        case _:
            return type(leaf).__name__
