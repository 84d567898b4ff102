"""Whatever a program looks like, the flow says something of it and never raises."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from bson import Decimal128, Int64, MaxKey, ObjectId, Regex, Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowing import SHOP, catalog_of, claims_of
from groundql.core.program import Claims, MqlProgram, ReadStatus
from groundql.languages.flow import analyse
from groundql.languages.flow.evaluation import known_operators
from groundql.languages.flow.stages import known_stages
from groundql.languages.flow.types import container_type, unite

NAMES = [
    "_id",
    "status",
    "customer",
    "customer.city",
    "lines",
    "lines.sku",
    "lines.0",
    "scores",
    "scores.2014.n",
    "x",
    "a..b",
    "",
    ".",
    "$",
    "$$",
    "k",
    "v",
    "n",
    "as",
    "input",
    "in",
    "cond",
    "path",
    "newRoot",
    "from",
    "localField",
    "foreignField",
    "let",
    "pipeline",
    "output",
    "sortBy",
    "groupBy",
    "boundaries",
    "field",
    "vars",
    "branches",
    "coll",
    "partitionBy",
    "range",
    "regex",
    "if",
    "then",
    "else",
    "initialValue",
    "inputs",
]
REFERENCES = [f"${name}" for name in NAMES] + ["$$ROOT", "$$ROOT.lines.sku", "$$this", "$$value.x", "$$NOW", "$$REMOVE",
                                               "$$CURRENT.status", "$$nobody", "$$NOW.x"]  # fmt: skip
MATCHING = ["$eq", "$gt", "$in", "$nin", "$not", "$elemMatch", "$exists", "$type", "$regex", "$all", "$size", "$and",
            "$or", "$nor", "$expr", "$mod", "$text", "$where"]  # fmt: skip
OPERATORS = sorted({*known_operators(), *known_stages(), *MATCHING, "$unheardOf"})

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from([*NAMES, *REFERENCES]),
    st.sampled_from([dt.datetime(2024, 1, 1), Regex("a"), ObjectId(), Decimal128("NaN"), Int64(3), Timestamp(1, 1),
                     MaxKey(), b"x"]),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
        st.tuples(st.sampled_from(OPERATORS), inner).map(lambda pair: {pair[0]: pair[1]}),
    ),
    max_leaves=12,
)
stages = st.one_of(
    st.tuples(st.sampled_from(sorted(known_stages())), values).map(lambda pair: {pair[0]: pair[1]}), values
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(stages, max_size=5), st.sampled_from(["orders", "products", "nowhere", ""]))
def test_an_odd_program_never_raises(pipeline: list[Any], container: str) -> None:
    claims = analyse(MqlProgram(container, tuple(pipeline)), SHOP)
    assert isinstance(claims, Claims)
    assert all(r.place.stage < max(len(pipeline), 1) for r in claims.reads)
    assert all(c.read is not None for c in claims.comparisons)
    for read in claims.reads:
        assert read.status is not ReadStatus.STORED or (read.path is not None and SHOP.get(read.container))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(OPERATORS), values)
def test_an_operator_with_odd_arguments_never_raises(operator: str, spec: Any) -> None:
    for stage in ({"$project": {"x": {operator: spec}}}, {"$group": {"_id": "$x", "n": {operator: spec}}},
                  {"$match": {"status": {operator: spec}}}, {"$match": {operator: spec}}):  # fmt: skip
        analyse(MqlProgram("orders", (stage,)), SHOP)


@settings(max_examples=100, deadline=None)
@given(st.lists(stages, max_size=4))
def test_the_same_program_makes_the_same_claims(pipeline: list[Any]) -> None:
    program = MqlProgram("orders", tuple(pipeline))
    assert repr(analyse(program, SHOP)) == repr(analyse(program, SHOP))


@settings(max_examples=100, deadline=None)
@given(st.lists(stages, max_size=3))
def test_nothing_is_held_against_a_program_over_unknown_documents(pipeline: list[Any]) -> None:
    kept = [s for s in pipeline if isinstance(s, dict) and set(s) <= {"$match", "$sort", "$limit", "$addFields"}]
    claims = analyse(MqlProgram("nowhere", tuple(kept)), catalog_of({}))
    lost = [r for r in claims.reads if r.status not in (ReadStatus.UNKNOWN, ReadStatus.STORED, ReadStatus.COMPUTED)]
    assert all(r.text.startswith("$$") or "." in r.text or r.status is ReadStatus.EARLY for r in lost), lost


@pytest.mark.parametrize(
    "wrap",
    [
        lambda value: {"$add": [value, 1]},
        lambda value: {"$cond": [True, value, 1]},
        lambda value: {"a": value},
        lambda value: [value],
        lambda value: {"$let": {"vars": {"a": value}, "in": "$$a"}},
        lambda value: {"$map": {"input": "$lines", "in": value}},
        lambda value: {"$reduce": {"input": "$lines", "initialValue": [], "in": value}},
        lambda value: {"$not": [value]},
        lambda value: {"$eq": [value, 1]},
    ],
)
def test_an_expression_of_any_depth_ends(wrap: Any) -> None:
    value: Any = "$status"
    for _ in range(600):
        value = wrap(value)
    assert claims_of({"$project": {"x": value}}).outputs == ("_id", "x")
    claims_of({"$match": {"$expr": value}})


def test_a_condition_and_a_pipeline_of_any_depth_end() -> None:
    query: Any = {"status": "paid"}
    condition: Any = {"$gt": 1}
    pipeline: list[Any] = [{"$match": {"status": "paid"}}]
    for _ in range(600):
        query, condition = {"$and": [query]}, {"$not": condition}
        pipeline = [{"$lookup": {"from": "orders", "pipeline": pipeline, "as": "x"}}]
    claims_of({"$match": query}, {"$match": {"status": condition}}, *pipeline)


def test_documents_wrapped_over_and_over_do_not_grow_without_end() -> None:
    doubling = [{"$replaceWith": {"a": "$$ROOT", "b": "$$ROOT"}}] * 40
    claims = claims_of(*doubling, {"$unionWith": {"coll": "orders", "pipeline": doubling}}, {"$match": {"a.b.c": 1}})
    assert claims.outputs == ("a", "b")
    assert [r.text for r in claims.reads] == ["a.b.c"]


def test_a_thousand_stages_that_wrap_their_documents_end() -> None:
    deep = [{"$replaceWith": {"a": "$$ROOT"}}] * 1000
    claims = claims_of(*deep, {"$unionWith": {"coll": "orders", "pipeline": deep}}, {"$match": {"a": 1}})
    assert claims.containers == {"orders"}


def test_a_union_of_a_type_with_itself_is_that_type() -> None:
    type_ = container_type(SHOP, "orders")
    assert unite(type_, type_) is type_


def test_a_container_s_type_is_built_once_and_forgotten_with_it() -> None:
    import gc

    from groundql.languages.flow import types

    catalog = catalog_of({"c": [{"a": 1}]})
    assert container_type(catalog, "c") is container_type(catalog, "c")
    key = id(catalog.containers[0])
    assert key in types._built
    del catalog
    gc.collect()
    assert key not in types._built


ODD_ARGUMENTS: list[Any] = [{}, [], None, "", "$x", [[]], [{}], 1, {"input": []}, {"$type": []}, ["$x"], [None, "$x"]]


@pytest.mark.parametrize("spec", ODD_ARGUMENTS, ids=repr)
def test_every_operator_survives_arguments_of_any_form(spec: Any) -> None:
    for operator in OPERATORS:
        for stage in (
            {operator: spec},
            {"$project": {"x": {operator: spec}}},
            {"$project": {"x": {"$eq": [{operator: spec}, 1]}}},
            {"$group": {"_id": {operator: spec}, "n": {operator: spec}}},
            {"$match": {"lines": {operator: spec}, operator: spec}},
            {"$setWindowFields": {"sortBy": spec, "output": {"n": {operator: spec}}}},
            {"$facet": {"a": [{operator: spec}]}},
        ):
            analyse(MqlProgram("orders", (stage,)), SHOP)
