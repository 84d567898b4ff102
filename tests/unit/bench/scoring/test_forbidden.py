from __future__ import annotations

import json
from typing import Any

import pytest

from groundql.bench.scoring.forbidden import operator_in, token_in
from groundql.core.program import MqlProgram

CASES: dict[str, tuple[list[Any], str, str]] = {
    "a stage": ([{"$sample": {"size": 1}}], "$sample", "$sample"),
    "an expression": ([{"$set": {"r": {"$rand": {}}}}], "$rand", "$rand"),
    "a writing stage": ([{"$out": "x"}], "$out", "$out"),
    "merging": ([{"$merge": {"into": "x"}}], "$merge", "$merge"),
    "server-side code": ([{"$set": {"f": {"$function": {"body": "", "args": [], "lang": "js"}}}}], *["$function"] * 2),
    "the time of day": ([{"$set": {"t": "$$NOW"}}], "$$NOW", "$$NOW"),
    "inside a nested pipeline": (
        [{"$lookup": {"from": "c", "pipeline": [{"$sample": {"size": 1}}]}}],
        *["$sample"] * 2,
    ),
    "a field of that name": ([{"$project": {"t": "$sample.type"}}], "$sample", ""),
    "a text that begins so": ([{"$match": {"a": "$out of stock"}}], "$out", ""),
    "a text that holds it": ([{"$match": {"a": "now $merge it"}}], "$merge", ""),
    "a longer operator": ([{"$match": {"$sampleRate": 0.3}}], "", ""),
    "a longer variable": ([{"$set": {"t": "$$NOWHERE"}}], "", ""),
    "a custom accumulator": ([{"$group": {"_id": None, "x": {"$accumulator": {}}}}], "", ""),
    "the cluster's time": ([{"$set": {"t": "$$CLUSTER_TIME"}}], "", ""),
    "a harmless program": ([{"$match": {"a": 1}}, {"$limit": 3}], "", ""),
}


@pytest.mark.parametrize(("stages", "token", "operator"), CASES.values(), ids=CASES)
def test_a_token_anywhere_trips_tend_v1_and_only_a_real_operator_strict(
    stages: list[Any], token: str, operator: str
) -> None:
    program = MqlProgram("c", tuple(stages))
    assert token_in(f"db.c.aggregate({json.dumps(stages)})", program) == token
    assert operator_in(program) == operator


def test_words_around_the_program_count_as_well() -> None:
    assert token_in("I do not use $out here: db.c.aggregate([])", MqlProgram("c", ())) == "$out"


def test_an_escape_does_not_hide_a_token() -> None:
    program = MqlProgram("c", ({"$out": "x"},))
    assert token_in(r'db.c.aggregate([{"\u0024out": "x"}])', program) == "$out"
