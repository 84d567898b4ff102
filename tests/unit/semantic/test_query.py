from __future__ import annotations

import datetime as dt
from typing import Any

import jsonschema
import pytest

from groundql.errors import InputError
from groundql.semantic.query import Op, parse_query, query_schema
from groundql.semantic.ref import parse_ref
from groundql.semantic.to_mql import compile_query
from tiny_catalog import catalog_of, container_of

ORDERS: list[dict[str, Any]] = [
    {
        "_id": 1,
        "status": "open",
        "placed": dt.datetime(2024, 1, 2),
        "items": [{"sku": "x", "qty": 2, "price": 1.5}, {"sku": "y", "qty": 1}],
        "tags": ["red", "blue"],
        "scores": {"math": {"mean": 3}, "art": {"mean": 5}},
        "code": "7",
    },
    {"_id": 2, "items": [], "tags": "red", "status": None, "scores": {}, "code": "8"},
]
CATALOG = catalog_of(container_of("orders", ORDERS, ["scores"]))


def parsed(**parts: Any):
    return parse_query({"container": "orders", **parts}, CATALOG)


def stages(**parts: Any) -> list[Any]:
    return list(compile_query(parsed(**parts), CATALOG).stages)


def test_a_hop_that_was_left_out_is_filled_in():
    query = parsed(group_by=["items.sku"], metrics=[{"op": "avg", "path": "scores.mean"}])
    assert str(query.group_by[0].ref) == "items[].sku"
    assert str(query.metrics[0].ref) == "scores.<*>.mean"


def test_an_array_or_a_map_as_a_value_stands_for_its_items_or_keys():
    query = parsed(group_by=["tags", "scores"])
    assert [str(k.ref) for k in query.group_by] == ["tags[]", "scores.<key>"]


def test_items_that_are_now_and_then_arrays_are_left_whole():
    mixed = catalog_of(container_of("c", [{"_id": 1, "places": ["us", [1.5, 2.5]], "grid": [[1], [2]]}]))
    query = parse_query({"container": "c", "group_by": ["places", "grid"]}, mixed)
    assert [str(k.ref) for k in query.group_by] == ["places[]", "grid[][]"]


def test_a_listing_keeps_an_array_whole():
    assert [str(c.ref) for c in parsed(select=["tags", "status"]).select] == ["tags", "status"]


def test_a_key_that_exists_may_be_named_and_one_that_does_not_may_not():
    assert str(parsed(select=["scores.math.mean"]).select[0].ref) == "scores.math.mean"
    with pytest.raises(InputError, match=r"unknown path 'scores\.music\.mean' in orders; nearest: scores"):
        parsed(select=["scores.music.mean"])


def test_the_key_of_an_entry_and_a_field_of_that_name_are_told_apart():
    key, field = parse_ref("scores.<key>"), parse_ref('scores["<key>"]')
    assert key.is_key
    assert not field.is_key
    assert (str(key), str(field)) == ("scores.<key>", 'scores["<key>"]')


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"container": "order"}, "unknown container 'order'; choose one of: orders"),
        ({"filters": [{"path": "statu", "value": 1}]}, "unknown path 'statu' in orders; nearest: status"),
        ({"filters": [{"path": "status", "op": "like", "value": 1}]}, "unknown op 'like'; choose one of: eq, ne"),
        ({"filters": [{"path": "status", "op": "gt"}]}, "op 'gt' needs a value"),
        ({"filters": [{"path": "status", "op": "in", "value": "open"}]}, "needs a list of values"),
        ({"filters": [{"path": "items[].qty", "op": "contains", "value": "2"}]}, "it holds no text"),
        ({"filters": [{"path": "status", "op": "matches", "value": "("}]}, "is no regular expression"),
        ({"filters": [{"path": "status", "value": {"$where": "1"}}]}, "a value is text, a number"),
        ({"metrics": [{"op": "sum"}]}, "metric 'sum' needs a path"),
        ({"group_by": [{"path": "items[].qty", "grain": "year"}]}, "it holds no dates"),
        ({"group_by": ["status"], "order_by": ["qty"]}, "choose one of: status"),
        ({"group_by": ["status"], "having": [{"by": "n", "op": "gt", "value": 1}]}, "is no output column"),
        ({"limit": 0}, "whole number from 1 up"),
        ({"limit": True}, "whole number from 1 up"),
        ({"filter": []}, "a query has no part 'filter'; its parts are: container, filters"),
        ({"select": [{"path": "status", "as": "$x"}]}, "without dots or dollars"),
    ],
)
def test_what_cannot_be_read_is_answered_with_what_to_write(parts: dict[str, Any], message: str):
    with pytest.raises(InputError) as caught:
        parsed(**parts)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_takes_the_kind_that_is_stored():
    assert stages(filters=[{"path": "items[].qty", "value": "2"}])[0] == {"$match": {"items.qty": 2}}
    assert stages(filters=[{"path": "code", "value": 7}])[0] == {"$match": {"code": "7"}}


def test_a_date_without_a_time_is_the_whole_stretch_it_names():
    start, end = dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
    assert stages(filters=[{"path": "placed", "value": "2024"}]) == [
        {"$match": {"placed": {"$gte": start, "$lt": end}}}
    ]
    assert stages(filters=[{"path": "placed", "op": "gt", "value": "2024"}]) == [{"$match": {"placed": {"$gte": end}}}]


def test_a_dollar_in_a_value_is_never_an_expression():
    found = stages(filters=[{"path": "scores.<key>", "value": "$$ROOT"}])
    assert {"$literal": "$$ROOT"} in found[0]["$match"]["$expr"]["$anyElementTrue"][0]["$map"]["in"]["$eq"]


def test_columns_of_one_name_are_told_apart():
    query = parsed(select=["items[].qty", {"path": "status", "as": "qty"}])
    assert len({c.name for c in query.select}) == 2


def test_order_may_name_a_path_an_alias_or_a_metric():
    for by in ("count", "items.sku", "sku"):
        assert parsed(group_by=["items[].sku"], metrics=[{"op": "count"}], order_by=[{"by": by}]).order_by


def test_a_denial_that_means_two_things_is_refused_with_the_way_out():
    with pytest.raises(InputError, match="move it into that metric's filters"):
        stages(
            filters=[{"path": "items[].sku", "op": "ne", "value": "x"}],
            metrics=[{"op": "count"}, {"op": "sum", "path": "items[].qty"}],
        )


def test_the_schema_takes_real_paths_and_refuses_invented_ones():
    schema = query_schema(CATALOG)
    good = {"container": "orders", "group_by": ["items[].sku"], "metrics": [{"op": "count"}]}
    jsonschema.validate(good, schema)
    for bad in ({**good, "container": "x"}, {**good, "group_by": ["items[].name"]}, {**good, "extra": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_whatever_the_schema_allows_for_filters_can_be_read():
    schema = query_schema(CATALOG)
    for op in Op:
        value: Any = ["a", "b"] if op in ("in", "not_in", "between") else "a"
        item = {
            "path": "status",
            "op": op.value,
            **({} if op in ("exists", "missing", "is_null") else {"value": value}),
        }
        if jsonschema.Draft202012Validator(schema).is_valid({"container": "orders", "filters": [item]}):
            assert parsed(filters=[item]).filters
