from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from bson import Code as JavaScript
from bson import json_util

from groundql.core.finding import Code, Finding
from groundql.core.program import Admitted, MqlProgram, SqlProgram
from groundql.languages.bounds import MAX_DEPTH
from groundql.languages.mongosh import parse_program
from groundql.languages.operators import OPERATORS, Position, read_names
from groundql.languages.safety import admit

SHARED = Path(__file__).parents[3].parent / "shared"


def judged(*stages: Any, version: str = "") -> Admitted | Finding:
    return admit(MqlProgram("c", stages), version)


def refused(*stages: Any, version: str = "") -> Finding:
    found = judged(*stages, version=version)
    assert isinstance(found, Finding), found
    assert found.blocking
    return found


def admitted(*stages: Any, version: str = "") -> Admitted:
    found = judged(*stages, version=version)
    assert isinstance(found, Admitted), str(found)
    return found


BAD_STAGES: tuple[dict[str, Any], ...] = tuple(
    {name: argument}
    for name, argument in {
        "$out": "x",
        "$merge": {"into": "x"},
        "$changeStream": {},
        **{name: {} for name, row in OPERATORS[Position.STAGE].items() if not row.reads_only},
        "$OUT": "x",
        "$Merge": {"into": "x"},
        "$оut": "x",  # a Cyrillic o
        "＄out": "x",
        "$out ": "x",
        "$\u200bout": "x",
        "$_internalInhibitOptimization": {},
        "out": "x",
        "": "x",
    }.items()
)
NESTINGS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "root": lambda s: s,
    "facet": lambda s: {"$facet": {"a": [{"$limit": 1}], "b": [{"$match": {}}, s]}},
    "lookup": lambda s: {"$lookup": {"from": "d", "pipeline": [s], "as": "x"}},
    "unionWith": lambda s: {"$unionWith": {"coll": "d", "pipeline": [s]}},
    "lookup in facet": lambda s: {"$facet": {"a": [{"$lookup": {"from": "d", "pipeline": [s], "as": "x"}}]}},
    "unionWith in lookup": lambda s: {
        "$lookup": {"from": "d", "pipeline": [{"$unionWith": {"coll": "e", "pipeline": [s]}}], "as": "x"}
    },
    "rankFusion": lambda s: {"$rankFusion": {"input": {"pipelines": {"a": [s]}}}},
    "scoreFusion": lambda s: {"$scoreFusion": {"input": {"pipelines": {"a": [s]}, "normalization": "none"}}},
}


