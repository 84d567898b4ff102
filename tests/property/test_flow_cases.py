"""No right program is held to read what is not there: the conformance pipelines of the document server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bson import json_util

from flowing import catalog_of
from groundql.core.kind import NUMBERS, Kind
from groundql.core.program import Claims, MqlProgram, ReadStatus
from groundql.languages.flow import analyse
from groundql.languages.flow.literals import kind_of

CASES = Path(__file__).parents[2].parent / "shared" / "engine" / "cases.json"
FINE = frozenset({ReadStatus.STORED, ReadStatus.COMPUTED})

READ_AS_MISSING = {
    "project_missing_omitted": {"$a.b.c"},
    "project_positional_path_not_index": {"$a.0"},
    "type_names/12": {"$o.x.y"},
}
"""Cases whose lost names also stand elsewhere in their documents: read by hand, the result leaves the value out."""

TAKEN_APART = {
    "dynamic_keys_objecttoarray",
    "f_dynamic_keys_pivot",
    "f_dynamic_keys_sum_values",
    "f_dynamic_keys_sum_path",
    "f_keys_list",
}
"""Cases that take apart what two or three documents cannot show to be a map."""


def revive(value: Any) -> Any:
    return json_util.loads(json.dumps(value), json_options=json_util.CANONICAL_JSON_OPTIONS)


def cases() -> list[dict[str, Any]]:
    return json.loads(CASES.read_text(encoding="utf-8")) if CASES.exists() else []


def claims_of_case(case: dict[str, Any]) -> Claims:
    given = {"c": revive(case["docs"])} | {name: revive(docs) for name, docs in case.get("colls", {}).items()}
    return analyse(MqlProgram("c", tuple(revive(case["pipeline"]))), catalog_of(given))


def names_in(value: Any) -> Iterator[str]:
    """Yield every field name in documents."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from names_in(part)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item)


@pytest.mark.skipif(not CASES.exists(), reason=f"the conformance cases are not at {CASES}")
def test_no_case_s_read_is_lost_unless_no_document_has_the_name() -> None:
    judged = 0
    for case in cases():
        if case.get("error") or not case["docs"]:
            continue
        stored = set(names_in(case["docs"])) | set(names_in(case.get("colls", {})))
        for read in claims_of_case(case).reads:
            if read.status in FINE or read.status is ReadStatus.UNKNOWN:
                continue
            judged += 1
            allowed = READ_AS_MISSING.get(case["name"], set())
            if read.status is ReadStatus.FIELD_AS_MAP:
                assert case["name"] in TAKEN_APART, case
                continue
            assert read.status is ReadStatus.ABSENT, (case["name"], read)
            assert read.text in allowed or read.text.rsplit(".", 1)[-1].lstrip("$") not in stored, (case["name"], read)
    assert judged > 50


@pytest.mark.skipif(not CASES.exists(), reason=f"the conformance cases are not at {CASES}")
def test_no_operator_of_a_running_case_is_unknown() -> None:
    unknown = {op for case in cases() if not case.get("error") for op in claims_of_case(case).unknown_operators}
    assert unknown == set()


@pytest.mark.skipif(not CASES.exists(), reason=f"the conformance cases are not at {CASES}")
def test_the_columns_that_a_case_returns_are_those_foreseen() -> None:
    judged = 0
    for case in cases():
        claims = claims_of_case(case)
        if case.get("error") or claims.outputs is None or not isinstance(case.get("expected"), list):
            continue
        judged += 1
        for row in case["expected"]:
            assert set(row) <= set(claims.outputs), case["name"]
    assert judged > 500


@pytest.mark.skipif(not CASES.exists(), reason=f"the conformance cases are not at {CASES}")
def test_the_values_that_a_case_returns_are_of_the_kinds_foreseen() -> None:
    judged = 0
    for case in cases():
        claims = claims_of_case(case)
        if case.get("error") or claims.output_kinds is None or not isinstance(case.get("expected"), list):
            continue
        for row in revive(case["expected"]):
            for name, kinds in claims.output_kinds.items():
                kind = kind_of(row[name]) if name in row else Kind.MISSING
                judged += 1
                # The cases write a whole double as an integer.
                assert kind in kinds or (kind in NUMBERS and kinds & NUMBERS), (case["name"], name, kind, sorted(kinds))
    assert judged > 1000
