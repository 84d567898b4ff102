"""From a question to an answer with its evidence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from groundql.core.budget import Usage
from groundql.core.catalog import Catalog, Witness
from groundql.core.finding import Finding
from groundql.core.program import Claims, Program
from groundql.core.rows import Rows


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks. Never holds a gold answer.

    `hints` is extra evidence the asker gives; `today` and `time_zone` (an IANA name) resolve relative dates.
    """

    text: str
    hints: str = ""
    today: dt.date | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Grounding:
    """What a solver is told: the catalog, and the question's terms as found in the data.

    `missing_terms` are terms the question insists on that were looked for and not found anywhere.
    `dates` maps a relative date in the question to the range it was resolved to, as text.
    """

    question: Question
    catalog: Catalog
    witnesses: tuple[Witness, ...] = ()
    missing_terms: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Candidate:
    """One program an attempt came to, with all that was found about it.

    `form` says how it was drafted: pipeline or query. `round` counts from 0 within attempt `attempt`.
    `program` is None when the model gave nothing usable; the findings then say why.
    """

    program: Program | None
    claims: Claims = Claims()
    findings: tuple[Finding, ...] = ()
    rows: Rows | None = None
    attempt: int = 0
    round: int = 0
    form: str = "pipeline"
    query: Mapping[str, Any] | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that keep this candidate from being clean."""
        return tuple(f for f in self.findings if f.blocking)

    @property
    def is_clean(self) -> bool:
        """Whether it was executed and nothing blocking was found."""
        return self.rows is not None and not self.blocking


@dataclass(frozen=True, slots=True)
class StageCount:
    """One step of the funnel: how many rows left a stage. `count` is None where it was not measured."""

    stage: int
    operator: str
    count: int | None


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """A stored path the program reads, and how often it is there. Units: share, 0 to 1."""

    container: str
    path: str
    kinds: str
    present_share: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why an answer may be believed, and what to watch.

    `grounded` is when the database was read to find out what it holds.
    """

    witnesses: tuple[Witness, ...] = ()
    paths: tuple[PathEvidence, ...] = ()
    funnel: tuple[StageCount, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    agreement: str = ""
    grounded: dt.datetime | None = None


class Outcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    """Readings disagree and nothing decides between them: both are shown."""
    FAILED = "failed"
    """No candidate passed its checks; the diagnosis says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for a question. `program` and `rows` are None unless answered."""

    outcome: Outcome
    question: Question
    program: Program | None = None
    rows: Rows | None = None
    candidates: tuple[Candidate, ...] = ()
    evidence: Evidence = Evidence()
    usage: Usage = Usage()
    elapsed_s: float = 0.0
    diagnosis: str = ""
    solver: str = ""
    model: str = ""
    trace_id: str = ""