@pytest.mark.parametrize("nest", NESTINGS.values(), ids=NESTINGS)
@pytest.mark.parametrize("stage", BAD_STAGES, ids=lambda s: next(iter(s)).encode("unicode_escape").decode() or "empty")
def test_a_stage_that_does_not_only_read_is_refused_at_every_nesting(
    stage: dict[str, Any], nest: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    assert refused(nest(stage)).code in (Code.FORBIDDEN, Code.UNKNOWN_OPERATOR)


BAD_EXPRESSIONS: tuple[dict[str, Any], ...] = (
    {"$function": {"body": "function(){}", "args": [], "lang": "js"}},
    {"$accumulator": {"init": "function(){}"}},
    {"$FUNCTION": {}},
    {"$function ": {}},
    {"$where": "1"},
    {"$_internalJsEmit": {}},
    {"$out": "x"},
    {"$nosuch": 1},
)
EXPRESSION_PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "project": lambda e: {"$project": {"x": e}},
    "nested project": lambda e: {"$project": {"x": {"y": {"z": e}}}},
    "addFields array": lambda e: {"$addFields": {"x": [1, [e]]}},
    "set": lambda e: {"$set": {"x": {"$add": [1, e]}}},
    "map": lambda e: {"$set": {"x": {"$map": {"input": "$a", "as": "i", "in": e}}}},
    "reduce": lambda e: {"$set": {"x": {"$reduce": {"input": "$a", "initialValue": e, "in": "$$value"}}}},
    "filter": lambda e: {"$set": {"x": {"$filter": {"input": "$a", "cond": {"$and": [True, e]}}}}},
    "let": lambda e: {"$set": {"x": {"$let": {"vars": {"v": e}, "in": "$$v"}}}},
    "switch": lambda e: {"$set": {"x": {"$switch": {"branches": [{"case": e, "then": 1}]}}}},
    "group id": lambda e: {"$group": {"_id": {"a": e}}},
    "accumulator": lambda e: {"$group": {"_id": None, "n": {"$sum": e}}},
    "top": lambda e: {"$group": {"_id": None, "n": {"$top": {"sortBy": {"a": 1}, "output": [e]}}}},
    "bucket": lambda e: {"$bucket": {"groupBy": e, "boundaries": [0, 1]}},
    "bucket output": lambda e: {"$bucketAuto": {"groupBy": "$a", "buckets": 2, "output": {"n": {"$push": e}}}},
    "expr": lambda e: {"$match": {"$expr": e}},
    "expr in or": lambda e: {"$match": {"$or": [{"a": 1}, {"$and": [{"$expr": {"$eq": [1, e]}}]}]}},
    "window": lambda e: {"$setWindowFields": {"sortBy": {"a": 1}, "output": {"n": {"$sum": e}}}},
    "partition": lambda e: {"$setWindowFields": {"partitionBy": e, "output": {"n": {"$sum": 1}}}},
    "fill": lambda e: {"$fill": {"output": {"a": {"value": e}}}},
    "redact": lambda e: {"$redact": {"$cond": [e, "$$KEEP", "$$PRUNE"]}},
    "replaceRoot": lambda e: {"$replaceRoot": {"newRoot": e}},
    "replaceWith": lambda e: {"$replaceWith": {"$mergeObjects": ["$$ROOT", e]}},
    "sortByCount": lambda e: {"$sortByCount": e},
    "lookup let": lambda e: {"$lookup": {"from": "d", "let": {"v": e}, "pipeline": [], "as": "x"}},
    "graphLookup start": lambda e: {
        "$graphLookup": {"from": "d", "startWith": e, "connectFromField": "a", "connectToField": "b", "as": "x"}
    },
    "graphLookup restriction": lambda e: {
        "$graphLookup": {
            "from": "d",
            "startWith": "$a",
            "connectFromField": "a",
            "connectToField": "b",
            "as": "x",
            "restrictSearchWithMatch": {"$expr": e},
        }
    },
    "documents": lambda e: {"$lookup": {"pipeline": [{"$documents": [{"a": e}]}], "as": "x"}},
    "geoNear query": lambda e: {"$geoNear": {"near": [0, 0], "distanceField": "d", "query": {"$expr": e}}},
    "vectorSearch filter": lambda e: {"$vectorSearch": {"index": "i", "filter": {"$expr": e}}},
}


@pytest.mark.parametrize("place", EXPRESSION_PLACES.values(), ids=EXPRESSION_PLACES)
@pytest.mark.parametrize("expression", BAD_EXPRESSIONS, ids=lambda e: next(iter(e)))
def test_an_expression_that_runs_code_or_is_unknown_is_refused_wherever_it_stands(
    expression: dict[str, Any], place: Callable[[Any], dict[str, Any]]
) -> None:
    assert refused(place(expression)).code in (Code.FORBIDDEN, Code.UNKNOWN_OPERATOR)


@pytest.mark.parametrize("place", EXPRESSION_PLACES.values(), ids=EXPRESSION_PLACES)
def test_the_same_text_held_by_a_literal_is_data_wherever_it_stands(place: Callable[[Any], dict[str, Any]]) -> None:
    for expression in BAD_EXPRESSIONS:
        admitted(place({"$literal": [expression, "$out", "$where"]}))


