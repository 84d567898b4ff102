"""Answers, reports and profiles as JSON-ready data; every machine-readable form comes from here."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from bson import json_util

from groundql.core.answer import Answer, Candidate, Evidence
from groundql.core.catalog import Catalog, Container, Field, Witness
from groundql.core.finding import Finding
from groundql.core.path import Path
from groundql.core.program import Program
from groundql.core.rows import Rows
from groundql.languages.read import write
from groundql.service import Profile, Report

RELAXED = json_util.RELAXED_JSON_OPTIONS


def ejson(value: Any) -> Any:
    """Turn BSON values into relaxed Extended JSON data; Decimal128 and dates stay exact."""
    return json.loads(json_util.dumps(value, json_options=RELAXED))


def answer_data(answer: Answer) -> dict[str, Any]:
    """Write an answer as data, its rows and evidence included."""
    return {
        "outcome": answer.outcome.value,
        "question": answer.question.text,
        "query": program_data(answer.program),
        **rows_data(answer.rows),
        "evidence": evidence_data(answer.evidence),
        "diagnosis": answer.diagnosis,
        "candidates": [candidate_data(c) for c in answer.candidates],
        "usage": {**plain(answer.usage), "elapsed_s": round(answer.elapsed_s, 3)},
        "solver": answer.solver,
        "model": answer.model,
        "trace_id": answer.trace_id,
    }


def report_data(report: Report) -> dict[str, Any]:
    """Write a report on a pasted program as data."""
    return {
        "blocked": report.is_blocked,
        "query": program_data(report.program),
        "notes": list(report.notes),
        "findings": [finding_data(f) for f in report.findings],
        **rows_data(report.rows),
        "evidence": evidence_data(report.evidence) if report.rows is not None else None,
        "elapsed_s": round(report.elapsed_s, 3),
    }


def profile_data(profile: Profile) -> dict[str, Any]:
    """Write what `describe` found as data: the whole catalog, a container, or the fields below one path."""
    if profile.container is None:
        return {**catalog_data(profile.catalog), "card": profile.text}
    created = {"created": plain(profile.catalog.created)}
    if len(profile.fields) == len(profile.container.fields):
        return container_data(profile.container) | created
    fields = [field_data(f) for f in profile.fields]
    return {"container": profile.container.name, "fields": fields, "notes": list(profile.notes)} | created


def catalog_data(catalog: Catalog) -> dict[str, Any]:
    """Write a catalog as data."""
    return {
        "database": catalog.database,
        "server": catalog.server,
        "fingerprint": catalog.fingerprint,
        "created": plain(catalog.created),
        "containers": [container_data(c) for c in catalog.containers],
        "edges": [plain(e) for e in catalog.edges],
    }


def container_data(container: Container) -> dict[str, Any]:
    """Write a container with its fields as data."""
    return {
        "name": container.name,
        "type": container.info.type.value,
        "documents": container.info.documents,
        "indexes": list(container.info.indexes),
        "error": container.error,
        "sampling": plain(container.sampling),
        "fields": [field_data(f) for f in container.fields],
        "variants": [plain(v) for v in container.variants],
    }


def field_data(field: Field) -> dict[str, Any]:
    """Write one field as data, shares beside counts; empty parts are left out."""
    data: dict[str, Any] = {
        "path": str(field.path),
        "kinds": {kind.value: count for kind, count in field.kinds},
        "present_share": round(field.present_share, 6),
        "count": field.count,
        "documents": field.documents,
    }
    optional = {
        "lengths": plain(field.lengths),
        "numbers": plain(field.numbers),
        "dates": plain(field.dates),
        "non_finite": dict(field.non_finite),
        "keys": plain(field.keys),
        "values": [ejson(v) for v in field.values],
        "distinct": field.distinct,
        "counted": field.counted.value if field.distinct else "",
        "complete": field.complete,
        "folded": field.folded,
        "declared": field.declared,
        "comment": field.comment,
    }
    return data | {name: value for name, value in optional.items() if value not in (None, "", [], {}, False)}


def program_data(program: Program | None) -> dict[str, Any] | None:
    """Write a program in shell syntax and as Extended JSON."""
    if program is None:
        return None
    return {"shell": write(program, "shell"), "ejson": json.loads(write(program, "ejson"))}


def rows_data(rows: Rows | None) -> dict[str, Any]:
    """Write rows with how many were returned, and whether that is all of them."""
    if rows is None:
        return {"rows": None}
    return {
        "columns": list(rows.columns),
        "rows": [ejson(record) for record in rows.records],
        "returned": len(rows.records),
        "truncated": rows.truncated,
        "truncated_by": rows.truncated_by,
    }


def evidence_data(evidence: Evidence) -> dict[str, Any]:
    """Write evidence as data."""
    return {
        "witnesses": [witness_data(w) for w in evidence.witnesses],
        "paths": [plain(p) for p in evidence.paths],
        "funnel": [plain(s) for s in evidence.funnel],
        "dates": dict(evidence.dates),
        "assumptions": list(evidence.assumptions),
        "warnings": list(evidence.warnings),
        "agreement": evidence.agreement,
        "grounded": plain(evidence.grounded),
    }


def witness_data(witness: Witness) -> dict[str, Any]:
    """Write a witness as data."""
    return {**plain(witness), "stored": ejson(witness.stored)}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Write a finding as data; `stage` counts from 1, 0 for the program as a whole."""
    return {
        "code": finding.code.value,
        "blocking": finding.blocking,
        "stage": finding.place.stage + 1,
        "operator": finding.place.operator,
        "pointer": finding.place.pointer,
        "path": finding.path,
        "message": finding.message,
        "evidence": finding.evidence,
        "nearest": list(finding.nearest),
    }


def candidate_data(candidate: Candidate) -> dict[str, Any]:
    """Write a candidate in short: its program, what was found, how many rows."""
    return {
        "attempt": candidate.attempt,
        "round": candidate.round,
        "form": candidate.form,
        "query": program_data(candidate.program),
        "findings": [finding_data(f) for f in candidate.findings],
        "returned": None if candidate.rows is None else len(candidate.rows.records),
    }


def plain(value: Any) -> Any:
    """Turn our own types into JSON-ready data: paths and kinds as text, dataclasses as objects.

    A number that JSON cannot hold is Extended JSON, as it is in rows.
    """
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return {"$numberDecimal": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return ejson(value)
    return value if value is None or isinstance(value, str | int | float) else ejson(value)
