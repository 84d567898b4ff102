"""What a validation has to say about a release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a violation makes a release invalid."""

    ERROR = "error"
    WARNING = "warning"


class Rule(StrEnum):
    """The rules of releases.

    Source: release rules of TEND
    """

    FIELDS = "fields"
    COUNT = "count"
    RECORD_ID = "record_id"
    PARSE = "parse"
    SIGNATURE = "signature"
    SKELETON = "skeleton"
    QUESTION = "question"
    LANGUAGE = "language"
    FORBIDDEN = "forbidden"
    SHARE = "share"
    FILE = "file"
    CHECKSUM = "checksum"
    PROVENANCE = "provenance"
    CONSTRUCT = "construct"
    STALE = "stale"
    EXECUTION = "execution"


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that is broken. Shape: `place` is the record as `database/number`, or a file, or empty for the whole."""

    rule: Rule
    message: str
    place: str = ""
    severity: Severity = Severity.ERROR
