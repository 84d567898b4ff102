"""Joins, limits, columns, order, and what may repeat a document."""

from __future__ import annotations

from typing import Any

import pytest

from flowing import catalog_of, claims_of
from groundql.core.program import JoinClaim, Place


def join(*stages: Any) -> tuple[str, str | None, str, str | None, str]:
    claims = claims_of(*stages)
    assert len(claims.joins) == 1
    return described(claims.joins[0])


def described(j: JoinClaim) -> tuple[str, str | None, str, str | None, str]:
    local, foreign = (str(r.path) if r is not None else None for r in (j.local, j.foreign))
    return j.container, local, j.to_container, foreign, j.via


LOOKUP = {"from": "products", "localField": "product_id", "foreignField": "_id", "as": "p"}


def test_a_join_names_both_sides() -> None:
    assert join({"$lookup": LOOKUP}) == ("orders", "product_id", "products", "_id", "$lookup")


def test_a_join_by_a_pipeline_names_the_fields_that_it_compares() -> None:
    equal = {"$match": {"$expr": {"$and": [{"$eq": ["$_id", "$$p"]}, {"$gt": ["$price", 1]}]}}}
    lookup = {"from": "products", "let": {"p": "$product_id"}, "pipeline": [equal], "as": "p"}
    assert join({"$lookup": lookup}) == ("orders", "product_id", "products", "_id", "$lookup")


def test_a_join_without_a_condition_names_no_fields() -> None:
    lookup = {"from": "products", "pipeline": [{"$match": {"price": 3}}], "as": "p"}
    assert join({"$lookup": lookup}) == ("orders", None, "products", None, "$lookup")


def test_a_computed_side_of_a_join_is_left_open() -> None:
    lookup = {**LOOKUP, "localField": "key"}
    assert join({"$set": {"key": {"$toInt": "$product_id"}}}, {"$lookup": lookup})[1] is None


def test_a_recursive_join_names_its_start_and_its_end() -> None:
    graph = {"from": "products", "startWith": "$product_id", "connectFromField": "_id", "connectToField": "part_of",
             "as": "r"}  # fmt: skip
    assert join({"$graphLookup": graph}) == ("orders", "product_id", "products", "part_of", "$graphLookup")


def test_a_join_from_joined_documents_starts_in_their_container() -> None:
    second = {"from": "products", "localField": "p.part_of", "foreignField": "_id", "as": "whole"}
    claims = claims_of({"$lookup": LOOKUP}, {"$unwind": "$p"}, {"$lookup": second})
    assert described(claims.joins[1]) == ("products", "part_of", "products", "_id", "$lookup")


def test_every_container_that_is_touched_is_named() -> None:
    inner = [{"$lookup": {"from": "b", "pipeline": [{"$unionWith": "c"}], "as": "x"}}]
    claims = claims_of(
        {"$facet": {"f": inner}},
        {"$graphLookup": {"from": "d", "startWith": 1, "connectFromField": "a", "connectToField": "b", "as": "g"}},
    )
    assert claims.containers == {"orders", "b", "c", "d"}


def test_only_root_limits_count() -> None:
    claims = claims_of({"$limit": 9}, {"$facet": {"a": [{"$limit": 3}]}}, {"$limit": 4})
    assert claims.limits == ((Place(0, "$limit", "$limit"), 9), (Place(2, "$limit", "$limit"), 4))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "3", True, None, 2.5, {"$add": [1, 2]}])
def test_a_limit_that_is_no_whole_number_is_none(value: Any) -> None:
    assert claims_of({"$limit": value}).limits == ()


