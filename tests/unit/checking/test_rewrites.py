from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from bson import ObjectId

from groundql.checking.rewrites import stored_forms, whole_limits
from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo
from groundql.core.program import MqlProgram
from groundql.grounding.profile import Profiler

DAY = dt.datetime(2020, 1, 31, tzinfo=dt.UTC)


def grounding() -> Grounding:
    profiler = Profiler(ContainerInfo("c", documents=40))
    for n in range(40):
        side = ("Good", "Bad", "Neutral Ground")[n % 3]
        profiler.add({"_id": ObjectId(f"{n:024x}"), "side": side, "born": DAY, "n": n, "zip": f"{10000 + n % 4}"})
    return Grounding(Question(""), Catalog("d", (profiler.finish().container,)))


GROUNDING = grounding()


def rewritten(*stages: dict[str, Any]) -> tuple[Any, ...]:
    program = stored_forms(MqlProgram("c", stages), GROUNDING)
    assert isinstance(program, MqlProgram)
    return program.stages


@pytest.mark.parametrize(
    ("match", "right"),
    [
        ({"side": "good"}, {"side": "Good"}),
        ({"side": {"$in": ["good", "BAD"]}}, {"side": {"$in": ["Good", "Bad"]}}),
        ({"side": "neutral_ground"}, {"side": "Neutral Ground"}),
        ({"born": {"$gte": "2020-01-31"}}, {"born": {"$gte": DAY}}),
        ({"n": "7"}, {"n": 7}),
        ({"_id": f"{5:024x}"}, {"_id": ObjectId(f"{5:024x}")}),
        ({"zip": 10001}, {"zip": "10001"}),
    ],
)
def test_a_literal_takes_the_stored_form(match: dict[str, Any], right: dict[str, Any]) -> None:
    assert rewritten({"$match": match}) == ({"$match": right},)


@pytest.mark.parametrize(
    "match",
    [
        {"side": "Good"},
        {"side": "evil"},
        {"side": {"$regex": "good"}},
        {"born": {"$gte": "last year"}},
        {"n": "many"},
        {"nowhere": "good"},
        {"zip": 99999},
        {"n": {"$gt": 7}},
    ],
)
def test_what_the_data_does_not_decide_stays(match: dict[str, Any]) -> None:
    assert rewritten({"$match": match}) == ({"$match": match},)


def test_only_the_field_that_stores_it_is_touched() -> None:
    match = {"$or": [{"side": "good"}, {"zip": "good"}]}
    assert rewritten({"$match": match}) == ({"$match": {"$or": [{"side": "Good"}, {"zip": "good"}]}},)


@pytest.mark.parametrize(("stage", "right"), [({"$limit": 5.0}, {"$limit": 5}), ({"$limit": "5"}, {"$limit": 5})])
def test_a_limit_becomes_a_whole_number(stage: dict[str, Any], right: dict[str, Any]) -> None:
    program = whole_limits(MqlProgram("c", (stage,)), GROUNDING)
    assert program == MqlProgram("c", (right,))


def test_a_malformed_program_is_left_as_it_is() -> None:
    odd = MqlProgram("c", ({"$match": "good"}, {"$limit": "many"}))
    assert stored_forms(whole_limits(odd, GROUNDING), GROUNDING) == odd
