"""Table III: the main results by both protocols, their outcomes, per database, and the best arm against the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundql.bench.case import CaseId
from groundql.bench.report.measures import Measured, accuracy, difference, measure, pair
from groundql.bench.report.reading import Arm, Material
from groundql.bench.report.table import Column, Kind, Table
from groundql.bench.stats.holm import holm
from groundql.bench.verdict import PROTOCOLS, STRICT, TEND_V1, Bucket

SHORT = {TEND_V1: "tend-v1", STRICT: "strict"}
PERCENT = "EXC and EXF1 in percent, with 95 % intervals: Wilson's for EXC, the bootstrap within databases for the rest"
AUDIT_HINT = "no audit is at hand, so nothing tells which tasks are decidable: groundql bench audit SUITE --out FILE"


def main_table(material: Material) -> Table:
    """Table III: EXC and EXF1 per arm, by both protocols, over all tasks and over the decidable ones."""
    decidable = {case for case, verdict in material.decidable.items() if verdict}
    columns = [Column("arm", "solver"), Column("model", "model"), Column("tasks", "tasks", Kind.COUNT)]
    for protocol in PROTOCOLS:
        columns += [
            Column(f"exc {protocol}", f"EXC {protocol}", Kind.SHARE),
            Column(f"exf1 {protocol}", f"EXF1 {protocol}", Kind.SHARE),
        ]
        if decidable:
            columns.append(Column(f"decidable {protocol}", f"EXC {protocol}, decidable", Kind.SHARE))
    rows = [_main_row(arm, material, decidable) for arm in material.arms]
    notes = [PERCENT] if material.decidable else [PERCENT, AUDIT_HINT]
    if decidable:
        notes.append(f"{len(decidable):,} of {len(material.decidable):,} audited tasks are decidable")
    return Table("III", "Main results", columns, rows, tuple(notes))


def _main_row(arm: Arm, material: Material, decidable: set[CaseId]) -> dict[str, Any]:
    row: dict[str, Any] = {"arm": arm.name, "model": arm.model, "tasks": len(arm.last)}
    for protocol in protocols_of(arm):
        measured = measure(arm, protocol, material.cases)
        row |= {f"exc {protocol}": measured.exc, f"exf1 {protocol}": measured.exf1}
        row[f"decidable {protocol}"] = accuracy(arm, protocol, decidable)
    return row


def outcome_table(material: Material) -> Table:
    """Table III, right half: where predictions end; the shares of a row sum to one."""
    columns = [
        Column("arm", "solver"), Column("protocol", "protocol"), Column("rows", "rows", Kind.COUNT),
        *(Column(key, title, Kind.SHARE) for key, title in (
            ("correct", "correct"), ("no_submission", "no sub."), ("invalid", "invalid"), ("exec_error", "exec. err."),
            ("empty", "empty"), ("structural", "struct."), ("order_only", "· order"), ("row_subset", "· subset"),
            ("row_superset", "· superset"), ("value_mismatch", "value"),
        )),
    ]  # fmt: skip
    rows = list(_outcome_rows(material))
    if any(row["row_count_exceeded"] for row in rows):
        columns.append(Column("row_count_exceeded", "too many rows", Kind.SHARE))
    note = "struct. is the sum of the three columns after it"
    return Table("III-outcomes", "Outcomes", columns, rows, (note,))


def _outcome_rows(material: Material) -> Iterator[dict[str, Any]]:
    for protocol in PROTOCOLS:
        for arm in material.arms:
            if protocol in protocols_of(arm):
                measured = measure(arm, protocol, material.cases)
                yield {"arm": arm.name, "protocol": protocol, "rows": measured.rows, **_shares(measured)}


def _shares(measured: Measured) -> dict[str, float]:
    return {bucket.value: measured.outcomes[bucket] for bucket in Bucket} | {"structural": measured.structural}


def database_table(material: Material) -> Table:
    """Table III per database: how many tasks of each are correct."""
    databases = material.suite.databases
    columns = [
        Column("arm", "solver"), Column("protocol", "protocol"),
        *(Column(f"db {name}", name, Kind.COUNT) for name in databases), Column("total", "total", Kind.COUNT),
    ]  # fmt: skip
    asked = {name: sum(case.database == name for case in material.cases) for name in databases}
    rows: list[dict[str, Any]] = [_database_row(arm, p, databases) for p in PROTOCOLS for arm in material.arms]
    tasks = {"arm": "(tasks)", "protocol": "", **{f"db {name}": n for name, n in asked.items()}}
    return Table(
        "III-databases", "Correct answers per database", columns, [*rows, {**tasks, "total": sum(asked.values())}]
    )


def _database_row(arm: Arm, protocol: str, databases: Sequence[str]) -> dict[str, Any]:
    right = [
        c.database for c, one in arm.last.items() if protocol in one.verdicts and one.verdicts[protocol].is_correct
    ]
    counts = {f"db {name}": right.count(name) for name in databases}
    return {"arm": arm.name, "protocol": protocol, **counts, "total": sum(counts.values())}


def comparison_table(material: Material, reference: Arm) -> Table:
    """One arm against every other on the same tasks: exact McNemar, adjusted by Holm within each protocol."""
    others = [arm for arm in material.arms if arm is not reference]
    rows = [row for protocol in PROTOCOLS for row in comparisons(reference, others, protocol, material.cases)]
    note = f"wins: only {reference.name} is correct; losses: only the other is; p: exact two-sided McNemar"
    title = f"{reference.name} against each of the others"
    return Table("III-paired", title, (Column("arm", "against"), *COMPARED), rows, (note, HOLM_NOTE))


COMPARED = (
    Column("protocol", "protocol"),
    Column("paired", "tasks", Kind.COUNT),
    Column("difference", "difference", Kind.POINTS),
    Column("wins", "wins", Kind.COUNT),
    Column("losses", "losses", Kind.COUNT),
    Column("p", "p", Kind.P),
    Column("p_holm", "p (Holm)", Kind.P),
)
HOLM_NOTE = "p (Holm) is adjusted for the number of rows with the same protocol"


def comparisons(reference: Arm, others: Sequence[Arm], protocol: str, cases: Sequence[CaseId]) -> list[dict[str, Any]]:
    """Hold one arm against others, as one family."""
    known = set(cases)
    pairings = {arm.name: pair(reference, arm, protocol, known) for arm in others}
    adjusted: Mapping[str, float] = holm({name: found.p for name, found in pairings.items()})
    return [
        {
            "arm": arm.name, "protocol": protocol, "paired": pairings[arm.name].tasks,
            "difference": difference(reference, arm, protocol, known),
            "wins": pairings[arm.name].wins, "losses": pairings[arm.name].losses,
            "p": pairings[arm.name].p, "p_holm": adjusted[arm.name],
        }
        for arm in others
    ]  # fmt: skip


def protocols_of(arm: Arm) -> tuple[str, ...]:
    """Return the protocols that an arm was scored by."""
    return tuple(protocol for protocol in PROTOCOLS if all(protocol in one.verdicts for one in arm.scored))
