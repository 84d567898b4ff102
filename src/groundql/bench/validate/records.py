"""The rules that hold for records: their form, and what they must not share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.audit.across import across_remarks, form_remarks
from groundql.bench.audit.remark import Check
from groundql.bench.case import CaseId, Gold
from groundql.bench.datasets.records import LEAN_FIELDS, read_records, to_gold
from groundql.bench.scoring import parsing
from groundql.bench.scoring.judging import read_gold
from groundql.bench.validate.violation import Rule, Severity, Violation
from groundql.core.program import MqlProgram
from groundql.errors import InputError, LoadError

FULL_FIELDS: Final = (
    "record_id", "db_id", "mechanism", "archetype", "schema_feature", "nl_queries", "MQL", "mql_signature",
    "mql_skeleton_signature", "mql_skeleton_summary", "canonical_form_set", "difficulty", "sql_infeasibility_class",
    "shape_policy", "schema_flex", "world_signature", "native_feature_id", "native_feature_type",
    "native_query_pattern", "mongo_native_constructs", "anti_sql_transfer_level", "anti_sql_transfer_evidence",
    "provenance_refs", "migration_recipe_ref", "native_metadata", "native_verification",
)  # fmt: skip
"""The full record's fields, in the release's order. Source: data/test.json of the TEND release"""
_RULES: Final[Mapping[Check, Rule]] = {
    Check.DUPLICATE: Rule.SIGNATURE,
    Check.QUESTION: Rule.QUESTION,
    Check.SKELETON: Rule.SKELETON,
    Check.LANGUAGE: Rule.LANGUAGE,
    Check.FORBIDDEN: Rule.FORBIDDEN,
}

READ_CHECKS: Final = frozenset(_RULES)
"""What an audit and the rules for records both look at."""


def read_form(path: Path) -> tuple[list[Gold], list[Violation]]:
    """Read a file of records; a record of the wrong form is a violation, and the others are read on.

    Raises: LoadError for a file that is no file of records.
    """
    golds: list[Gold] = []
    violations: list[Violation] = []
    for place, record in read_records(path):
        try:
            gold = to_gold(record, place)
        except LoadError as error:
            violations.append(Violation(Rule.FIELDS, str(error), path.name))
            continue
        golds.append(gold)
        if told := wrong_fields(record, is_lean="lean" in path.stem.lower()):
            violations.append(Violation(Rule.FIELDS, told, str(gold.id)))
    return golds, violations


def wrong_fields(record: Mapping[str, Any], *, is_lean: bool) -> str:
    """Say what is wrong with a record's fields, or nothing.

    A lean record has the lean fields in their order and no others; outside a lean file, labels may follow them.
    """
    names = tuple(record)
    if "nl_queries" in record and not is_lean:
        return _difference(names, FULL_FIELDS)
    return _difference(names if is_lean else names[: len(LEAN_FIELDS)], LEAN_FIELDS)


def _difference(names: Sequence[str], wanted: Sequence[str]) -> str:
    missing = [name for name in wanted if name not in names]
    surplus = [name for name in names if name not in wanted]
    told = [f"without {', '.join(missing)}"] if missing else []
    told += [f"with {', '.join(surplus)}"] if surplus else []
    if not told and tuple(names) != tuple(wanted):
        told = [f"in another order; it is {', '.join(wanted)}"]
    return f"its fields are {' and '.join(told)}" if told else ""


def record_violations(golds: Sequence[Gold]) -> Iterator[Violation]:
    """Hold records against each rule for one of them, and against each other."""
    programs = {gold.id: _program(gold) for gold in golds}
    for gold in golds:
        yield from _parse_violations(gold, programs[gold.id])
        for remark in form_remarks(gold, programs[gold.id]):
            yield Violation(_RULES[remark.check], remark.message, str(gold.id))
        if not gold.colloquial:
            yield Violation(Rule.FIELDS, "it has no colloquial question", str(gold.id), Severity.WARNING)
    yield from _id_violations(golds)
    shared = across_remarks({gold.id: (gold, programs[gold.id]) for gold in golds})
    for case, remarks in shared.items():
        for remark in remarks:
            yield Violation(_RULES[remark.check], remark.message, str(case))


def count_violations(golds: Iterable[Gold], per_database: int | None, databases: int | None) -> Iterator[Violation]:
    """Hold the numbers of databases and of their records against those that are expected, or the records' evenness."""
    counts = Counter(gold.id.database for gold in golds)
    if databases is not None and len(counts) != databases:
        yield Violation(Rule.COUNT, f"{len(counts)} databases, {databases} expected")
    if per_database is None and len(set(counts.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield Violation(Rule.COUNT, f"the databases have unequal numbers of records: {told}", "", Severity.WARNING)
    for name, count in counts.items():
        if per_database is not None and count != per_database:
            yield Violation(Rule.COUNT, f"{count} records, {per_database} expected", name)


def _parse_violations(gold: Gold, program: MqlProgram | None) -> Iterator[Violation]:
    try:
        parsing.read(gold.mql)
    except InputError as error:
        # What only our own reader takes can be scored here, but not by the published protocol.
        severity = Severity.ERROR if program is None else Severity.WARNING
        yield Violation(Rule.PARSE, f"the published reader cannot read it: {error}", str(gold.id), severity)
    if program is not None and not all(map(_is_stage, program.stages)):
        yield Violation(Rule.PARSE, "a stage is not an object with one operator", str(gold.id))


def _is_stage(stage: object) -> bool:
    # The published reader takes anything in brackets for a pipeline.
    return isinstance(stage, Mapping) and len(cast("Mapping[str, Any]", stage)) == 1


def _id_violations(golds: Sequence[Gold]) -> Iterator[Violation]:
    first: dict[int, CaseId] = {}
    for gold in golds:
        earlier = first.setdefault(gold.id.record_id, gold.id)
        if earlier is not gold.id:
            yield Violation(Rule.RECORD_ID, f"its number is also that of {earlier}", str(gold.id))


def _program(gold: Gold) -> MqlProgram | None:
    try:
        return read_gold(gold.mql)
    except InputError:
        return None
