"""What `find`, counts and `distinct` are read as returns what the driver's own methods return."""

from __future__ import annotations

from typing import Any

import pytest
from bson import json_util
from pymongo.database import Database

from groundql.languages.mongosh import parse_program

Document = dict[str, Any]
DOCUMENTS: list[Document] = [
    {"_id": 1, "a": 3, "t": ["x", "y"], "m": {"k": [{"v": 1}, {"v": 2}]}},
    {"_id": 2, "a": 1, "t": [], "m": {"k": {"v": 2}}},
    {"_id": 3, "a": None, "t": None, "m": {"k": [{"v": [2, 3]}, {}]}},
    {"_id": 4, "t": "x", "m": {"k": []}},
    {"_id": 5, "a": 2, "t": [["x"], "z", None], "m": 7},
    {"_id": 6, "a": 2.0},
]


@pytest.fixture
def filled(fresh_database: Database[Document]) -> Database[Document]:
    fresh_database.c.insert_many(DOCUMENTS)
    return fresh_database


def run(database: Database[Document], text: str) -> list[Document]:
    program = parse_program(text)
    return list(database[program.container].aggregate(list(program.stages)))


def as_set(values: list[Any]) -> list[str]:
    return sorted(json_util.dumps(value, json_options=json_util.RELAXED_JSON_OPTIONS) for value in values)


@pytest.mark.parametrize("field", ["a", "t", "m", "m.k", "m.k.v", "_id", "absent", "m.absent"])
@pytest.mark.parametrize("condition", [{}, {"a": {"$gte": 2}}])
def test_distinct_returns_the_same_values(filled: Database[Document], field: str, condition: Document) -> None:
    rows = run(filled, f"db.c.distinct('{field}', {json_util.dumps(condition)})")
    assert as_set([row["value"] for row in rows]) == as_set(filled.c.distinct(field, condition))


def test_find_with_its_cursor_methods_returns_the_same_documents(filled: Database[Document]) -> None:
    expected = list(filled.c.find({"a": {"$gte": 1}}, {"a": 1}).sort("a", -1).skip(1).limit(2))
    assert run(filled, "db.c.find({a: {$gte: 1}}, {a: 1}).limit(2).skip(1).sort({a: -1})") == expected


def test_counts_are_the_same_and_a_count_of_nothing_gives_no_row(filled: Database[Document]) -> None:
    assert run(filled, "db.c.countDocuments({a: 2})") == [{"count": filled.c.count_documents({"a": 2})}]
    assert run(filled, "db.c.find({a: 2}).limit(1).itcount()") == [{"count": 1}]
    assert run(filled, "db.c.countDocuments({a: 99})") == []


def test_find_one_returns_the_same_document(filled: Database[Document]) -> None:
    assert run(filled, "db.c.findOne({_id: 4}, {t: 1})") == [filled.c.find_one({"_id": 4}, {"t": 1})]
