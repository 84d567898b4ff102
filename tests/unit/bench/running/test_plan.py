from __future__ import annotations

import json

import pytest

from groundql.bench.case import Case, CaseId
from groundql.bench.running.plan import Plan, differences, tasks_of
from groundql.bench.running.shard import Shard, cases_of, read_shard, shard_of
from groundql.core.answer import Question
from groundql.errors import InputError
from unit.bench.running.doubles import case

PLAN = Plan(suite="worlds", solvers=("sag", "react"), model="local", limit=5, bounds={"limits": {"rows": 10}})


def test_a_plan_is_read_back_as_it_was_written() -> None:
    assert Plan.from_record(json.loads(json.dumps(PLAN.to_record()))) == PLAN


def test_what_a_later_version_adds_to_a_plan_is_left_out() -> None:
    assert Plan.from_record({**PLAN.to_record(), "colour": "green"}) == PLAN


def test_only_what_is_asked_for_anew_can_differ() -> None:
    begun = PLAN.to_record()
    assert differences(begun, {"suite": "worlds", "solvers": ("sag", "react")}) == []
    assert differences(begun, {"solvers": ("sag",), "limit": 9, "seed": 3}) == [
        "solvers: sag,react when it began, sag now",
        "limit: 5 when it began, 9 now",
        "seed: none when it began, 3 now",
    ]


def test_tasks_go_database_by_database_and_case_by_case() -> None:
    cases = [case(1, "a"), case(2, "b"), case(3, "a")]
    order = [(t.case.id.database, t.case.id.record_id, t.solver, t.repeat) for t in tasks_of(cases, ["x", "y"], 2)]
    assert order[:6] == [
        ("a", 1, "x", 0), ("a", 1, "y", 0), ("a", 3, "x", 0), ("a", 3, "y", 0), ("b", 2, "x", 0), ("b", 2, "y", 0)
    ]  # fmt: skip
    assert len(set(order)) == 12
    assert {o[3] for o in order[6:]} == {1}


def test_shards_part_the_cases_evenly_and_for_good() -> None:
    cases = [Case(CaseId("comics", n), Question("q")) for n in range(1000)]
    parts = [cases_of(cases, Shard(n, 3)) for n in (1, 2, 3)]
    assert sorted(c.id for part in parts for c in part) == [c.id for c in cases]
    assert min(len(part) for part in parts) > 280
    assert [shard_of(CaseId("comics", n), 3) for n in range(8)] == [2, 1, 1, 3, 3, 2, 2, 2]


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "a/b", "1/0", "1/2/3", "-1/2"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a shard"):
        read_shard(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(read_shard(" 2/3 ")) == "2/3"
