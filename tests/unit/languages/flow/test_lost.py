"""What a wrong read is told: its status, the stage it stands at, and the nearest right names."""

from __future__ import annotations

from typing import Any

import pytest

from flowing import SHOP, catalog_of, claims_of, read_of
from groundql.core.program import Claims, Read, ReadStatus

ABSENT, DROPPED, EARLY = ReadStatus.ABSENT, ReadStatus.DROPPED, ReadStatus.EARLY
KEY, MAP, UNKNOWN = ReadStatus.KEY_AS_FIELD, ReadStatus.FIELD_AS_MAP, ReadStatus.UNKNOWN


def lost(claims: Claims) -> Read:
    """Return the one read that did not resolve."""
    wrong = [r for r in claims.reads if r.status not in (ReadStatus.STORED, ReadStatus.COMPUTED)]
    assert len(wrong) == 1, [(r.text, r.status) for r in wrong]
    return wrong[0]


LOST: list[tuple[str, list[Any], str, ReadStatus, int, str]] = [
    ("a misspelt match key", [{"$match": {"statsu": "paid"}}], "statsu", ABSENT, 0, "status"),
    ("a known head with a wrong leaf", [{"$project": {"x": "$customer.nope"}}], "$customer.nope", ABSENT, 0, ""),
    ("a leaf that lies elsewhere", [{"$match": {"sku": "a"}}], "sku", ABSENT, 0, "lines[].sku"),
    ("another spelling", [{"$match": {"productId": 7}}], "productId", ABSENT, 0, "product_id"),
    ("a sort on nothing", [{"$sort": {"totl": 1}}], "totl", ABSENT, 0, "total"),
    ("an inclusion of nothing", [{"$project": {"totl": 1}}], "totl", ABSENT, 0, "total"),
    ("a group key of nothing", [{"$group": {"_id": "$customr.name"}}], "$customr.name", ABSENT, 0, "customer.name"),
    ("an unwind of nothing", [{"$unwind": "$line"}], "$line", ABSENT, 0, "lines"),
    ("a window over nothing", [{"$setWindowFields": {"partitionBy": "$stat", "output": {"n": {"$count": {}}}}}],
     "$stat", ABSENT, 0, "status"),
    ("below a scalar", [{"$match": {"total.amount": 1}}], "total.amount", ABSENT, 0, "total"),
    ("an index in an expression", [{"$project": {"x": "$labels.0"}}], "$labels.0", ABSENT, 0, ""),
    ("below a variable", [{"$project": {"x": {"$map": {"input": "$lines", "as": "l", "in": "$$l.quantity"}}}}],
     "$$l.quantity", ABSENT, 0, ""),
    ("the wrong name below a variable", [{"$project": {"x": {"$map": {"input": "$lines", "as": "l",
                                                                      "in": "$$l.skus"}}}}],
     "$$l.skus", ABSENT, 0, "$$l.sku"),
    ("an unknown variable", [{"$project": {"x": {"$map": {"input": "$lines", "as": "l", "in": "$$line.sku"}}}}],
     "$$line.sku", ABSENT, 0, "$$l"),
    ("within an elemMatch", [{"$match": {"lines": {"$elemMatch": {"skuu": "a"}}}}], "lines.skuu", ABSENT, 0,
     "lines[].sku"),
    ("a root field within an elemMatch", [{"$match": {"lines": {"$elemMatch": {"status": "a"}}}}], "lines.status",
     ABSENT, 0, ""),
    ("a local field of a join", [{"$lookup": {"from": "products", "localField": "product", "foreignField": "_id",
                                              "as": "p"}}], "product", ABSENT, 0, "product_id"),
    ("a foreign field of a join", [{"$lookup": {"from": "products", "localField": "product_id", "foreignField": "id",
                                                "as": "p"}}], "id", ABSENT, 0, "_id"),
    ("within a join's pipeline", [{"$lookup": {"from": "products", "pipeline": [{"$match": {"prize": 3}}],
                                               "as": "p"}}], "prize", ABSENT, 0, "price"),
    ("below a joined name", [{"$lookup": {"from": "products", "localField": "product_id", "foreignField": "_id",
                                          "as": "p"}}, {"$match": {"p.maker.nam": "x"}}], "p.maker.nam", ABSENT, 1,
     "p[].maker.name"),
    ("a recursive join's field", [{"$graphLookup": {"from": "products", "startWith": "$product_id",
                                                    "connectFromField": "_id", "connectToField": "partof",
                                                    "as": "r"}}], "partof", ABSENT, 0, "part_of"),
    ("a recursive join's start", [{"$graphLookup": {"from": "products", "startWith": "$prod_id",
                                                    "connectFromField": "_id", "connectToField": "part_of",
                                                    "as": "r"}}], "$prod_id", ABSENT, 0, "product_id"),
    ("within a union", [{"$unionWith": {"coll": "products", "pipeline": [{"$match": {"nam": "x"}}]}}], "nam", ABSENT,
     0, "name"),
    ("within a facet", [{"$facet": {"a": [{"$match": {"statu": "x"}}]}}], "statu", ABSENT, 0, "status"),
    ("dropped by a group", [{"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$match": {"status": "paid"}}],
     "status", DROPPED, 1, "_id"),
    ("dropped by a compound group", [{"$group": {"_id": {"p": "$status"}, "n": {"$sum": 1}}},
                                     {"$project": {"x": "$status"}}], "$status", DROPPED, 1, "_id.p"),
    ("dropped by a projection", [{"$project": {"c": "$customer.name"}}, {"$sort": {"customer.name": 1}}],
     "customer.name", DROPPED, 1, "c"),
    ("dropped by an exclusion", [{"$project": {"total": 0}}, {"$match": {"total": 3}}], "total", DROPPED, 1, ""),
    ("dropped by an unset", [{"$unset": "total"}, {"$match": {"total": 3}}], "total", DROPPED, 1, ""),
    ("dropped by a new root", [{"$replaceRoot": {"newRoot": "$customer"}}, {"$sort": {"total": 1}}], "total", DROPPED,
     1, ""),
    ("dropped two stages ago", [{"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$project": {"n": 1}},
                                {"$match": {"status": "paid"}}], "status", DROPPED, 2, "_id"),
    ("a computed name dropped", [{"$set": {"t2": {"$add": ["$total", 1]}}}, {"$group": {"_id": "$t2"}},
                                 {"$sort": {"t2": 1}}], "t2", DROPPED, 2, "_id"),
    ("not kept by a projection", [{"$project": {"status": 1}}, {"$group": {"_id": "$customer.city"}}],
     "$customer.city", DROPPED, 1, ""),
    ("computed by the next stage", [{"$match": {"n": {"$gt": 1}}}, {"$group": {"_id": "$status", "n": {"$sum": 1}}}],
     "n", EARLY, 0, ""),
    ("computed much later", [{"$sort": {"half": 1}}, {"$limit": 3}, {"$set": {"half": {"$divide": ["$total", 2]}}}],
     "half", EARLY, 0, ""),
    ("joined later", [{"$match": {"p.name": "pen"}}, {"$lookup": {"from": "products", "localField": "product_id",
                                                                  "foreignField": "_id", "as": "p"}}], "p.name",
     EARLY, 0, ""),
    ("computed by this very stage", [{"$set": {"a": {"$add": ["$total", 1]}, "b": {"$add": ["$a", 1]}}}], "$a", EARLY,
     0, ""),
    ("a key that no map has", [{"$match": {"scores.2013.n": 1}}], "scores.2013.n", KEY, 0, "2014"),
    ("an entry's field without the key", [{"$match": {"scores.mean": {"$gt": 1}}}], "scores.mean", KEY, 0,
     "scores.<*>.mean"),
    ("a record taken for a map", [{"$project": {"x": {"$objectToArray": "$customer"}}}], "$customer", MAP, 0, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "text", "status", "stage", "nearest"), [c[1:] for c in LOST], ids=[c[0] for c in LOST]
)
def test_a_wrong_read_is_found_at_its_stage(
    stages: list[Any], text: str, status: ReadStatus, stage: int, nearest: str
) -> None:
    read = lost(claims_of(*stages))
    assert (read.text, read.status, read.place.stage) == (text, status, stage)
    assert not nearest or nearest == read.nearest[0]


