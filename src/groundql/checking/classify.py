"""The only place where an exception becomes a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groundql.core.finding import Code, Finding
from groundql.errors import (
    DatabaseTimeout,
    GroundQLError,
    ModelCutOff,
    ModelMalformed,
    ModelRefused,
    ProgramRejected,
)

CODES: Final[Mapping[type[GroundQLError], Code]] = {
    ProgramRejected: Code.REJECTED,
    DatabaseTimeout: Code.TIMEOUT,
    ModelCutOff: Code.CUT_OFF,
    ModelMalformed: Code.MALFORMED,
    ModelRefused: Code.REFUSED,
}
REPAIRABLE: Final = tuple(CODES)
"""Exceptions that a model can be asked to mend; every other one is the caller's to handle."""


def classify(error: GroundQLError) -> Finding:
    """Turn a repairable exception into a blocking finding.

    Raises: the error itself when a model cannot repair it (an unreachable server, a spent budget).
    """
    for kind, code in CODES.items():
        if isinstance(error, kind):
            return Finding(code, _message(code, str(error)))
    raise error


def _message(code: Code, text: str) -> str:
    short = text if len(text) <= 300 else text[:297] + "..."
    return f"the database refused the program: {short}" if code is Code.REJECTED else short
