"""A benchmark's questions, and apart from them what they are judged by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from groundql.core.answer import Question


class CaseId(NamedTuple):
    """What names a case within a suite: the database, and the record's number in it."""

    database: str
    record_id: int

    def __str__(self) -> str:
        return f"{self.database}/{self.record_id}"


@dataclass(frozen=True, slots=True)
class Case:
    """One question of one database: all that a solver may be given. Its gold is kept apart, in `Suite.golds`."""

    id: CaseId
    question: Question


@dataclass(frozen=True, slots=True)
class Gold:
    """What a case is judged by, with what its release says of it.

    Shape: `mql` is the program as the release writes it; `nlq` and `colloquial` the two phrasings of the question;
    `labels` whatever else the record holds (schema_flex, difficulty, ...), as it stands there.
    Source: record form of the TEND release
    """

    id: CaseId
    mql: str
    nlq: str
    colloquial: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of cases with their golds and the files that hold their databases.

    Shape: `sources` maps a database's name to its file or folder of documents; `fingerprint` is a SHA-256 over the
    records, so that two runs can be told to have had the same tasks.
    """

    name: str
    cases: tuple[Case, ...]
    golds: Mapping[CaseId, Gold]
    sources: Mapping[str, Path]
    fingerprint: str = ""

    @property
    def databases(self) -> tuple[str, ...]:
        """The databases that its cases ask, in order of first appearance."""
        return tuple(dict.fromkeys(case.id.database for case in self.cases))

    def narrowed(
        self, *, databases: Collection[str] = (), records: Collection[int] = (), limit: int | None = None
    ) -> Suite:
        """Keep the cases of some databases or records, and of those at most `limit` per suite, in their order."""
        kept = [
            case
            for case in self.cases
            if (not databases or case.id.database in databases) and (not records or case.id.record_id in records)
        ]
        return replace(self, cases=tuple(kept[:limit]))
