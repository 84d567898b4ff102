from __future__ import annotations

import json
from typing import Any

import pytest

from groundql.bench.case import Case, CaseId, Gold, Suite
from groundql.bench.shape.slices import hops_of, slices_of
from groundql.bench.shape.statistics import (
    containers_of,
    normalised_entropy,
    statistics_by_database,
    statistics_of,
    suite_statistics,
)
from groundql.core.answer import Question
from groundql.core.path import Path
from groundql.core.program import Claims, MqlProgram, Place, Read, ReadStatus


def gold(number: int, *stages: dict[str, Any], database: str = "shop", **labels: Any) -> Gold:
    return Gold(
        CaseId(database, number), f"db.orders.aggregate({json.dumps(stages)})", f"Question {number}?", "", labels
    )


LIMIT = gold(1, {"$limit": 1})
GOLDS = [
    LIMIT,
    gold(2, {"$limit": 2}),
    gold(3, {"$unwind": "$a.b"}, {"$group": {"_id": "$a.c"}}, database="zoo"),
]


def suite(*golds: Gold) -> Suite:
    return Suite("s", tuple(Case(g.id, Question(g.nlq)) for g in golds), {g.id: g for g in golds}, {})


def test_the_table_counts_tasks_stages_operators_and_families() -> None:
    found = suite_statistics(suite(*GOLDS))
    assert (found.databases, found.tasks, found.questions, found.queried) == (2, 3, 3, 2)
    assert (found.stages_median, found.stages_max, found.operators_median, found.operators) == (1, 2, 1, 3)
    assert (found.signatures, found.skeletons, found.scoped_skeletons, found.largest_family) == (3, 2, 2, 2)
    assert (found.array_share, found.nested_path_share) == (0.3333, 0.3333)
    assert found.levels == {"weak": 3, "medium": 0, "strong": 0}


def test_stored_data_is_counted_only_where_it_was_read() -> None:
    assert statistics_of(GOLDS).documents is None
    found = statistics_of(GOLDS, {"shop": {"orders": 7, "unused": 1}, "zoo": {"orders": 2}})
    assert (found.collections, found.documents) == (3, 10)


def test_each_database_is_measured_by_itself() -> None:
    found = statistics_by_database(suite(*GOLDS), {"shop": {"orders": 7}})
    assert {name: (each.tasks, each.documents) for name, each in found.items()} == {"shop": (2, 7), "zoo": (1, 0)}


def test_a_gold_that_cannot_be_read_is_a_task_without_a_program() -> None:
    found = statistics_of([LIMIT, Gold(CaseId("shop", 9), "select 1", "?")])
    assert (found.tasks, found.programs, found.stages_median) == (2, 1, 1)
    assert statistics_of([]).tasks == 0


def test_labels_are_counted_as_they_stand() -> None:
    found = statistics_of([gold(1, {"$limit": 1}, difficulty="L4"), gold(2, {"$limit": 1}, difficulty="L4"), LIMIT])
    assert found.labels == {"difficulty": {"L4": 2}}


def test_two_equal_families_have_full_entropy_only_over_the_families() -> None:
    families = {"a": 50, "b": 50}
    assert normalised_entropy(families, 2) == 1.0
    assert normalised_entropy(families, 100) == pytest.approx(0.1505)
    assert normalised_entropy({"a": 5}, 1) == 0.0
    assert normalised_entropy({"a": 3, "b": 1}, 2) == pytest.approx(0.8113)


def test_the_collections_of_a_program_are_its_own_and_those_it_joins() -> None:
    stages = ({"$lookup": {"from": "a", "as": "x"}}, {"$unionWith": "b"}, {"$unionWith": {"coll": "c"}})
    assert containers_of(MqlProgram("o", stages)) == {"o", "a", "b", "c"}


def test_a_task_lies_on_the_axes_that_are_known_for_it() -> None:
    labels = {"schema_flex": "dynamic_key", "anti_sql_transfer_level": "strong", "stressors": ["nested_arrays"]}
    assert slices_of(gold(1, {"$unwind": "$a"}, {"$group": {"_id": "$a"}}, **labels)) == {
        "database": "shop",
        "schema_flex": "dynamic_key",
        "anti_sql_labelled": "strong",
        "exercises nested_arrays": "yes",
        "anti_sql": "weak",
        "join_depth": "0",
        "aggregation_depth": "medium",
        "stages": "1-3",
    }
    assert slices_of(Gold(CaseId("shop", 1), "nonsense", "?")) == {"database": "shop"}


def test_claims_add_the_hops_and_the_depth() -> None:
    reads = tuple(Read(Place(0), p, ReadStatus.STORED, "c", Path.parse(p)) for p in ("a", "a.<*>.b[].c.d"))
    found = slices_of(LIMIT, Claims(reads=reads))
    assert (found["hops"], found["depth"]) == ("items and entries", "5+")


BOTH = "items and entries"


@pytest.mark.parametrize(
    ("paths", "hops"),
    [
        (["a", "b.c"], "fields"),
        (["a[]", "b"], "items"),
        (["a.<*>"], "entries"),
        (["a[]", "b.<*>"], "items and entries"),
    ],
)
def test_hops_are_those_of_all_paths_together(paths: list[str], hops: str) -> None:
    assert hops_of(map(Path.parse, paths)) == hops