BAD_FILTERS: tuple[dict[str, Any], ...] = (
    {"$where": "sleep(1)"},
    {"$where": JavaScript("sleep(1)")},
    {"$and": [{"$where": "1"}]},
    {"$or": [{"a": 1}, {"$nor": [{"$where": "1"}]}]},
    {"a": {"$elemMatch": {"$where": "1"}}},
    {"a": {"$elemMatch": {"b": {"$not": {"$elemMatch": {"$where": "1"}}}}}},
    {"a": {"$all": [{"$elemMatch": {"$or": [{"$where": "1"}]}}]}},
    {"a": {"$not": {"$where": "1"}}},
    {"a": {"$where": "1"}},
    {"a": {"b": 1, "$where": "1"}},
    {"a": {"$ref": "d", "$id": 1, "$where": "1"}},
    {"$expr": {"$function": {}}},
    {"$function": {}},
    {"$WHERE": "1"},
)
FILTER_PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "match": lambda f: {"$match": f},
    "lookup": lambda f: {"$lookup": {"from": "d", "pipeline": [{"$match": f}], "as": "x"}},
    "facet": lambda f: {"$facet": {"a": [{"$match": f}]}},
    "graphLookup": lambda f: {
        "$graphLookup": {
            "from": "d",
            "startWith": "$a",
            "connectFromField": "a",
            "connectToField": "b",
            "as": "x",
            "restrictSearchWithMatch": f,
        }
    },
    "geoNear": lambda f: {"$geoNear": {"near": [0, 0], "distanceField": "d", "query": f}},
}


@pytest.mark.parametrize("place", FILTER_PLACES.values(), ids=FILTER_PLACES)
@pytest.mark.parametrize("condition", BAD_FILTERS, ids=str)
def test_a_filter_that_runs_code_is_refused_wherever_it_stands(
    condition: dict[str, Any], place: Callable[[Any], dict[str, Any]]
) -> None:
    assert refused(place(condition)).code in (Code.FORBIDDEN, Code.UNKNOWN_OPERATOR)


@pytest.mark.parametrize(
    "stage",
    [
        {"$match": {"a": "$out", "b": {"$eq": "$where"}, "c": {"$in": ["$function", {"$where": "text"}]}}},
        {"$match": {"a": {"b": {"$gt": 1}}}},
        {"$match": {"ref": {"$ref": "d", "$id": 1}}},
        {"$match": {"$comment": "{$out: 1}", "where": 1, "out": {"merge": 1}}},
        {"$match": {"a": {"$regex": "\\$where", "$options": "i"}, "b": {"$not": {"$regex": "x"}}}},
        {"$match": {"$text": {"$search": "$where"}}},
        {"$match": {"a": {"$geoWithin": {"$centerSphere": [[0, 0], 1]}}}},
        {"$match": {"$jsonSchema": {"required": ["$out"]}}},
        {"$project": {"x": "$sample.type", "y": "$out", "z": "$function.body"}},
        {"$project": {"x": {"$concat": ["$where", " is the place"]}}},
        {"$project": {"x": {"$getField": {"field": {"$literal": "$out"}, "input": "$$ROOT"}}}},
        {"$sample": {"size": 3}},
        {"$match": {"$sampleRate": 0.5, "$expr": {"$lt": [{"$rand": {}}, 0.5]}}},
        {"$set": {"now": "$$NOW", "root": "$$ROOT.a", "own": "$$my_variable"}},
        {"$sort": {"score": {"$meta": "textScore"}, "a": -1}},
        {"$unionWith": "d"},
        {"$unionWith": {"pipeline": [{"$documents": [{"a": 1}]}]}},
        {"$setWindowFields": {"sortBy": {"a": 1}, "output": {"r": {"$rank": {}}, "m": {
            "$avg": "$a", "window": {"range": [-1, 0], "unit": "day"}}}}},
        {"$search": {"index": "default", "text": {"query": "out", "path": "where"}}},
        {"$densify": {"field": "a", "range": {"step": 1, "bounds": "full"}}},
    ],
    ids=str,
)  # fmt: skip
def test_what_only_reads_is_admitted(stage: dict[str, Any]) -> None:
    admitted(stage)


