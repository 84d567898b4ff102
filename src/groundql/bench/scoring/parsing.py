"""Read a prediction as the published protocol does: the first `db.NAME.aggregate(`, its brackets, JSON5.

Two of its faults are kept, because its figures contain them: brackets are counted inside text as well, and whatever
follows the pipeline is ignored.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pyjson5

from groundql.core.program import MqlProgram
from groundql.errors import ProgramSyntaxError

_CALL: Final = re.compile(r"db\.(?P<name>[A-Za-z0-9_]+)\.aggregate\(", re.ASCII)
_DEPTH: Final = 200
"""Nesting levels that are read; no server takes a command that is deeper."""


def read(text: str) -> MqlProgram:
    """Read the program of a prediction; its stages are not checked to be objects.

    Raises: ProgramSyntaxError for what the published reader cannot read.
    """
    call = _CALL.search(text)
    if call is None:
        raise ProgramSyntaxError("there is no db.NAME.aggregate( in it")
    try:
        stages: Any = pyjson5.decode(_pipeline(text, call.end()), _DEPTH)
    except (pyjson5.Json5Exception, ValueError, OverflowError) as error:
        raise ProgramSyntaxError(f"its pipeline is not JSON5: {_line(error)}") from None
    return MqlProgram(call["name"], tuple(stages))


def _pipeline(text: str, start: int) -> str:
    opening = text.find("[", start)
    if opening < 0:
        raise ProgramSyntaxError("there is no pipeline in brackets")
    depth = 0
    for found in re.compile(r"[\[\]]").finditer(text, opening):
        depth += 1 if found[0] == "[" else -1
        if not depth:
            return text[opening : found.end()]
    raise ProgramSyntaxError("its brackets do not balance")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