def test_an_absent_path_names_where_it_would_be_stored() -> None:
    read = lost(claims_of({"$unwind": "$lines"}, {"$project": {"x": "$lines.skuu.deep"}}))
    assert (read.container, str(read.path)) == ("orders", "lines[].skuu.deep")


def test_a_misspelt_leaf_below_a_name_that_is_computed_anew_is_absent_not_early() -> None:
    read = lost(claims_of({"$project": {"customer": "$customer.nam"}}))
    assert (read.status, read.nearest[0]) == (ABSENT, "customer.name")


def test_a_key_unlike_any_other_is_told_the_most_frequent_ones() -> None:
    assert lost(claims_of({"$match": {"scores.total.n": 1}})).nearest[:2] == ("2014", "2015")


def test_a_suggestion_keeps_the_key_that_was_named() -> None:
    assert lost(claims_of({"$match": {"scores.2014.meen": 1}})).nearest[0] == "scores.2014.mean"


def test_where_nothing_is_close_the_few_names_there_are_told() -> None:
    read = lost(claims_of({"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$sort": {"quantity": 1}}))
    assert read.nearest == ("_id", "n")


def test_an_early_read_says_which_stage_computes_it() -> None:
    read = lost(claims_of({"$match": {"n": 1}}, {"$group": {"_id": "$status", "n": {"$sum": 1}}}))
    assert read.note == "computed only later, by stage 2 $group"


