"""What each read of a right program resolves to."""

from __future__ import annotations

from typing import Any

import pytest

from flowing import SHOP, catalog_of, claims_of, read_of
from groundql.core.kind import Kind
from groundql.core.program import ReadStatus

STORED, COMPUTED = ReadStatus.STORED, ReadStatus.COMPUTED


def stored(path: str) -> tuple[ReadStatus, str]:
    return STORED, path


MADE: tuple[ReadStatus, str | None] = (COMPUTED, None)

RESOLUTIONS: list[tuple[str, list[Any], str, tuple[ReadStatus, str | None]]] = [
    ("match on a nested field", [{"$match": {"customer.city": "Rome"}}], "customer.city", stored("customer.city")),
    ("match through an array", [{"$match": {"lines.sku": "a"}}], "lines.sku", stored("lines[].sku")),
    ("match by an index", [{"$match": {"lines.0.sku": "a"}}], "lines.0.sku", stored("lines[].sku")),
    ("match in two arrays", [{"$match": {"lines.tags": "x"}}], "lines.tags", stored("lines[].tags")),
    ("match a map's key", [{"$match": {"scores.2014.n": {"$gt": 1}}}], "scores.2014.n", stored("scores.<*>.n")),
    ("sort through an array", [{"$sort": {"lines.qty": -1}}], "lines.qty", stored("lines[].qty")),
    ("an expression through an array", [{"$project": {"x": "$lines.sku"}}], "$lines.sku", stored("lines[].sku")),
    ("a copy keeps its place", [{"$project": {"c": "$customer"}}, {"$match": {"c.city": "Rome"}}], "c.city",
     stored("customer.city")),
    ("two copies keep it too",
     [{"$set": {"c": "$customer"}}, {"$project": {"d": "$c.name"}}, {"$sort": {"d": 1}}], "d", stored("customer.name")),
    ("an unwound item", [{"$unwind": "$lines"}, {"$match": {"lines.sku": "a"}}], "lines.sku", stored("lines[].sku")),
    ("two unwinds", [{"$unwind": "$lines"}, {"$unwind": "$lines.tags"}, {"$group": {"_id": "$lines.tags"}}],
     "$lines.tags", stored("lines[].tags[]")),
    ("the index of an unwind", [{"$unwind": {"path": "$lines", "includeArrayIndex": "i"}}, {"$sort": {"i": 1}}], "i",
     MADE),
    ("a path gathered, then unwound", [{"$set": {"s": "$lines.sku"}}, {"$unwind": "$s"}, {"$match": {"s": "a"}}], "s",
     stored("lines[].sku")),
    ("a group key", [{"$group": {"_id": "$status"}}, {"$sort": {"_id": 1}}], "_id", stored("status")),
    ("a compound group key", [{"$group": {"_id": {"c": "$customer.name"}}}, {"$match": {"_id.c": "Ann"}}], "_id.c",
     stored("customer.name")),
    ("a count", [{"$group": {"_id": None, "n": {"$sum": 1}}}, {"$match": {"n": 2}}], "n", MADE),
    ("the first of a group", [{"$group": {"_id": "$status", "f": {"$first": "$$ROOT"}}}, {"$match": {"f.total": 1}}],
     "f.total", stored("total")),
    ("the items pushed", [{"$group": {"_id": 1, "all": {"$push": {"t": "$total"}}}}, {"$unwind": "$all"},
                          {"$match": {"all.t": 1}}], "all.t", stored("total")),
    ("the best of a group", [{"$group": {"_id": 1, "b": {"$top": {"sortBy": {"total": -1}, "output": "$customer"}}}},
                             {"$project": {"x": "$b.name"}}], "$b.name", stored("customer.name")),
    ("the sort key of a top", [{"$group": {"_id": 1, "b": {"$topN": {"n": 2, "sortBy": {"total": -1},
                                                                    "output": "$_id"}}}}], "total", stored("total")),
    ("a nested projection", [{"$project": {"customer": {"name": 1}}}, {"$match": {"customer.name": "Ann"}}],
     "customer.name", stored("customer.name")),
    ("a kept array", [{"$project": {"lines.sku": 1}}, {"$unwind": "$lines"}, {"$match": {"lines.sku": "a"}}],
     "lines.sku", stored("lines[].sku")),
    ("what an exclusion leaves", [{"$project": {"customer.city": 0}}, {"$match": {"customer.name": "Ann"}}],
     "customer.name", stored("customer.name")),
    ("a dotted set", [{"$set": {"customer.age": 3}}, {"$match": {"customer.age": 3}}], "customer.age", MADE),
    ("a set inside an array", [{"$set": {"lines.cost": "$total"}}, {"$match": {"lines.cost": 3}}], "lines.cost",
     stored("total")),
    ("beside a dotted set", [{"$set": {"customer.age": 3}}, {"$match": {"customer.name": "Ann"}}], "customer.name",
     stored("customer.name")),
    ("a new root", [{"$replaceRoot": {"newRoot": "$customer"}}, {"$match": {"city": "Rome"}}], "city",
     stored("customer.city")),
    ("a merged root", [{"$replaceWith": {"$mergeObjects": ["$$ROOT", "$customer", {"k": 1}]}},
                       {"$match": {"city": "Rome", "k": 1, "total": 3}}], "total", stored("total")),
    ("the entries of a map", [{"$set": {"kv": {"$objectToArray": "$scores"}}}, {"$unwind": "$kv"},
                              {"$match": {"kv.v.mean": 1}}], "kv.v.mean", stored("scores.<*>.mean")),
    ("the keys of a map", [{"$set": {"kv": {"$objectToArray": "$scores"}}}, {"$unwind": "$kv"},
                           {"$match": {"kv.k": "2014"}}], "kv.k", stored("scores")),
    ("a map that may be missing", [{"$set": {"kv": {"$objectToArray": {"$ifNull": ["$scores", {}]}}}},
                                   {"$project": {"m": {"$sum": "$kv.v.n"}}}], "$kv.v.n", stored("scores.<*>.n")),
    ("a map put back together", [{"$set": {"m": {"$arrayToObject": {"$objectToArray": "$scores"}}}},
                                 {"$match": {"m.2014.n": 3}}], "m.2014.n", stored("scores.<*>.n")),
    ("an array that may be missing", [{"$match": {"$expr": {"$in": ["new", {"$ifNull": ["$labels", []]}]}}}],
     "$labels", stored("labels")),
    ("a choice of two fields", [{"$set": {"x": {"$ifNull": ["$customer.city", "$customer.name"]}}},
                                {"$match": {"x": "Rome"}}], "x", MADE),
    ("a field or null", [{"$set": {"x": {"$ifNull": ["$customer.city", None]}}}, {"$match": {"x": "Rome"}}], "x",
     stored("customer.city")),
    ("the first item", [{"$project": {"l": {"$first": "$lines"}}}, {"$match": {"l.sku": "a"}}], "l.sku",
     stored("lines[].sku")),
    ("the greatest value", [{"$group": {"_id": 1, "m": {"$max": "$total"}}}, {"$match": {"m": 3}}], "m",
     stored("total")),
    ("a field by name", [{"$project": {"x": {"$getField": {"field": "city", "input": "$customer"}}}}],
     "$customer.city", stored("customer.city")),
    ("a map's key by name", [{"$project": {"x": {"$getField": {"field": "2014", "input": "$scores"}}}}],
     "$scores.2014", stored("scores.<*>")),
    ("a field set by name", [{"$replaceWith": {"$setField": {"field": {"$literal": "a.b"}, "input": "$$ROOT",
                                                             "value": "$total"}}},
                             {"$project": {"x": {"$getField": "a.b"}}}], "$$CURRENT.a.b", stored("total")),
    ("the names of a facet", [{"$facet": {"a": [{"$match": {"status": "paid"}}], "b": [{"$count": "n"}]}},
                              {"$project": {"x": {"$first": "$a.customer.name"}}}], "$a.customer.name",
     stored("customer.name")),
    ("a bucket", [{"$bucket": {"groupBy": "$total", "boundaries": [0, 9], "output": {"s": {"$push": "$status"}}}},
                  {"$match": {"s": "paid"}}], "s", MADE),
    ("an automatic bucket", [{"$bucketAuto": {"groupBy": "$total", "buckets": 2}}, {"$match": {"_id.min": 1}}],
     "_id.min", stored("total")),
    ("a count by value", [{"$sortByCount": "$status"}, {"$match": {"_id": "paid", "count": 1}}], "_id",
     stored("status")),
    ("a window", [{"$setWindowFields": {"partitionBy": "$status", "sortBy": {"total": 1},
                                        "output": {"r": {"$rank": {}}}}}, {"$match": {"r": 1}}], "r", MADE),
    ("a shifted value", [{"$setWindowFields": {"sortBy": {"total": 1}, "output": {
        "prev": {"$shift": {"output": "$total", "by": -1}}}}}, {"$match": {"prev": 1}}], "prev", stored("total")),
    ("a filled field", [{"$fill": {"sortBy": {"total": 1}, "output": {"status": {"method": "locf"}}}},
                        {"$match": {"status": "paid"}}], "status", stored("status")),
    ("the outer documents after a join", [{"$lookup": {"from": "products", "localField": "product_id",
                                                       "foreignField": "_id", "as": "p"}},
                                          {"$match": {"p.maker.name": "Inky"}}], "p.maker.name", stored("maker.name")),
    ("inside a join's pipeline", [{"$lookup": {"from": "products", "let": {"p": "$product_id"}, "pipeline": [
        {"$match": {"$expr": {"$eq": ["$_id", "$$p"]}}}, {"$project": {"label": "$name"}}], "as": "p"}},
        {"$unwind": "$p"}, {"$match": {"p.label": "pen"}}], "p.label", stored("name")),
    ("the variable of a join", [{"$lookup": {"from": "products", "let": {"c": "$customer"}, "pipeline": [
        {"$match": {"$expr": {"$eq": ["$name", "$$c.name"]}}}], "as": "p"}}], "$$c.name", stored("customer.name")),
    ("a recursive join", [{"$graphLookup": {"from": "products", "startWith": "$product_id", "connectFromField": "_id",
                                            "connectToField": "part_of", "depthField": "d", "as": "parts"}},
                          {"$match": {"parts.name": "ink"}}], "parts.name", stored("name")),
    ("its depth", [{"$graphLookup": {"from": "products", "startWith": "$product_id", "connectFromField": "_id",
                                     "connectToField": "part_of", "depthField": "d", "as": "parts"}},
                   {"$match": {"parts.d": 1}}], "parts.d", MADE),
    ("a union's other side", [{"$unionWith": {"coll": "products", "pipeline": [{"$project": {"price": 1}}]}},
                              {"$match": {"price": 3}}], "price", stored("price")),
    ("written documents", [{"$documents": [{"a": {"b": 1}}, {"a": {"c": 2}}]}, {"$match": {"a.c": 1}}], "a.c", MADE),
    ("a nested array of joined names", [{"$project": {"t": {"$reduce": {
        "input": "$lines.tags", "initialValue": [], "in": {"$concatArrays": ["$$value", "$$this"]}}}}},
        {"$match": {"t": "x"}}], "t", MADE),
]  # fmt: skip


