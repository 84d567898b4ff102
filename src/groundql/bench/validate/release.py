"""Hold a whole release folder against the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundql.bench.case import Gold
from groundql.bench.datasets.records import fingerprint_of_records
from groundql.bench.datasets.suites import find_all_tasks, find_sources
from groundql.bench.validate.full import (
    checksum_violations,
    claim_violations,
    file_violations,
    provenance_violations,
    share_violations,
)
from groundql.bench.validate.records import count_violations, read_form, record_violations
from groundql.bench.validate.violation import Rule, Violation


@dataclass(frozen=True, slots=True)
class Rules:
    """What a validation expects: the full rules or those for lean records, and how many records of how many databases.

    Without expected numbers, unequal ones are only warned of.
    """

    is_full: bool = False
    per_database: int | None = None
    databases: int | None = None


def validate(path: Path, rules: Rules) -> list[Violation]:
    """Hold a release folder, or one file of records, against the rules; execution is not among them.

    Raises: LoadError when there are no records, or they cannot be read at all.
    """
    files = find_all_tasks(path)
    golds, violations = read_form(files[0])
    violations += record_violations(golds)
    violations += count_violations(golds, rules.per_database, rules.databases)
    for twin in files[1:]:
        violations += _twin_violations(files[0], golds, twin)
    if rules.is_full:
        violations += _full_violations(files[0], golds)
    return violations


def _twin_violations(main: Path, golds: Sequence[Gold], twin: Path) -> Iterator[Violation]:
    """Hold another file of the same records against the first."""
    others, violations = read_form(twin)
    yield from violations
    if fingerprint_of_records(others) != fingerprint_of_records(golds):
        yield Violation(Rule.FILE, f"its records are not those of {main.name}", twin.name)


def _full_violations(tasks: Path, golds: Sequence[Gold]) -> Iterator[Violation]:
    folder = tasks.parent.parent if tasks.parent.name == "data" else tasks.parent
    yield from share_violations(golds)
    yield from file_violations(folder, golds, find_sources(tasks, (gold.id.database for gold in golds)))
    yield from checksum_violations(folder)
    yield from provenance_violations(folder, golds)
    yield from claim_violations(golds)