def test_a_field_of_the_outer_documents_is_pointed_out_in_a_join() -> None:
    match = {"$match": {"$expr": {"$eq": ["$_id", "$product_id"]}}}
    read = lost(claims_of({"$lookup": {"from": "products", "pipeline": [match], "as": "p"}}))
    assert read.note == "a field of the outer documents: pass it in with let"


def test_an_absent_path_of_a_sampled_container_says_how_much_was_seen() -> None:
    catalog = catalog_of({"c": [{"a": 1}, {"a": 2}]}, complete=False)
    read = lost(claims_of({"$match": {"b": 1}}, container="c", catalog=catalog))
    assert (read.status, read.note) == (ABSENT, "not seen in 2 of 20 documents")


def test_a_key_beyond_an_incomplete_list_is_taken_on_trust() -> None:
    catalog = catalog_of({"c": [{"m": {"x": 1, "y": 2}}]}, maps=["m"], complete=False)
    read = claims_of({"$match": {"m.z": 1}}, container="c", catalog=catalog).reads[0]
    assert (read.status, read.key, read.note) == (ReadStatus.STORED, "z", "key not among those seen")


@pytest.mark.parametrize(
    "stages",
    [
        [{"$match": {"nope": {"$exists": False}}}],
        [{"$match": {"nope": None}}],
        [{"$match": {"nope": {"$ne": None}}}],
        [{"$match": {"nope": {"$not": {"$type": "string"}}}}],
        [{"$project": {"x": {"$ifNull": ["$nope", 0]}}}],
        [{"$project": {"x": {"$type": "$nope"}}}],
        [{"$match": {"$expr": {"$eq": [{"$type": "$nope"}, "missing"]}}}],
        [{"$match": {"$expr": {"$gt": ["$nope", None]}}}],
    ],
)
def test_asking_whether_a_path_is_there_is_a_softer_read(stages: list[Any]) -> None:
    read = lost(claims_of(*stages))
    assert (read.status, read.role, read.note) == (ABSENT, "exists", "only asked whether it is there")