@pytest.mark.parametrize(("stages", "text", "expected"), [c[1:] for c in RESOLUTIONS], ids=[c[0] for c in RESOLUTIONS])
def test_a_right_read_resolves_where_it_stands(
    stages: list[Any], text: str, expected: tuple[ReadStatus, str | None]
) -> None:
    claims = claims_of(*stages)
    read = read_of(claims, text)
    assert (read.status, str(read.path) if read.path is not None else None) == expected
    assert {r.status for r in claims.reads} <= {STORED, COMPUTED}
    assert not claims.unknown_operators


SCOPES: list[tuple[str, Any, str, str]] = [
    ("map", {"$map": {"input": "$lines", "as": "l", "in": "$$l.sku"}}, "$$l.sku", "lines[].sku"),
    ("map with this", {"$map": {"input": "$lines", "in": "$$this.qty"}}, "$$this.qty", "lines[].qty"),
    ("filter", {"$filter": {"input": "$lines", "as": "l", "cond": {"$gt": ["$$l.qty", 1]}}}, "$$l.qty", "lines[].qty"),
    ("reduce", {"$reduce": {"input": "$lines", "initialValue": 0, "in": {"$add": ["$$value", "$$this.qty"]}}},
     "$$this.qty", "lines[].qty"),
    ("reduce over a map", {"$reduce": {"input": {"$objectToArray": "$scores"}, "initialValue": {"best": 0}, "in": {
        "best": {"$max": ["$$value.best", "$$this.v.mean"]}}}}, "$$this.v.mean", "scores.<*>.mean"),
    ("let", {"$let": {"vars": {"c": "$customer"}, "in": "$$c.city"}}, "$$c.city", "customer.city"),
    ("nested scopes", {"$map": {"input": "$lines", "as": "l", "in": {"$filter": {"input": "$$l.tags", "as": "t",
                                                                             "cond": {"$eq": ["$$t", "$$l.sku"]}}}}},
     "$$t", "lines[].tags[]"),
    ("root inside a scope", {"$map": {"input": "$lines", "in": "$$ROOT.total"}}, "$$ROOT.total", "total"),
    ("current", "$$CURRENT.total", "$$CURRENT.total", "total"),
    ("sorted items", {"$sortArray": {"input": "$lines", "sortBy": {"qty": -1}}}, "qty", "lines[].qty"),
    ("sliced items", {"$map": {"input": {"$slice": ["$lines", 2]}, "in": "$$this.sku"}}, "$$this.sku", "lines[].sku"),
    ("reversed items", {"$map": {"input": {"$reverseArray": "$lines"}, "in": "$$this.sku"}}, "$$this.sku",
     "lines[].sku"),
    ("filtered, then mapped", {"$map": {"input": {"$filter": {"input": "$lines", "cond": True}}, "in": "$$this.sku"}},
     "$$this.sku", "lines[].sku"),
    ("zipped", {"$map": {"input": {"$zip": {"inputs": ["$labels", "$labels"]}}, "in": {"$first": "$$this"}}},
     "$labels", "labels"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text", "path"), [c[1:] for c in SCOPES], ids=[c[0] for c in SCOPES])
def test_a_variable_knows_the_stored_place_of_its_value(value: Any, text: str, path: str) -> None:
    claims = claims_of({"$project": {"x": value}})
    assert str(read_of(claims, text).path) == path
    assert {r.status for r in claims.reads} <= {STORED, COMPUTED}


def test_a_reduced_object_keeps_the_fields_that_its_steps_add() -> None:
    step = {"$mergeObjects": ["$$value", {"n": {"$add": [{"$ifNull": ["$$value.n", 0]}, 1]}}]}
    claims = claims_of({"$project": {"x": {"$reduce": {"input": "$lines", "initialValue": {}, "in": step}}}})
    assert {r.status for r in claims.reads} <= {STORED, COMPUTED}


KINDS: list[tuple[str, Any, set[str]]] = [
    ("a field that may be missing", "$customer.city", {"string", "missing"}),
    ("a nullable field", "$status", {"string", "null"}),
    ("a path through an array", "$lines.qty", {"array"}),
    ("text", {"$concat": ["$customer.name", "!"]}, {"string"}),
    ("text of what may be missing", {"$concat": ["$customer.city", "!"]}, {"string", "null"}),
    ("a quotient", {"$divide": ["$total", 2]}, {"double", "null"}),
    ("a count", {"$size": "$lines"}, {"int"}),
    ("a truth", {"$gt": ["$total", 1]}, {"bool"}),
    ("a date from text", {"$dateFromString": {"dateString": "$customer.name"}}, {"date"}),
    ("a conversion", {"$convert": {"input": "$total", "to": "string", "onError": 0}}, {"string", "int"}),
    ("a default", {"$ifNull": ["$customer.city", "none"]}, {"string"}),
    ("a choice", {"$cond": [True, "$total", "none"]}, {"int", "double", "string"}),
    ("a switch", {"$switch": {"branches": [{"case": True, "then": "low"}], "default": 3}}, {"string", "int"}),
    ("removed or kept", {"$cond": [True, "$customer.name", "$$REMOVE"]}, {"string", "missing"}),
    ("an item", {"$arrayElemAt": ["$labels", 0]}, {"string", "missing"}),
    ("a sum", {"$sum": "$lines.qty"}, {"int", "long", "double"}),
    ("the time", "$$NOW", {"date"}),
    ("a difference of dates", {"$dateDiff": {"startDate": "$$NOW", "endDate": "$$NOW", "unit": "day"}}, {"long"}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kinds"), [c[1:] for c in KINDS], ids=[c[0] for c in KINDS])
def test_a_column_has_the_kinds_that_its_expression_can_come_to(value: Any, kinds: set[str]) -> None:
    claims = claims_of({"$project": {"_id": 0, "x": value}})
    assert claims.output_kinds is not None
    assert set(claims.output_kinds["x"]) == kinds


def test_a_value_that_is_an_object_or_an_array_is_read_through_both() -> None:
    catalog = catalog_of({"c": [{"_id": 1, "s": {"v": "1"}}, {"_id": 2, "s": [{"v": "2"}, {"v": None}]}]})
    claims = claims_of({"$match": {"s.v": "1"}}, {"$project": {"x": "$s.v"}}, container="c", catalog=catalog)
    matched, gathered = read_of(claims, "s.v"), read_of(claims, "$s.v")
    assert matched.status is COMPUTED
    assert matched.note == "from s.v, s[].v"
    assert matched.kinds == {Kind.STRING, Kind.NULL}
    assert Kind.ARRAY in gathered.kinds


def test_an_expression_looks_into_arrays_of_arrays_and_a_match_does_not() -> None:
    catalog = catalog_of({"c": [{"x": [[{"y": 1}]]}]})
    claims = claims_of({"$match": {"x.y": 1}}, {"$project": {"z": "$x.y", "x.y": 1}}, container="c", catalog=catalog)
    assert [(r.role, r.status) for r in claims.reads] == [
        ("match", ReadStatus.ABSENT),
        ("project", STORED),
        ("project", STORED),
    ]


def test_the_items_of_one_array_can_be_merged() -> None:
    merged = {"$set": {"all": {"$mergeObjects": "$lines"}}}
    assert str(read_of(claims_of(merged, {"$match": {"all.sku": "a"}}), "all.sku").path) == "lines[].sku"


def test_the_keys_of_a_map_made_from_values_are_not_stored_ones() -> None:
    pairs = {"$map": {"input": "$lines", "in": {"k": "$$this.sku", "v": "$$this.qty"}}}
    claims = claims_of(
        {"$set": {"kv": {"$objectToArray": {"$arrayToObject": pairs}}}}, {"$project": {"x": "$kv.k", "y": "$kv.v"}}
    )
    assert read_of(claims, "$kv.k").status is COMPUTED
    assert str(read_of(claims, "$kv.v").path) == "lines[].qty"


def test_names_with_dots_and_dollars_are_reached_by_get_field() -> None:
    catalog = catalog_of({"c": [{"a.b": 1, "$p": {"x": 2}}]})
    field = {"$getField": {"field": "x", "input": {"$getField": {"field": {"$literal": "$p"}}}}}
    claims = claims_of({"$project": {"y": field, "z": {"$getField": "a.b"}}}, container="c", catalog=catalog)
    assert [str(r.path) for r in claims.reads] == ["$p", "$p.x", '["a.b"]']


def test_a_folded_place_holds_anything_below() -> None:
    from dataclasses import replace

    from groundql.core.path import Path

    container = SHOP.containers[0]
    fields = tuple(
        replace(f, folded=f.path == Path(("customer",))) for f in container.fields if f.path.dotted != "customer.city"
    )
    catalog = replace(SHOP, containers=(replace(container, fields=fields),))
    claims = claims_of({"$match": {"customer.deep.down": 1}}, catalog=catalog)
    assert [r.status for r in claims.reads] == [ReadStatus.UNKNOWN]


def test_the_stages_that_keep_documents_keep_what_is_known_of_them() -> None:
    stages: list[Any] = [
        {"$match": {}}, {"$limit": 5}, {"$skip": 1}, {"$sample": {"size": 2}}, {"$sort": {"_id": 1}},
        {"$redact": "$$KEEP"}, {"$densify": {"field": "total", "range": {"step": 1, "bounds": "full"}}},
        {"$geoNear": {"near": [0, 0], "distanceField": "dist.m", "query": {"status": "paid"}}},
        {"$search": {"text": {"query": "x", "path": "name"}}},
        {"$rankFusion": {"input": {"pipelines": {"a": [{"$match": {"status": "paid"}}]}}}},
        {"$vectorSearch": {"path": "labels", "filter": {"status": "paid"}, "limit": 3}},
    ]  # fmt: skip
    claims = claims_of(*stages, {"$match": {"customer.city": "Rome", "dist.m": {"$lt": 3}}})
    assert str(read_of(claims, "customer.city").path) == "customer.city"
    assert read_of(claims, "dist.m").status is COMPUTED
    assert {r.status for r in claims.reads} <= {STORED, COMPUTED}
    assert not claims.unknown_operators
