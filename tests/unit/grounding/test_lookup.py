from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database as MongoDatabase

from groundql.core.path import Path
from groundql.core.program import Admitted, MqlProgram
from groundql.grounding.lookup import lookup_stages
from groundql.languages.safety import admit

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": 1, "a": "X", "list": [{"b": "X"}, {"b": "y"}], "m": {"k1": {"v": "X"}, "k2": {"v": "z"}}, "d.t": "X"},
    {"_id": 2, "a": "y", "list": [], "m": {"k1": {"v": "X"}}, "$odd": {"in": ["X", "X"]}},
    {"_id": 3, "a": None, "m": [1, 2], "nested": [{"m": {"p": 1}}, {"m": {"p": 2, "q": 3}}]},
]


@pytest.mark.parametrize(
    ("path", "is_key", "wanted", "count"),
    [
        ("a", False, "X", 1),
        ("list[].b", False, "X", 1),
        ("m.<*>.v", False, "X", 2),
        ("m", True, "k1", 2),
        ("nested[].m", True, "p", 2),
        ('["d.t"]', False, "X", 1),
        ("$odd.in[]", False, "X", 2),
    ],
)
def test_a_value_is_counted_at_any_path(
    fresh_database: MongoDatabase[dict[str, Any]], path: str, is_key: bool, wanted: str, count: int
) -> None:
    fresh_database["things"].insert_many(DOCUMENTS)
    stages = lookup_stages(Path.parse(path), is_key, [wanted])
    assert isinstance(admit(MqlProgram("things", stages)), Admitted)
    rows = list(fresh_database["things"].aggregate([dict(s) for s in stages]))
    assert rows == [{"_id": wanted, "n": count}]


def test_a_plain_path_begins_with_a_match_that_an_index_can_serve() -> None:
    first, *_ = lookup_stages(Path.parse("list[].b"), False, ["X"])
    assert first == {"$match": {"list.b": {"$in": ["X"]}}}