@pytest.mark.parametrize(
    ("stages", "outputs"),
    [
        ([{"$project": {"_id": 0, "z": "$total", "status": 1, "customer.name": 1}}], ("customer", "status", "z")),
        ([{"$project": {"status": 1}}], ("_id", "status")),
        ([{"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$set": {"m": 1}}], ("_id", "n", "m")),
        ([{"$count": "n"}], ("n",)),
        ([{"$sortByCount": "$status"}], ("_id", "count")),
        ([{"$bucketAuto": {"groupBy": "$total", "buckets": 2}}], ("_id", "count")),
        ([{"$facet": {"a": [], "b": []}}], ("a", "b")),
        ([{"$replaceWith": {"x": 1, "y": "$total"}}], ("x", "y")),
        ([{"$replaceWith": "$scores"}], None),
        ([{"$project": {"total": 0, "lines": 0, "labels": 0, "scores": 0, "_id": 0}}],
         ("customer", "product_id", "status")),
        ([{"$unset": ["total", "lines", "labels", "scores", "_id"]}], ("customer", "product_id", "status")),
        ([{"$lookup": LOOKUP}, {"$project": {"_id": 0, "p": 1}}], ("p",)),
        ([{"$collStats": {}}], None),
    ],
)  # fmt: skip
def test_the_final_columns_are_named_in_order(stages: list[Any], outputs: tuple[str, ...] | None) -> None:
    assert claims_of(*stages).outputs == outputs


@pytest.mark.parametrize(
    ("stages", "is_ordered"),
    [
        ([{"$sort": {"total": 1}}], True),
        ([{"$sort": {"total": 1}}, {"$limit": 3}, {"$project": {"total": 1}}, {"$unwind": "$lines"}], True),
        ([{"$sort": {"total": 1}}, {"$group": {"_id": "$status"}}], False),
        ([{"$group": {"_id": "$status"}}, {"$sort": {"_id": 1}}], True),
        ([{"$sortByCount": "$status"}], True),
        ([{"$limit": 3}], False),
        ([{"$sort": {"total": 1}}, {"$unionWith": "products"}], False),
        ([{"$facet": {"a": [{"$sort": {"total": 1}}]}}], False),
        ([{"$sort": {"total": 1}}, {"$setWindowFields": {"output": {"n": {"$count": {}}}}}], False),
    ],
)
def test_rows_are_ordered_when_nothing_after_the_sort_shuffles_them(stages: list[Any], is_ordered: bool) -> None:
    assert claims_of(*stages).is_ordered is is_ordered


def multiplied(*stages: Any, catalog: Any = None) -> list[str]:
    claims = claims_of(*stages, **({"catalog": catalog} if catalog else {}))
    return [r.text for r in claims.multiplies]


def test_an_unwound_array_map_or_join_can_repeat_a_document() -> None:
    assert multiplied({"$unwind": "$lines"}, {"$unwind": "$lines.tags"}) == ["$lines", "$lines.tags"]
    assert multiplied({"$set": {"kv": {"$objectToArray": "$scores"}}}, {"$unwind": "$kv"}) == ["$kv"]
    by_name = {**LOOKUP, "foreignField": "name"}
    assert multiplied({"$lookup": by_name}, {"$unwind": "$p"}) == ["$p"]


def test_a_repeating_map_or_filtered_array_names_where_it_is_stored() -> None:
    claims = claims_of(
        {"$set": {"kv": {"$objectToArray": "$scores"}, "few": {"$filter": {"input": "$lines", "cond": True}}}},
        {"$unwind": "$kv"},
        {"$unwind": "$few"},
    )
    assert [str(r.path) for r in claims.multiplies] == ["scores.<*>", "lines[]"]


def test_a_join_by_id_or_an_array_of_one_repeats_nothing() -> None:
    assert multiplied({"$lookup": LOOKUP}, {"$unwind": "$p"}) == []
    single = catalog_of({"orders": [{"a": [1]}, {"a": []}]})
    assert multiplied({"$unwind": "$a"}, catalog=single) == []


def test_a_place_leads_down_to_where_a_read_stands() -> None:
    inner = [{"$limit": 1}, {"$match": {"$or": [{"name": "pen"}]}}]
    claims = claims_of({"$limit": 3}, {"$lookup": {"from": "products", "pipeline": inner, "as": "p"}})
    read = next(r for r in claims.reads if r.text == "name")
    assert read.place == Place(1, "$lookup", "$lookup.pipeline[1].$match.$or[0].name")


def test_every_operator_is_listed_wherever_it_stands() -> None:
    claims = claims_of(
        {"$match": {"total": {"$not": {"$gt": 1}}, "$expr": {"$eq": ["$a", {"$abs": "$b"}]}}},
        {"$facet": {"x": [{"$group": {"_id": 1, "n": {"$avg": "$total"}}}]}},
    )
    assert claims.operators == {"$match", "$not", "$gt", "$expr", "$eq", "$abs", "$facet", "$group", "$avg"}
