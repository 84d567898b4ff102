"""Gates and probes that ask the database, on a running server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from pymongo.database import Database

from groundql.checking.asking import ask_rows
from groundql.checking.form import form_gate
from groundql.checking.funnel import measure_funnel
from groundql.checking.gates import path_gate, value_gate
from groundql.checking.joins import join_gate
from groundql.checking.probes import bisect_probe, leaked_id_probe, multiplied_probe, null_column_probe
from groundql.core.answer import Candidate, Grounding, Question
from groundql.core.catalog import Catalog, Container, Sampling, StopReason
from groundql.core.finding import Code, Finding
from groundql.core.ports import Env
from groundql.core.program import MqlProgram
from groundql.core.rows import Limits
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.drawing import SamplePolicy
from groundql.grounding.grounder import open_grounding
from groundql.languages.flow import analyse
from groundql.languages.safety import admit
from groundql.llm.scripted import Scripted

pytestmark = pytest.mark.integration


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


class World:
    """A small database, grounded, on which candidates are checked."""

    def __init__(self, portal: BlockingPortal, uri: str, database: Database[dict[str, Any]]) -> None:
        self.portal = portal
        self.database = MongoDatabase(uri, database.name)
        self.grounder = portal.call(open_grounding, self.database, None, SamplePolicy())
        self.catalog: Catalog = self.grounder.catalog

    def env(self) -> Env:
        return Env(self.database, Scripted([]), self.grounder)

    def grounding(self, text: str = "") -> Grounding:
        return Grounding(Question(text), self.catalog)

    def candidate(self, container: str, *stages: dict[str, Any], run: bool = True) -> Candidate:
        program = MqlProgram(container, stages)
        candidate = Candidate(program, analyse(program, self.catalog))
        if not run:
            return candidate
        admitted = admit(program)
        assert not isinstance(admitted, Finding)
        return replace(candidate, rows=self.portal.call(self.database.execute, admitted, Limits()))

    def check(self, check: Any, candidate: Candidate, text: str = "") -> list[Finding]:
        return list(self.portal.call(check, candidate, self.grounding(text), self.env()))


@pytest.fixture
def world(portal: BlockingPortal, mongo_uri: str, fresh_database: Database[dict[str, Any]]) -> Iterator[World]:
    fresh_database["heroes"].insert_many(
        {
            "_id": f"hero:{n}",
            "name": f"Hero {n}",
            "side": ("Good", "Bad")[n % 2],
            "team": n % 5,
            "label": str(n % 5),
            "powers": [{"p": "flight"}, {"p": "speed"}],
            "tags": ["x", "y", "z"],
        }
        for n in range(40)
    )
    fresh_database["teams"].insert_many({"_id": n, "title": f"Team {n}", "far": n + 1000} for n in range(5))
    fresh_database["members"].insert_many({"_id": n, "team": n % 5} for n in range(20))
    made = World(portal, mongo_uri, fresh_database)
    yield made
    portal.call(made.database.close)


def test_bisection_names_the_stage_and_what_stands_there(world: World) -> None:
    candidate = world.candidate(
        "heroes",
        {"$match": {"side": "Good"}},
        {"$addFields": {"half": {"$divide": ["$team", 2]}}},
        {"$match": {"half": 99}},
        {"$project": {"name": 1}},
    )
    (finding,) = world.check(bisect_probe, candidate)
    assert finding.code is Code.EMPTY
    assert finding.place.stage == 2
    assert "20 rows reach it" in finding.evidence
    assert "half holds there" in finding.evidence
    assert "null" not in finding.evidence  # read at the stage itself, where the computed field exists


def test_a_stage_that_empties_the_result_is_named_once(world: World) -> None:
    (finding,) = world.check(
        bisect_probe, world.candidate("heroes", {"$match": {"_id": "hero:1"}}, {"$match": {"_id": "hero:2"}})
    )
    assert str(finding).startswith(
        'stage 2 $match: removes every row (1 row reaches it; _id holds there: "hero:1" (1))'
    )


def test_a_count_of_nothing_is_told_to_mean_zero_and_another_count_is_not(world: World) -> None:
    (finding,) = world.check(bisect_probe, world.candidate("heroes", {"$match": {"_id": -1}}, {"$count": "n"}))
    assert "which means 0" in finding.evidence
    assert world.check(bisect_probe, world.candidate("heroes", {"$match": {"_id": "hero:1"}}, {"$count": "n"})) == []


def test_bisection_sees_past_a_group_that_makes_one_row_of_many(world: World) -> None:
    candidate = world.candidate(
        "heroes", {"$group": {"_id": "$side", "n": {"$sum": 1}}}, {"$match": {"n": {"$gt": 99}}}
    )
    (finding,) = world.check(bisect_probe, candidate)
    assert finding.place.stage == 1
    assert "20" in finding.evidence


def test_an_empty_first_match_is_found(world: World) -> None:
    candidate = world.candidate("heroes", {"$match": {"side": "Evil"}}, {"$sort": {"name": 1}})
    (finding,) = world.check(bisect_probe, candidate)
    assert finding.place.stage == 0
    assert '"Good" (20)' in finding.evidence


def test_a_result_with_rows_has_no_empty_finding(world: World) -> None:
    assert not world.check(bisect_probe, world.candidate("heroes", {"$limit": 1}))


def test_a_column_that_is_null_everywhere_is_named(world: World) -> None:
    candidate = world.candidate(
        "heroes", {"$group": {"_id": {"side": "$side"}, "n": {"$sum": 1}}}, {"$addFields": {"side": "$nowhere"}}
    )
    findings = world.check(null_column_probe, candidate)
    assert [f.path for f in findings] == ["side"]
    assert findings[0].nearest == ("_id.side",)


@pytest.mark.parametrize(
    ("text", "leaks"), [("which heroes are good?", True), ("give the id of each good hero", False)]
)
def test_a_stored_identifier_nobody_asked_for_is_named(world: World, text: str, leaks: bool) -> None:
    candidate = world.candidate("heroes", {"$match": {"side": "Good"}}, {"$project": {"name": 1}})
    assert bool(world.check(leaked_id_probe, candidate, text)) is leaks


def test_the_key_of_a_group_is_no_leak(world: World) -> None:
    candidate = world.candidate("heroes", {"$group": {"_id": {"$concat": ["a::", "$side"]}}})
    assert not world.check(leaked_id_probe, candidate, "which sides are there?")


def test_two_unwinds_side_by_side_before_a_sum_are_remarked(world: World) -> None:
    both = world.candidate(
        "heroes", {"$unwind": "$powers"}, {"$unwind": "$tags"}, {"$group": {"_id": None, "n": {"$sum": 1}}}
    )
    one = world.candidate("heroes", {"$unwind": "$powers"}, {"$group": {"_id": None, "n": {"$sum": 1}}})
    assert [f.code for f in world.check(multiplied_probe, both)] == [Code.ROWS_MULTIPLIED]
    assert not world.check(multiplied_probe, one)


def lookup(local: str, foreign: str, table: str = "teams") -> dict[str, Any]:
    return {"$lookup": {"from": table, "localField": local, "foreignField": foreign, "as": "t"}}


@pytest.mark.parametrize(
    ("stage", "codes", "blocking"),
    [
        (lookup("team", "_id"), [], False),
        (lookup("team", "far"), [Code.JOIN_UNWITNESSED], True),
        (lookup("label", "_id"), [Code.JOIN_KINDS], True),
        (lookup("team", "team", "members"), [Code.JOIN_FANS_OUT], False),
    ],
)
def test_a_join_must_follow_an_edge_that_the_data_shows(
    world: World, stage: dict[str, Any], codes: list[Code], blocking: bool
) -> None:
    findings = world.check(join_gate, world.candidate("heroes", stage, {"$unwind": "$t"}, run=False))
    assert [f.code for f in findings] == codes
    assert any(f.blocking for f in findings) is blocking


def test_matches_that_stay_in_their_array_repeat_nothing(world: World) -> None:
    sized = ({"$project": {"n": {"$size": "$t"}}},)
    assert not world.check(join_gate, world.candidate("heroes", lookup("team", "team", "members"), *sized, run=False))


def test_a_join_after_a_group_is_judged_by_what_reaches_it(world: World) -> None:
    grouped = ({"$group": {"_id": "$team"}}, {"$limit": 3}, lookup("_id", "_id"))
    assert not world.check(join_gate, world.candidate("heroes", *grouped, run=False))


def test_data_written_since_it_was_read_blocks_nothing(world: World, fresh_database: Database[dict[str, Any]]) -> None:
    fresh_database["heroes"].insert_one({"_id": "hero:new", "side": "Neutral", "cape": "red"})
    for match in ({"side": "Neutral"}, {"cape": "red"}):
        candidate = world.candidate("heroes", {"$match": match}, run=False)
        assert not world.check(path_gate, candidate)
        assert not world.check(value_gate, candidate)
    (finding,) = world.check(value_gate, world.candidate("heroes", {"$match": {"side": "Evil"}}, run=False))
    assert finding.code is Code.VALUE_ABSENT
    assert finding.blocking


@pytest.mark.parametrize(
    "stage",
    [
        {"$unwind": "tags"},
        {"$limit": "5"},
        {"$group": {"n": {"$sum": 1}}},
        {"$project": {"a": 1, "b": 0}},
        {"$sort": {}},
    ],
)
def test_what_the_engine_refuses_is_found_without_reading_a_document(world: World, stage: dict[str, Any]) -> None:
    (finding,) = world.check(form_gate, world.candidate("heroes", stage, run=False))
    assert finding.code is Code.REJECTED


def test_the_funnel_counts_rows_after_each_stage(world: World) -> None:
    candidate = world.candidate(
        "heroes", {"$match": {"side": "Good"}}, {"$unwind": "$tags"}, {"$limit": 7}, {"$project": {"name": 1}}
    )
    funnel = world.portal.call(measure_funnel, candidate, world.grounding(), world.env())
    assert [s.count for s in funnel] == [40, 20, 60, 7, 7]


def test_a_path_that_only_the_sample_lacks_is_looked_up_before_it_is_called_wrong(
    world: World, fresh_database: Database[dict[str, Any]]
) -> None:
    fresh_database["heroes"].insert_one({"_id": "hero:late", "cape": "red"})
    world.catalog = replace(world.catalog, containers=tuple(sampled(c) for c in world.catalog.containers))
    assert not world.check(path_gate, world.candidate("heroes", {"$match": {"cape": "red"}}, run=False))
    (finding,) = world.check(path_gate, world.candidate("heroes", {"$match": {"mask": "red"}}, run=False))
    assert finding.code is Code.UNKNOWN_PATH
    assert finding.blocking


def sampled(container: Container) -> Container:
    return replace(container, sampling=Sampling(40, StopReason.SATURATED, 0.001))


def test_a_probe_that_cannot_run_is_no_finding(world: World) -> None:
    odd = MqlProgram("heroes", ({"$match": {"$nonsense": 1}},))
    assert world.portal.call(ask_rows, odd, world.env()) is None
