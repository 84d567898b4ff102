"""What the server under the tests answers, against what MongoDB answers.

The expectations are derived from MongoDB 7 and 8. Against a real server (MONGODB_URI) that server is the authority:
where it disagrees, the case is wrong.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from conformance import Case, Document, read_cases
from groundql.databases.embedded import EmbeddedServer, find_command

CASES = read_cases(Path(__file__).parent / "data" / "cases.json")
CATEGORIES = sorted({case.category for case in CASES.values()})

KNOWN = {
    "group_unknown_accumulator_error": "refuses, with another error code",
    "datetrunc_string_error": "refuses, with another error code",
    "datediff_string_error": "refuses, with another error code",
    "two_operators_in_object_error": "accepts an object with two operators as a literal",
    "project_path_ends_dot_error": "accepts a path that ends in a dot",
}
"""Cases that the embedded server is known to answer otherwise."""


def disagreements(cases: Iterable[Case], database: Database[dict], *, indexed: bool = False) -> dict[str, str]:
    found = {case.name: case.judge(case.answer(database, indexed=indexed)) for case in cases}
    return {name: problem for name, problem in found.items() if problem}


def report(found: dict[str, str], is_real_server: bool) -> None:
    if is_real_server:
        lines = [f"the case is wrong: {name}: {problem}" for name, problem in found.items()]
    else:
        lines = [f"{name}: {problem}" for name, problem in found.items() if name not in KNOWN]
    if lines:
        pytest.fail("\n".join(line[:700] for line in lines), pytrace=False)


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_case_of_a_category_gets_the_answer_of_mongodb(
    category: str, fresh_database: Database[dict], is_real_server: bool
) -> None:
    cases = [case for case in CASES.values() if case.category == category]
    report(disagreements(cases, fresh_database), is_real_server)


def test_an_index_never_changes_an_answer(fresh_database: Database[dict], is_real_server: bool) -> None:
    cases = [case for case in CASES.values() if case.indexes]
    assert len(cases) > 50
    report(disagreements(cases, fresh_database, indexed=True), is_real_server)


def test_what_is_listed_as_known_is_still_so(fresh_database: Database[dict], is_real_server: bool) -> None:
    if is_real_server:
        pytest.skip("the list is about the embedded server")
    found = disagreements([CASES[name] for name in KNOWN], fresh_database)
    assert set(KNOWN) - set(found) == set(), "the server learned these: take them off the list"


def test_distinct_reads_through_arrays(fresh_database: Database[dict]) -> None:
    fresh_database["c"].insert_many([{"items": [{"q": 1}, {"q": [2, 3]}]}, {"items": {"q": 4}}, {"items": 5}])
    assert sorted(fresh_database["c"].distinct("items.q")) == [1, 2, 3, 4]


@pytest.fixture(scope="module")
def stock_database() -> Iterator[Database[dict]]:
    command = [*find_command(), "--without", "all"]
    with EmbeddedServer(command=command) as server, MongoClient[Document](server.uri) as client:
        yield client["stock"]


def test_the_engine_still_needs_every_patch(stock_database: Database[dict]) -> None:
    listed = subprocess.run([*find_command(), "--list-patches"], capture_output=True, check=True, text=True).stdout
    mends: dict[str, list[str]] = {p["name"]: p["mends"] for p in map(json.loads, listed.splitlines())}
    assert len(mends) > 20
    named = {name for names in mends.values() for name in names}
    failing: set[str] = set()
    for indexed in (False, True):
        failing |= set(disagreements((CASES[name] for name in named), stock_database, indexed=indexed))
    idle = [patch for patch, names in mends.items() if names and not failing & set(names)]
    assert idle == [], "the engine passes their cases by itself: drop these patches"