@pytest.mark.parametrize(
    "stage",
    [
        {"$lookup": {"from": {"db": "admin", "coll": "x"}, "as": "y"}},
        {"$lookup": {"from": {"db": "c", "coll": "x"}, "as": "y"}},
        {"$unionWith": {"db": "admin", "coll": "x"}},
        {"$facet": {"a": [{"$unionWith": {"db": "admin", "coll": "x"}}]}},
        {"$lookup": {"from": "system.users", "as": "y"}},
        {"$unionWith": "system.profile"},
        {"$unionWith": {"coll": "$cmd.aggregate"}},
        {"$graphLookup": {"from": "system.views", "startWith": "$a"}},
        {"$documents": [{"a": 1}]},
    ],
    ids=str,
)
def test_other_databases_and_the_servers_own_collections_are_refused(stage: dict[str, Any]) -> None:
    assert refused(stage).code is Code.FORBIDDEN


def test_a_collection_of_the_server_is_refused_at_the_root() -> None:
    for name in ("system.users", "$cmd", "system.buckets.weather"):
        assert isinstance(admit(MqlProgram(name, ())), Finding)
    assert isinstance(admit(MqlProgram("my.system.log", ())), Admitted)


ODD: tuple[Any, ...] = (
    None, 3, "text", [], {}, {"$match": {}, "$limit": 1}, {3: 4}, {None: 1}, {b"$match": {}}, {"$match": 1},
    {"$match": {"$and": {}}}, {"$match": {"a\0b": 1}}, {"$group": {"_id": 1, "x": 1}}, {"$facet": []},
    {"$facet": {"a": {}}}, {"$project": {"x": {"$add": [], "$sum": []}}}, {"$match": {"a": object()}},
    {"$match": {"a": 2**63}}, {"$match": {"a": "\ud800"}}, {"$match": {"a": {1, 2}}}, {"$unwind": {"nope": 1}},
    {"$lookup": {"from": 3}}, {"$group": {"_id": 1, "$sum": 1}}, {"$project": {"$where": 1}},
    {"$set": {"x": "$$SECRET"}},
    {"$sort": {"a": {"$function": {}}}}, {"$match": lambda: 1},
)  # fmt: skip


@pytest.mark.parametrize("stage", ODD, ids=repr)
def test_whatever_is_no_stage_is_a_finding_and_no_crash(stage: Any) -> None:
    refused(stage)


@pytest.mark.parametrize("stages", [None, "x", 3, {"$match": {}}, iter([])], ids=repr)
def test_whatever_is_no_pipeline_is_a_finding(stages: Any) -> None:
    assert isinstance(admit(MqlProgram("c", stages)), Finding)


@pytest.mark.parametrize("name", ["", None, 3, {"db": "a", "coll": "b"}, "a\0b", ["c"]], ids=repr)
def test_whatever_is_no_collection_name_is_a_finding(name: Any) -> None:
    assert isinstance(admit(MqlProgram(name, ())), Finding)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 5_000])
