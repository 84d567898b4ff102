"""Where the embedded document server is known to fall short of MongoDB; told to whoever gets an answer from it.

Source: the conformance cases in `tests/contract`, and the companion's README.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EMBEDDED_ENGINE: Final = "SecantusDB"

_REFUSED: Final = "The embedded server refuses some forms of {0}; a MongoDB server accepts them."

KNOWN_LIMITS: Final[Mapping[str, str]] = {
    operator: _REFUSED.format(text)
    for operator, text in {
        "$setWindowFields": "$setWindowFields: range windows of months, quarters and years",
        "$covariancePop": "$covariancePop",
        "$covarianceSamp": "$covarianceSamp",
        "$linearFill": "$linearFill: over dates",
        "$text": "$text",
    }.items()
}
"""Operator -> one line to show with the answer."""
