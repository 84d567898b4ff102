from __future__ import annotations

import json

from bson import Decimal128, Int64

from groundql.faces.data import container_data
from unit.grounding.small_world import profile_of


def test_a_container_is_valid_json_whatever_numbers_it_holds() -> None:
    numbers = [
        1.5,
        float("nan"),
        float("inf"),
        float("-inf"),
        Decimal128("9E+6000"),
        Decimal128("NaN"),
        Int64(2**53 + 1),
    ]
    found = container_data(profile_of("things", [{"n": n} for n in numbers]).container)
    (field,) = json.loads(json.dumps(found, allow_nan=False))["fields"]
    assert field["numbers"] == {"low": 1.5, "high": {"$numberDecimal": "9E+6000"}}
    assert field["non_finite"] == {"-Infinity": 1, "Infinity": 1, "NaN": 2}
    assert 2**53 + 1 in field["values"]


def test_a_count_is_told_with_how_far_it_can_be_believed() -> None:
    found = container_data(profile_of("things", [{"few": i % 100, "many": f"v{i}"} for i in range(9000)]).container)
    assert {f["path"]: f["counted"] for f in found["fields"]} == {"few": "exact", "many": "about"}