def test_nesting_beyond_the_bound_is_a_finding(levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = {"$not": [value]}
    assert "levels" in refused({"$project": {"x": value}}).message


def test_nesting_within_the_bound_is_judged_to_the_bottom() -> None:
    deep: Any = {"$function": {}}
    shallow: Any = 1
    for _ in range(40):
        deep, shallow = {"$not": [deep]}, {"$not": [shallow]}
    refused({"$project": {"x": deep}})
    admitted({"$project": {"x": shallow}})


def test_a_program_that_holds_itself_is_a_finding() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["b"] = loop
    refused({"$match": loop})


def test_a_program_too_large_is_a_finding() -> None:
    refused({"$match": {"a": {"$in": list(range(250_000))}}})


class TwoFaced(Mapping[str, Any]):
    """Shows a harmless stage the first time and a write afterwards."""

    def __init__(self) -> None:
        self.shown = 0

    def __getitem__(self, key: str) -> Any:
        return "x"

    def __iter__(self) -> Iterator[str]:
        self.shown += 1
        return iter(["$count"] if self.shown == 1 else ["$out"])

    def __len__(self) -> int:
        return 1


def test_what_is_sealed_is_the_copy_that_was_judged() -> None:
    stage: dict[str, Any] = {"$match": {"a": 1}}
    sealed = admitted(stage, TwoFaced())
    stage["$out"] = "x"
    assert isinstance(sealed.program, MqlProgram)
    assert sealed.program.stages == ({"$match": {"a": 1}}, {"$count": "x"})
    assert all(type(s) is dict for s in sealed.program.stages)


class Disguised(str):
    """Text that claims to be something else when asked."""

    def startswith(self, *_: Any) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other == "$match" or str.__eq__(self, other)

    __hash__ = str.__hash__


def test_text_that_lies_about_itself_is_read_plainly() -> None:
    refused({Disguised("$out"): "x"})
    refused({"$project": {"x": {Disguised("$function"): {}}}})


def test_sql_is_not_run() -> None:
    assert isinstance(admit(SqlProgram("SELECT 1", "sqlite")), Finding)


@pytest.mark.parametrize(
    ("stage", "too_old", "new_enough"),
    [
        ({"$setWindowFields": {"output": {}}}, "4.4.29", "5.0.0"),
        ({"$group": {"_id": 1, "m": {"$median": {"input": "$a", "method": "approximate"}}}}, "6.0", "7.0.2"),
        ({"$project": {"x": {"$sigmoid": "$a"}}}, "8.0.4", "8.1.0"),
        ({"$set": {"x": "$$USER_ROLES"}}, "6.0", "8"),
        ({"$rankFusion": {"input": {"pipelines": {}}}}, "7.0", "8.2"),
    ],
)
def test_operators_newer_than_the_server_are_refused_with_both_versions(
    stage: dict[str, Any], too_old: str, new_enough: str
) -> None:
    assert too_old in refused(stage, version=too_old).message
    admitted(stage, version=new_enough)
    admitted(stage)
    admitted(stage, version="unknown")


def test_a_finding_names_the_place_and_the_nearest_operator() -> None:
    found = refused(
        {"$limit": 1},
        {"$lookup": {"from": "d", "as": "x", "pipeline": [{"$limit": 1}, {"$mach": {"a": 1}}]}},
    )
    assert found.place.stage == 1
    assert found.place.operator == "$lookup"
    assert found.place.pointer == "$lookup.pipeline[1]"
    assert found.nearest[0] == "$match"


def test_an_operator_in_the_wrong_position_is_told_where_it_belongs() -> None:
    assert "an accumulator" in refused({"$project": {"x": {"$push": "$a"}}}).message
    assert "an expression" in refused({"$match": {"a": {"$add": [1]}}}).message
    assert "a window function" in refused({"$group": {"_id": 1, "x": {"$rank": {}}}}).message


def test_no_refused_operator_is_ever_proposed() -> None:
    for stage in BAD_STAGES:
        assert set(refused(stage).nearest) <= set(read_names(Position.STAGE))


def test_every_gold_of_the_shared_tasks_is_admitted() -> None:
    path = SHARED / "data" / "superhero" / "tasks.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    lines = path.read_text("utf-8").splitlines()
    assert lines
    for line in lines:
        found = admit(parse_program(json.loads(line)["MQL"]))
        assert isinstance(found, Admitted), str(found)


def test_the_conformance_pipelines_are_admitted_but_for_those_that_are_wrong_on_purpose() -> None:
    path = SHARED / "engine" / "cases.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    refused_names = set[str]()
    for case in json_util.loads(path.read_text("utf-8")):
        found = judged(*case["pipeline"])
        if isinstance(found, Finding):
            refused_names.add(case["name"])
    on_purpose = {name for name in refused_names if name.endswith(("_error", "_refused"))}
    assert refused_names - on_purpose == {"documents_stage"}  # it reads no collection, and programs here always do
    assert {"accumulator_js_refused", "function_js_refused", "where_js_refused", "out_in_facet_error"} <= on_purpose
