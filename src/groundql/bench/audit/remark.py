"""What an audit has to say about a task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a remark weighs."""

    ERROR = "error"
    """The task breaks a rule of releases."""
    UNDECIDED = "undecided"
    """The words of the question do not decide the answer."""
    NOTE = "note"
    """Worth a look; it may be right."""


class Check(StrEnum):
    """What was looked at."""

    RUNS = "runs"
    REPEATS = "repeats"
    EMPTY = "empty"
    FORBIDDEN = "forbidden"
    PATH = "path"
    CONTAINER = "container"
    KIND = "kind"
    VALUE = "value"
    DUPLICATE = "duplicate"
    SKELETON = "skeleton"
    QUESTION = "question"
    LANGUAGE = "language"
    CONSTANT = "constant"
    LIMIT = "limit"
    LABEL = "label"
    COLUMN = "column"
    ORDER = "order"
    TIE = "tie"
    CUT = "cut"
    ARRAY_ORDER = "array_order"
    ZERO = "zero"
    MUTANT = "mutant"


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing an audit has to say about a task. `stage` counts the gold's root stages from 0; -1 is the whole."""

    check: Check
    level: Level
    message: str
    stage: int = -1

    def __str__(self) -> str:
        place = f"stage {self.stage + 1}: " if self.stage >= 0 else ""
        return f"{place}{self.message}"