@pytest.mark.parametrize("stage", [{"$unset": "nope"}, {"$project": {"nope": 0}}])
def test_leaving_out_what_is_not_there_changes_nothing(stage: Any) -> None:
    read = lost(claims_of(stage))
    assert (read.status, read.role, read.note) == (ABSENT, "unset", "leaving out what is not there changes nothing")


def test_an_object_that_is_always_empty_holds_nothing_unless_only_some_were_seen() -> None:
    program: list[Any] = [{"$match": {"o.x": 1}}]
    seen = [
        claims_of(*program, container="c", catalog=catalog_of({"c": [{"o": {}}]}, complete=c)) for c in (True, False)
    ]
    assert [claims.reads[0].status for claims in seen] == [ABSENT, UNKNOWN]


def test_one_mistake_is_reported_once() -> None:
    claims = claims_of(
        {"$project": {"x": "$nope.a", "statsu": 1}}, {"$match": {"x": 1, "x.y": 2}}, {"$sort": {"statsu": 1}}
    )
    wrong = [r.text for r in claims.reads if r.status is not ReadStatus.STORED and r.status is not ReadStatus.COMPUTED]
    assert wrong == ["$nope.a", "statsu", "x.y"]
    assert [r.status for r in claims.reads if r.text == "x.y"] == [UNKNOWN]


def test_leaving_out_an_id_that_is_not_there_is_no_read() -> None:
    claims = claims_of({"$replaceRoot": {"newRoot": "$customer"}}, {"$project": {"_id": 0, "name": 1}})
    assert [r.text for r in claims.reads] == ["$customer", "name"]


def test_an_unwind_below_an_array_says_that_it_drops_every_document() -> None:
    claims = claims_of({"$unwind": "$lines.tags"})
    assert claims.reads[0].note == "lines is an array: unwind it first, or every document is dropped"


@pytest.mark.parametrize(("path", "note"), [("$scores", "not an array but a map: use $objectToArray first"),
                                            ("$status", "not an array")])  # fmt: skip
def test_an_unwind_of_no_array_says_so(path: str, note: str) -> None:
    assert claims_of({"$unwind": path}).reads[0].note == note


def test_nothing_is_held_against_a_container_that_is_not_known() -> None:
    claims = claims_of({"$match": {"a.b": 1}}, {"$group": {"_id": "$c", "n": {"$sum": "$d"}}}, container="nowhere")
    assert {r.status for r in claims.reads} == {UNKNOWN}
    assert claims.reads[0].note == "nothing is known of nowhere"


def test_a_container_that_could_not_be_read_is_unknown_not_empty() -> None:
    from dataclasses import replace

    broken = replace(SHOP.containers[0], error="not authorised", fields=())
    claims = claims_of({"$match": {"a": 1}}, catalog=replace(SHOP, containers=(broken,)))
    assert claims.reads[0].status is UNKNOWN
    assert claims.reads[0].note == "orders could not be read: not authorised"


def test_what_an_unknown_container_s_documents_lose_is_still_noticed() -> None:
    claims = claims_of({"$project": {"a": 1}}, {"$match": {"b": 1}}, container="nowhere")
    assert read_of(claims, "b").status is DROPPED


def test_an_unknown_operator_makes_no_finding() -> None:
    claims = claims_of(
        {"$set": {"x": {"$brandNew": {"field": "$nope", "other": "$$what"}}}},
        {"$match": {"x.y": 1, "total": {"$futureOp": 3}}},
        {"$group": {"_id": "$x.z", "n": {"$weird": "$nope"}}},
        {"$somethingElse": {"a": "$nope"}},
        {"$match": {"any": 1}},
    )
    assert {r.status for r in claims.reads} <= {ReadStatus.STORED, ReadStatus.COMPUTED, UNKNOWN}
    assert claims.unknown_operators == {"$brandNew", "$futureOp", "$weird", "$somethingElse"}
