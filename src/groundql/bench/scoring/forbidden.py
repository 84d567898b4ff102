"""What no prediction may use: writing, server-side code, and what gives other rows each time.

Source: TEND, forbidden operators
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from groundql.core.program import MqlProgram

FORBIDDEN: Final = ("$sample", "$rand", "$out", "$merge", "$function", "$$NOW")
_TOKEN: Final = re.compile(rf"(?<![\w$])({'|'.join(map(re.escape, FORBIDDEN))})(?!\w)", re.ASCII)


def token_in(text: str, program: MqlProgram) -> str:
    """Return the first forbidden token of a prediction, as the published protocol looks for it, or nothing.

    It looks at the raw text, at every key and inside every text value, so a field or a phrase may trip it.
    """
    for piece in (text, *_texts(program.stages)):
        found = _TOKEN.search(piece)
        if found:
            return found[1]
    return ""


def operator_in(program: MqlProgram) -> str:
    """Return the first forbidden operator that a program really uses, or nothing: text and field names are data."""
    for node in _nodes(program.stages):
        if isinstance(node, Mapping):
            for key in cast("Mapping[str, Any]", node):
                if key in FORBIDDEN:
                    return key
        elif isinstance(node, str) and (node == "$$NOW" or node.startswith("$$NOW.")):
            return "$$NOW"
    return ""


def _texts(stages: Sequence[Any]) -> Iterator[str]:
    for node in _nodes(stages):
        if isinstance(node, str):
            yield node
        elif isinstance(node, Mapping):
            yield from cast("Mapping[str, Any]", node)


def _nodes(value: Any) -> Iterator[Any]:
    """Walk every value of a program, without recursion."""
    waiting: list[Any] = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Mapping):
            waiting.extend(cast("Mapping[str, Any]", node).values())
        elif isinstance(node, list | tuple):
            waiting.extend(cast("Sequence[Any]", node))
