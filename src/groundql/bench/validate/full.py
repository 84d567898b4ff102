"""The rules for a full release: shares of categories, files, provenance, and what records claim of their programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.case import Gold
from groundql.bench.scoring.judging import read_gold
from groundql.bench.shape.operators import operators_of, root_stages
from groundql.bench.shape.signature import signature, skeleton_summary
from groundql.bench.validate.violation import Rule, Severity, Violation
from groundql.core.program import MqlProgram
from groundql.errors import InputError

_CHUNK: Final = 1 << 20
_SHARES: Final[Sequence[tuple[str, str, Callable[[Mapping[str, Any]], bool], float, bool]]] = (
    ("L4", "difficulty", lambda labels: labels.get("difficulty") == "L4", 0.30, True),
    ("L0", "difficulty", lambda labels: labels.get("difficulty") == "L0", 0.05, False),
    ("schema-flex", "schema_flex", lambda labels: labels.get("schema_flex") not in (None, "", "none"), 0.25, True),
    (
        "structurally schema-flex",
        "sql_infeasibility_class",
        lambda labels: labels.get("sql_infeasibility_class") == "structural_schema_flex",
        0.20,
        True,
    ),
)
"""Name, the label it is read from, what counts, the bound, and whether it is the least.

Source: release rules of TEND
"""
_METADATA: Final = (
    "schema/mongodb_schema/{}.json",
    "metadata/native_feature_manifest/{}.yaml",
    "metadata/migration_recipe/{}.yaml",
    "metadata/agent_design_rationale/{}.yaml",
    "metadata/provenance/{}.json",
)
_SUMS: Final = "SHA256SUMS.txt"


def share_violations(golds: Sequence[Gold]) -> Iterator[Violation]:
    """Hold the shares of difficulties and of schema flexibility against their bounds."""
    absent = {label for _, label, *_ in _SHARES if not any(label in gold.labels for gold in golds)}
    for label in sorted(absent):
        yield Violation(Rule.SHARE, f"no record has the label {label}", "", Severity.WARNING)
    for name, label, counts, bound, is_least in _SHARES:
        if label in absent:
            continue
        share = sum(counts(gold.labels) for gold in golds) / len(golds)
        if (share < bound) if is_least else (share > bound):
            limit = "least" if is_least else "most"
            yield Violation(Rule.SHARE, f"{share:.1%} of the records are {name}, {bound:.0%} at {limit} may be")


def file_violations(folder: Path, golds: Sequence[Gold], sources: Mapping[str, Path]) -> Iterator[Violation]:
    """Look for the files of each database; the published layout's metadata is due where a release has any of it."""
    for database in dict.fromkeys(gold.id.database for gold in golds):
        if database not in sources:
            yield Violation(Rule.FILE, f"there is no {database}.json in mongodb_data", database)
        for place in _METADATA:
            path = folder / place.format(database)
            if path.parent.is_dir() and not path.is_file():
                yield Violation(Rule.FILE, f"there is no {place.format(database)}", database)


def checksum_violations(folder: Path) -> Iterator[Violation]:
    """Hold files against the release's own list of checksums, where it has one."""
    sums = folder / _SUMS
    lines = sums.read_text(encoding="utf-8").splitlines() if sums.is_file() else []
    for line in lines:
        digest, _, name = line.partition(" ")
        path = folder / name.strip().removeprefix("*")
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            yield Violation(Rule.CHECKSUM, f"listed in {_SUMS}, but not there", name.strip())
        elif _digest(path) != digest:
            yield Violation(Rule.CHECKSUM, f"its SHA-256 is not the one in {_SUMS}", name.strip())


def provenance_violations(folder: Path, golds: Sequence[Gold]) -> Iterator[Violation]:
    """Look every provenance reference up in its database's file of provenance."""
    known: dict[str, frozenset[str]] = {}
    for gold in golds:
        references = _texts(gold.labels.get("provenance_refs"))
        if not references:
            continue
        database = gold.id.database
        if database not in known:
            known[database] = _provenance(folder / "metadata" / "provenance" / f"{database}.json")
        lost = [reference for reference in references if reference not in known[database]]
        if lost:
            yield Violation(Rule.PROVENANCE, f"not in its provenance: {', '.join(lost)}", str(gold.id))


def claim_violations(golds: Sequence[Gold]) -> Iterator[Violation]:
    """Hold what records claim of their programs against the programs: constructs, canonical forms, signatures."""
    for gold in golds:
        try:
            program = read_gold(gold.mql)
        except InputError:
            continue
        for rule, told in _claims(gold.labels, program):
            yield Violation(rule, told, str(gold.id))


def _claims(labels: Mapping[str, Any], program: MqlProgram) -> Iterator[tuple[Rule, str]]:
    used = frozenset(operators_of(program))
    metadata = _object(labels.get("native_metadata"))
    claimed = [*_texts(labels.get("mongo_native_constructs")), *_texts(metadata.get("required_native_constructs"))]
    if absent := sorted({name for name in claimed if name.startswith("$") and name not in used}):
        yield Rule.CONSTRUCT, f"claimed, but not in its program: {', '.join(absent)}"
    yield from ((Rule.CONSTRUCT, told) for told in _forms(_object(labels.get("canonical_form_set")), used, program))
    told = str(labels.get("mql_signature") or "").removeprefix("sha256:")
    if told and told != signature(program):
        yield Rule.STALE, "its mql_signature is not that of its program"
    if labels.get("mql_skeleton_summary") not in (None, skeleton_summary(program)):
        yield Rule.STALE, f"its mql_skeleton_summary is not {skeleton_summary(program)}"


def _forms(forms: Mapping[str, Any], used: frozenset[str], program: MqlProgram) -> Iterator[str]:
    roots = frozenset(root_stages(program))
    for name, among, is_wanted in (
        ("must_contain", used, True),
        ("native_must_contain", used, True),
        ("must_contain_at_root", roots, True),
        ("must_not_contain", used, False),
        ("must_not_contain_at_root", roots, False),
    ):
        if wrong := [each for each in _texts(forms.get(name)) if (each in among) is not is_wanted]:
            yield f"{name} is broken by {', '.join(wrong)}"


def _provenance(path: Path) -> frozenset[str]:
    """Read what a database's provenance knows: tables, and references as they stand."""
    try:
        told = _object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return frozenset()
    entries = [_object(entry) for entry in _object(told.get("entries")).values()]
    names = [_texts(entry.get(key)) for entry in entries for key in ("provenance_refs", "source_tables")]
    return frozenset(name for each in names for name in each)


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [text for text in cast("list[Any]", value) if isinstance(text, str)] if isinstance(value, list) else []


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
