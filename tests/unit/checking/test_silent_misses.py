"""What runs without an error and gives a wrong or empty result: each miss with what is said of it, and its right twin.

A table over one small collection that holds every shape: maps, records, arrays in arrays, variants, nulls, infinities.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

from groundql.checking.gates import RULES
from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo
from groundql.core.finding import Code, Finding
from groundql.core.program import MqlProgram
from groundql.grounding.profile import Profiler
from groundql.languages.flow import analyse

DAYS = [dt.datetime(2015 + n, 3, 1, tzinfo=dt.UTC) for n in range(8)]
EXTRA: tuple[dict[str, Any], ...] = (
    {"doors": 4, "seats": 5},
    {"wings": 2, "ceiling": 9000},
    {"sails": 3, "draught": 2},
)
THINGS: list[dict[str, Any]] = [
    {
        "_id": n,
        "type": ("car", "plane", "ship")[n % 3],
        **EXTRA[n % 3],
        "state": ("new", "used", "In Repair", None)[n % 4],
        "made": DAYS[n % 8],
        "sold": DAYS[n % 8].isoformat(),
        "price": 100 + n,
        "load": math.inf if n == 7 else float(n),
        "code": str(n % 5),
        "maker": {"name": f"Maker {n % 3}", "city": "Lima", "plants": ["a", "b"]},
        "sales": {str(2001 + n % 12 + k): n + k for k in range(3)},
        "tags": ["red", "fast", "old"][: 1 + n % 3],
        "grid": [[n % 3, 1], [2, n % 5]],
        "parts": [
            {"kind": "wheel", "size": 1 + n % 4, "rim": "steel"} if (n + k) % 2 else {"kind": "lamp", "watt": 5 + n % 3}
            for k in range(4)
        ],
    }
    for n in range(120)
]


def catalog() -> Catalog:
    profiler = Profiler(ContainerInfo("things", documents=len(THINGS)))
    for document in THINGS:
        profiler.add(document)
    return Catalog("d", (profiler.finish().container,))


CATALOG = catalog()


def findings(*stages: dict[str, Any]) -> list[Finding]:
    claims = analyse(MqlProgram("things", stages), CATALOG)
    return [f for rule in RULES for f in rule(claims, Grounding(Question(""), CATALOG))]


def project(expression: Any) -> dict[str, Any]:
    return {"$project": {"x": expression}}


def group(accumulator: Any, key: Any = None) -> dict[str, Any]:
    return {"$group": {"_id": key, "x": accumulator}}


MISSES: list[tuple[str, list[dict[str, Any]], Code, str]] = [
    # --- variants
    ("a field of another variant", [{"$match": {"type": "car", "wings": {"$gt": 1}}}], Code.VARIANT_LACKS, "plane"),
    ("the variant's own fields", [{"$match": {"type": "car", "wings": 2}}], Code.VARIANT_LACKS, "doors"),
    ("the variant's share", [{"$match": {"type": "car", "wings": 2}}], Code.VARIANT_LACKS, "33%"),
    ("summed later", [{"$match": {"type": "ship"}}, group({"$sum": "$doors"})], Code.VARIANT_LACKS, "car"),
    ("two variants", [{"$match": {"type": {"$in": ["car", "ship"]}, "wings": 2}}], Code.VARIANT_LACKS, "plane"),
    (
        "items unwound",
        [{"$unwind": "$parts"}, {"$match": {"parts.kind": "lamp", "parts.rim": "steel"}}],
        Code.VARIANT_LACKS,
        "wheel",
    ),
    (
        "one item",
        [{"$match": {"parts": {"$elemMatch": {"kind": "lamp", "rim": "steel"}}}}],
        Code.VARIANT_LACKS,
        "wheel",
    ),
    ("two types at once", [{"$match": {"$and": [{"type": "car"}, {"type": "ship"}]}}], Code.CONTRADICTION, "car"),
    ("one after another", [{"$match": {"type": "car"}}, {"$match": {"type": "ship"}}], Code.CONTRADICTION, "stage 1"),
    # --- arrays and objects
    ("arrays in arrays", [{"$match": {"grid": 2}}], Code.ARRAY_AS_SCALAR, "$elemMatch"),
    ("a sum of arrays in arrays", [project({"$sum": "$grid"})], Code.ARRAY_AS_SCALAR, "$reduce"),
    ("a longer array than any", [{"$match": {"tags": {"$size": 4}}}], Code.OUT_OF_RANGE, "1 to 3 items"),
    ("a shorter array than any", [{"$match": {"tags": {"$size": 0}}}], Code.OUT_OF_RANGE, "nearest: 1"),
    (
        "$elemMatch on a record",
        [{"$match": {"maker": {"$elemMatch": {"city": "Lima"}}}}],
        Code.NOT_AN_ARRAY,
        "maker.city",
    ),
    ("$elemMatch on a map", [{"$match": {"sales": {"$elemMatch": {"$gt": 1}}}}], Code.NOT_AN_ARRAY, "$objectToArray"),
    ("$size of a record in a filter", [{"$match": {"maker": {"$size": 3}}}], Code.NOT_AN_ARRAY, "object"),
    ("$size of a text in a filter", [{"$match": {"state": {"$size": 3}}}], Code.NOT_AN_ARRAY, "string"),
    ("a record unwound", [{"$unwind": "$maker"}], Code.NOT_AN_ARRAY, "$maker.plants"),
    ("a map unwound", [{"$unwind": "$sales"}], Code.NOT_AN_ARRAY, '"$objectToArray": "$sales"'),
    ("a scalar unwound", [{"$unwind": "$price"}], Code.NOT_AN_ARRAY, "leave it out"),
    ("below an array that was not unwound", [{"$unwind": "$parts.kind"}], Code.NOT_AN_ARRAY, "parts is an array"),
    ("a list for one value", [{"$match": {"state": ["new", "used"]}}], Code.NOT_AN_ARRAY, '"$in"'),
    # --- values
    ("an absent member", [{"$match": {"type": {"$in": ["car", "plain"]}}}], Code.VALUE_ABSENT, '"plane"'),
    ("a pattern that meets nothing", [{"$match": {"type": {"$regex": "^shipp"}}}], Code.VALUE_ABSENT, '"ship"'),
    ("a pattern in another case", [{"$match": {"type": {"$regex": "^Ship"}}}], Code.STORED_FORM, '"$options": "i"'),
    (
        "a pattern of an expression",
        [{"$match": {"$expr": {"$regexMatch": {"input": "$type", "regex": "bus"}}}}],
        Code.VALUE_ABSENT,
        "bus",
    ),
    ("another spelling excluded", [{"$match": {"state": {"$ne": "in repair"}}}], Code.STORED_FORM, "In Repair"),
    # --- ranges
    ("above all numbers", [{"$match": {"price": {"$gt": 219}}}], Code.OUT_OF_RANGE, "100 to 219"),
    ("below all numbers", [{"$match": {"price": {"$lt": 100}}}], Code.OUT_OF_RANGE, "nearest: 100"),
    ("equal to none", [{"$match": {"price": 5}}], Code.OUT_OF_RANGE, "100 to 219"),
    ("after all dates", [{"$match": {"made": {"$gt": dt.datetime(2030, 1, 1)}}}], Code.OUT_OF_RANGE, "2022-03-01"),
    ("in an expression", [{"$match": {"$expr": {"$gt": ["$price", 500]}}}], Code.OUT_OF_RANGE, "100 to 219"),
    ("below all but the infinite", [{"$match": {"load": {"$lt": 0}}}], Code.OUT_OF_RANGE, "0 to Infinity"),
    # --- presence
    ("there in every document", [{"$match": {"maker.city": {"$exists": True}}}], Code.NO_EFFECT, "120 documents"),
    ("there, but null", [{"$match": {"state": {"$exists": True}}}], Code.NULLS_KEPT, '"$ne": null'),
    ("missing nowhere", [{"$match": {"type": {"$exists": False}}}], Code.CONTRADICTION, "leaves no row"),
    # --- kinds
    ("a date and a year", [{"$match": {"made": 2020}}], Code.KIND_MISMATCH, '"$gte": ISODate("2020-01-01")'),
    ("a date from a year on", [{"$match": {"made": {"$gte": 2020}}}], Code.KIND_MISMATCH, 'ISODate("2020-01-01")'),
    (
        "a date after a year",
        [{"$match": {"made": {"$gt": "2020"}}}],
        Code.KIND_MISMATCH,
        '"$gte": ISODate("2021-01-01")',
    ),
    ("a sum of texts", [group({"$sum": "$code"})], Code.KIND_MISMATCH, "$toDouble"),
    ("a mean of texts", [project({"$avg": ["$code"]})], Code.KIND_MISMATCH, "$toDouble"),
    ("a sum of an array of texts", [project({"$sum": "$tags"})], Code.KIND_MISMATCH, "string"),
    ("a sum of arrays", [group({"$sum": "$tags"})], Code.ARRAY_AS_SCALAR, "$unwind"),
    ("the greatest of arrays", [group({"$max": "$grid"})], Code.ARRAY_AS_SCALAR, "whole arrays"),
    ("a group by an array", [group({"$sum": 1}, "$tags")], Code.ARRAY_AS_SCALAR, "$unwind"),
    ("a group by a part that is an array", [group({"$sum": 1}, {"t": "$tags"})], Code.ARRAY_AS_SCALAR, "$unwind"),
    ("counted by an array", [{"$sortByCount": "$tags"}], Code.ARRAY_AS_SCALAR, "$unwind"),
    ("a group by an object", [group({"$sum": 1}, "$maker")], Code.OBJECT_AS_SCALAR, "whole objects"),
    # --- operands
    ("an array taken apart", [project({"$objectToArray": "$tags"})], Code.WRONG_OPERAND, "$map"),
    ("the size of a map", [project({"$size": "$sales"})], Code.WRONG_OPERAND, '"$objectToArray": "$sales"'),
    ("the size of a text", [project({"$size": "$state"})], Code.WRONG_OPERAND, "$strLenCP"),
    ("a map filtered", [project({"$filter": {"input": "$sales", "cond": True}})], Code.WRONG_OPERAND, "$objectToArray"),
    ("the year of a text", [project({"$year": "$sold"})], Code.WRONG_OPERAND, "$dateFromString"),
    ("the year of a number", [project({"$year": {"date": "$price"}})], Code.WRONG_OPERAND, "$toDate"),
    ("a text as a date", [project({"$dateToString": {"date": "$sold"}})], Code.WRONG_OPERAND, "$dateFromString"),
    ("a text added", [project({"$add": ["$price", "$code"]})], Code.WRONG_OPERAND, "$toDouble"),
    ("a number put into a text", [project({"$concat": ["$type", "$price"]})], Code.WRONG_OPERAND, "$toString"),
]


@pytest.mark.parametrize(("stages", "code", "said"), [m[1:] for m in MISSES], ids=[m[0] for m in MISSES])
def test_a_silent_miss_is_told_with_its_evidence_or_the_right_thing(
    stages: list[dict[str, Any]], code: Code, said: str
) -> None:
    found = findings(*stages)
    assert code in [f.code for f in found], found
    told = [f for f in found if f.code is code]
    assert any(said in str(f) for f in told), [str(f) for f in told]
    assert all(len(str(f)) < 500 and f.place.stage >= 0 and f.path for f in told)


RIGHT: list[tuple[str, list[dict[str, Any]]]] = [
    ("the variant's own field", [{"$match": {"type": "car", "doors": {"$gt": 1}}}]),
    ("one branch a variant", [{"$match": {"$or": [{"type": "car", "doors": 4}, {"type": "plane", "wings": 2}]}}]),
    ("a field provided for", [{"$match": {"type": "car"}}, project({"$ifNull": ["$wings", 0]})]),
    ("all variants but one", [{"$match": {"type": {"$ne": "car"}, "wings": 2}}]),
    ("different items", [{"$match": {"parts.kind": "lamp", "parts.rim": "steel"}}]),
    ("grouped before", [group({"$sum": "$wings"}, "$type"), {"$match": {"_id": "plane"}}]),
    ("side by side", [{"$facet": {"a": [{"$match": {"type": "car"}}], "b": [{"$match": {"wings": 2}}]}}]),
    ("the same twice", [{"$match": {"type": "car"}}, {"$match": {"type": {"$in": ["car", "ship"]}}}]),
    ("two items of an array", [{"$match": {"$and": [{"tags": "red"}, {"tags": "fast"}]}}]),
    ("either way", [{"$facet": {"a": [{"$match": {"type": "car"}}], "b": [{"$match": {"type": "ship"}}]}}]),
    ("an inner item", [{"$match": {"grid": {"$elemMatch": {"$elemMatch": {"$eq": 2}}}}}]),
    ("arrays in arrays unwound", [{"$unwind": "$grid"}, {"$match": {"grid": 2}}]),
    ("a whole inner array", [{"$match": {"grid": [2, 1]}}]),
    ("a size there is", [{"$match": {"tags": {"$size": 3}}}]),
    ("$elemMatch on an array", [{"$match": {"parts": {"$elemMatch": {"kind": "lamp"}}}}]),
    ("an array unwound", [{"$unwind": "$tags"}, {"$match": {"tags": "red"}}]),
    ("an array below an unwound one", [{"$unwind": "$parts"}, group({"$sum": 1}, "$parts.kind")]),
    ("a pattern that meets one", [{"$match": {"type": {"$regex": "^SHI", "$options": "i"}}}]),
    ("a pattern that may run away", [{"$match": {"type": {"$regex": "(a+)+$"}}}]),
    ("a pattern of another dialect", [{"$match": {"type": {"$regex": "^[[:digit:]]"}}}]),
    (
        "an expression's options",
        [{"$match": {"$expr": {"$regexMatch": {"input": "$type", "regex": "SHIP", "options": "i"}}}}],
    ),
    ("the greatest number itself", [{"$match": {"price": {"$gte": 219}}}]),
    ("above the finite", [{"$match": {"load": {"$gt": 500}}}]),
    ("a label for what there is not yet", [project({"$cond": [{"$gt": ["$price", 999]}, "dear", "cheap"]})]),
    ("nothing is below", [{"$match": {"$expr": {"$lt": ["$doors", 1]}}}]),
    ("an optional field", [{"$match": {"wings": {"$exists": True}}}]),
    ("there and not null", [{"$match": {"state": {"$exists": True, "$ne": None}}}]),
    ("a date and a date", [{"$match": {"made": {"$gte": DAYS[3]}}}]),
    ("the size as a key", [group({"$sum": 1}, {"$size": "$tags"})]),
    ("a map taken apart", [project({"$objectToArray": "$sales"})]),
    ("a text made a date", [project({"$year": {"$dateFromString": {"dateString": "$sold"}}})]),
    ("one branch for arrays", [project({"$cond": [{"$isArray": "$maker"}, {"$size": "$maker"}, 1]})]),
    ("a position is no text", [project({"$arrayElemAt": ["$tags", 0]})]),
    ("an array that is empty", [project({"$eq": ["$tags", []]})]),
    ("a whole list", [{"$match": {"tags": ["red", "fast"]}}]),
    ("a sum of numbers", [group({"$sum": "$price"})]),
    ("days between", [project({"$subtract": ["$made", "$made"]})]),
]


@pytest.mark.parametrize("stages", [r[1] for r in RIGHT], ids=[r[0] for r in RIGHT])
def test_the_right_twin_of_a_miss_passes(stages: list[dict[str, Any]]) -> None:
    assert not [str(f) for f in findings(*stages)]


def test_the_collection_has_its_variants() -> None:
    variants = CATALOG.containers[0].variants
    assert {"car", "plane", "ship"} <= {v.value for v in variants}
    assert {"lamp", "wheel"} <= {v.value for v in variants}
