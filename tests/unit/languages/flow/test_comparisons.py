"""Which literal is compared with which place, and whether that decides what goes on."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from bson import ObjectId, Regex

from flowing import catalog_of, claims_of
from groundql.core.kind import Kind
from groundql.core.program import Comparison, ReadStatus

DAY = dt.datetime(2024, 3, 1)


def only(*stages: Any) -> Comparison:
    found = [c for c in claims_of(*stages).comparisons if c.operator not in ("=key", "$elemMatch")]
    assert len(found) == 1, [(c.operator, c.value) for c in found]
    return found[0]


KV = {"$objectToArray": "$scores"}

COMPARED: list[tuple[str, list[Any], str, str | None, Any]] = [
    ("an equality", [{"$match": {"status": "paid"}}], "$eq", "status", "paid"),
    ("a range", [{"$match": {"total": {"$gte": 3}}}], "$gte", "total", 3),
    ("a list", [{"$match": {"status": {"$in": ["a", "b"]}}}], "$in", "status", ["a", "b"]),
    ("an exclusion", [{"$match": {"status": {"$nin": ["a"]}}}], "$nin", "status", ["a"]),
    ("a negation", [{"$match": {"total": {"$not": {"$gt": 3}}}}], "$gt", "total", 3),
    ("an alternative", [{"$match": {"$or": [{"status": "paid"}]}}], "$eq", "status", "paid"),
    ("a pattern", [{"$match": {"status": {"$regex": "^p", "$options": "i"}}}], "$regex", "status", Regex("^p", "i")),
    ("a bare pattern", [{"$match": {"status": Regex("^p")}}], "$regex", "status", Regex("^p")),
    ("existence", [{"$match": {"status": {"$exists": True}}}], "$exists", "status", True),
    ("a type", [{"$match": {"status": {"$type": "string"}}}], "$type", "status", "string"),
    ("a size", [{"$match": {"labels": {"$size": 2}}}], "$size", "labels", 2),
    ("the items of an array", [{"$match": {"labels": "new"}}], "$eq", "labels[]", "new"),
    ("all items", [{"$match": {"labels": {"$all": ["new"]}}}], "$all", "labels[]", ["new"]),
    ("a whole array", [{"$match": {"labels": ["new", "gift"]}}], "$eq", "labels", ["new", "gift"]),
    ("an array's fields", [{"$match": {"lines.sku": "a"}}], "$eq", "lines[].sku", "a"),
    ("an element's field", [{"$match": {"lines": {"$elemMatch": {"sku": "a"}}}}], "$eq", "lines[].sku", "a"),
    ("an element itself", [{"$match": {"labels": {"$elemMatch": {"$eq": "new"}}}}], "$eq", "labels[]", "new"),
    ("a date", [{"$match": {"total": {"$lt": DAY}}}], "$lt", "total", DAY),
    ("an expression", [{"$match": {"$expr": {"$gt": ["$total", 3]}}}], "$gt", "total", 3),
    ("the literal first", [{"$match": {"$expr": {"$gt": [3, "$total"]}}}], "$lt", "total", 3),
    ("a protected literal", [{"$match": {"$expr": {"$eq": ["$status", {"$literal": "$5"}]}}}], "$eq", "status", "$5"),
    ("an expression's list", [{"$match": {"$expr": {"$in": ["$status", ["a", "b"]]}}}], "$in", "status", ["a", "b"]),
    ("a literal in an array", [{"$match": {"$expr": {"$in": ["new", "$labels"]}}}], "$eq", "labels[]", "new"),
    ("a literal in a path", [{"$match": {"$expr": {"$in": ["a", "$lines.sku"]}}}], "$eq", "lines[].sku", "a"),
    ("a subset", [{"$match": {"$expr": {"$setIsSubset": [["new"], "$labels"]}}}], "$in", "labels[]", ["new"]),
    ("a matched pattern", [{"$match": {"$expr": {"$regexMatch": {"input": "$status", "regex": "p"}}}}], "$regex",
     "status", "p"),
    ("a filter's condition", [{"$project": {"x": {"$filter": {"input": "$lines", "as": "l",
                                                            "cond": {"$eq": ["$$l.sku", "a"]}}}}}], "$eq",
     "lines[].sku", "a"),
    ("a filter over plain items", [{"$project": {"x": {"$filter": {"input": "$labels",
                                                                 "cond": {"$eq": ["$$this", "new"]}}}}}], "$eq",
     "labels[]", "new"),
    ("a whole array in an expression", [{"$match": {"$expr": {"$eq": ["$labels", "new"]}}}], "$eq", "labels", "new"),
    ("one item", [{"$match": {"$expr": {"$eq": [{"$first": "$labels"}, "new"]}}}], "$eq", "labels[]", "new"),
    ("a type in an expression", [{"$match": {"$expr": {"$eq": [{"$type": "$status"}, "null"]}}}], "$type", "status",
     "null"),
    ("a map's key as a value", [{"$set": {"kv": KV}}, {"$unwind": "$kv"}, {"$match": {"kv.k": "2014"}}], "$eq",
     "scores", "2014"),
    ("a map's entry", [{"$set": {"kv": KV}}, {"$unwind": "$kv"}, {"$match": {"kv.v.n": 3}}], "$eq", "scores.<*>.n", 3),
    ("a copy", [{"$project": {"s": "$status"}}, {"$match": {"s": "paid"}}], "$eq", "status", "paid"),
    ("a computed value", [{"$set": {"s": {"$toUpper": "$status"}}}, {"$match": {"s": "PAID"}}], "$eq", None, "PAID"),
    ("an expression's value", [{"$match": {"$expr": {"$eq": [{"$toUpper": "$status"}, "PAID"]}}}], "$eq", None,
     "PAID"),
    ("a joined field", [{"$lookup": {"from": "products", "localField": "product_id", "foreignField": "_id",
                                     "as": "p"}}, {"$match": {"p.name": "pen"}}], "$eq", "name", "pen"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "operator", "path", "value"), [c[1:] for c in COMPARED], ids=[c[0] for c in COMPARED]
)
def test_a_literal_is_compared_with_the_place_it_is_held_against(
    stages: list[Any], operator: str, path: str | None, value: Any
) -> None:
    found = only(*stages)
    read = found.read
    assert (found.operator, str(read.path) if read.path is not None else None, found.value) == (operator, path, value)
    assert found.is_filter


def test_a_computed_side_says_what_it_was_computed_from() -> None:
    found = only({"$match": {"$expr": {"$eq": [{"$toUpper": "$status"}, "PAID"]}}})
    assert (found.read.status, found.read.note) == (ReadStatus.COMPUTED, "from status")


def test_a_named_key_is_a_comparison_with_the_map() -> None:
    claims = claims_of({"$match": {"scores.2014.n": {"$gt": 2}}})
    key, number = claims.comparisons
    assert (key.operator, str(key.read.path), key.value) == ("=key", "scores.<*>.n", "2014")
    assert (number.operator, number.read.key) == ("$gt", "2014")


def test_a_union_with_more_values_compares_nothing() -> None:
    union = {"$setUnion": [{"$ifNull": ["$labels", []]}, ["more"]]}
    claims = claims_of({"$project": {"x": union, "y": {"$setDifference": ["$labels", []]}}})
    assert claims.comparisons == ()
    assert claims.texts == ("more",)


def test_asking_whether_a_key_is_there_decides_which_rows_go_on() -> None:
    key = claims_of({"$match": {"scores.2014": {"$exists": True}}}).comparisons[0]
    assert (key.operator, key.value, key.is_filter) == ("=key", "2014", True)
    assert not claims_of({"$unset": "scores.2014"}).comparisons[0].is_filter


def test_a_copy_of_an_entry_still_knows_its_key() -> None:
    claims = claims_of({"$project": {"s": "$scores.2014"}}, {"$match": {"s.n": 3}})
    read = claims.comparisons[-1].read
    assert (str(read.path), read.key) == ("scores.<*>.n", "2014")


@pytest.mark.parametrize(
    ("stage", "is_filter"),
    [
        ({"$project": {"x": {"$cond": [{"$eq": ["$status", "paid"]}, 1, 0]}}}, False),
        ({"$set": {"x": {"$eq": ["$status", "paid"]}}}, False),
        ({"$group": {"_id": 1, "n": {"$sum": {"$cond": [{"$eq": ["$status", "paid"]}, 1, 0]}}}}, True),
        ({"$facet": {"a": [{"$match": {"status": "paid"}}]}}, True),
        ({"$redact": {"$cond": [{"$eq": ["$status", "paid"]}, "$$KEEP", "$$PRUNE"]}}, True),
    ],
)
def test_only_what_decides_which_rows_count_is_a_filter(stage: Any, is_filter: bool) -> None:
    assert only(stage).is_filter is is_filter


def test_a_test_becomes_a_filter_when_a_later_match_rests_on_it() -> None:
    flag = {"$set": {"flag": {"$and": [{"$eq": ["$status", "paid"]}, {"$gt": ["$total", 3]}]}}}
    assert [c.is_filter for c in claims_of(flag).comparisons] == [False, False]
    assert [c.is_filter for c in claims_of(flag, {"$match": {"flag": True}}).comparisons] == [True, True, True]
    other = {"$match": {"total": 3}}
    assert [c.is_filter for c in claims_of(flag, other).comparisons] == [False, False, True]


def test_a_field_that_holds_one_value_or_many_is_compared_with_both() -> None:
    catalog = catalog_of({"orders": [{"t": "x"}, {"t": ["y", "z"]}]})
    found = claims_of({"$match": {"t": "y"}}, catalog=catalog).comparisons[0]
    assert (found.read.status, found.read.note, found.read.kinds) == (
        ReadStatus.COMPUTED,
        "from t, t[]",
        {Kind.STRING},
    )


def test_both_literals_of_one_condition_are_compared() -> None:
    claims = claims_of({"$match": {"total": {"$gte": 1, "$lt": 9}}})
    assert [(c.operator, c.value) for c in claims.comparisons] == [("$gte", 1), ("$lt", 9)]


def test_every_literal_is_noted_and_structure_is_not() -> None:
    claims = claims_of(
        {"$match": {"total": {"$gte": 40}, "_id": ObjectId("5f000000000000000000000a"), "status": re.compile("pa")}},
        {"$set": {"at": {"$gt": ["$$NOW", DAY]}, "label": "high"}},
        {"$group": {"_id": "$status", "n": {"$sum": 1}, "m": {"$max": {"$add": ["$total", 2.5]}}}},
        {"$project": {"_id": 0, "n": 1}},
        {"$sort": {"n": -1}},
        {"$limit": 7},
    )
    assert claims.numbers == (40.0, 2.5, 7.0)
    assert claims.texts == ("pa", "2024-03-01T00:00:00", "high")
