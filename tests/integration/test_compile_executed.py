from __future__ import annotations

import datetime as dt
import os
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pymongo.database import Database as MongoDatabase

import query_cases
from groundql.errors import InputError
from groundql.semantic.query import parse_query
from groundql.semantic.to_mql import compile_query
from query_oracle import as_multiset, rows_of
from tiny_catalog import catalog_of, container_of

EXAMPLES = int(os.environ.get("GROUNDQL_EXAMPLES", "150"))
Document = dict[str, Any]
pytestmark = pytest.mark.integration


def answer(database: MongoDatabase[Document], documents: list[Document], maps: tuple[str, ...] = (), **parts: Any):
    database["c"].drop()
    database["c"].insert_many(documents)
    catalog = catalog_of(container_of("c", documents, maps))
    program = compile_query(parse_query({"container": "c", **parts}, catalog), catalog)
    return list(database["c"].aggregate([dict(stage) for stage in program.stages]))


@given(
    documents=st.lists(query_cases.DOCUMENT, min_size=1, max_size=4),
    queries=st.lists(query_cases.query("c"), min_size=3, max_size=3),
    exhaustive=st.booleans(),
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_compiled_query_gives_the_rows_its_definition_says(
    fresh_database: MongoDatabase[Document], documents: list[Document], queries: list[Document], exhaustive: bool
):
    documents = [{**document, "_id": number} for number, document in enumerate(documents)]
    fresh_database["c"].drop()
    fresh_database["c"].insert_many(documents)
    known = [*documents, query_cases.WHOLE]
    catalog = catalog_of(container_of("c", known, query_cases.MAPS, exhaustive=exhaustive))
    ran = 0
    for data in queries:
        try:
            query = parse_query(data, catalog)
            stages = [dict(stage) for stage in compile_query(query, catalog).stages]
        except InputError:
            continue
        ran += 1
        assert as_multiset(list(fresh_database["c"].aggregate(stages))) == as_multiset(rows_of(query, documents)), (
            stages
        )
    assume(ran)


RICH: list[Document] = [
    {**query_cases.WHOLE, "_id": 0},
    {
        "_id": 1,
        "r": "b",
        "n": 2,
        "tags": ["a", "b", "a"],
        "a": [
            {"x": "a", "y": 1, "b": [{"z": 1, "w": "a"}, {"z": 3, "w": "b"}], "m": {"k1": {"v": 2}, "k2": {"v": 2}}},
            {"x": "b", "y": 5, "b": [{"z": 1, "w": "a"}], "m": {"k2": {}}, "l": [[1, 2], [], [2]]},
            {"x": "a", "y": 1, "b": [], "l": [[None, 1]]},
        ],
        "m": {"k1": {"v": 4, "w": "a", "list": [1, 1, 2], "sub": {"k1": 2, "k2": 2}}, "k2": {"v": 4, "sub": {"k1": 7}}},
        "s": {"k1": 3, "k2": 3, "k.3": None},
        "mm": {"k1": {"k1": 1, "k2": 1}, "k2": {"k1": 5}, "$k": {}},
        "ml": {"k1": [{"q": 1, "s": "a"}, {"q": 1, "s": "b"}], "k2": [{"q": 2, "s": "a"}], "k.3": []},
        "g": [[1, 2], [2], []],
        "o": {"d.t": {"$e": [{"q": 1}, {"q": 1}, {}]}},
    },
    {"_id": 2, "r": "b", "tags": "b", "a": {"x": "c", "y": 2, "m": {"k1": {"v": 9}}}, "g": [], "m": {}, "s": None},
    {"_id": 3, "r": None, "n": 3, "tags": [], "a": [], "mm": {"k1": None}, "ml": {"k1": None}},
]


@pytest.mark.parametrize("group", query_cases.REFS)
def test_every_group_with_every_metric_counts_each_value_once(fresh_database: MongoDatabase[Document], group: str):
    fresh_database["c"].insert_many(RICH)
    catalog = catalog_of(container_of("c", RICH, query_cases.MAPS))
    for path in query_cases.NUMERIC:
        metrics = [{"op": "count"}, {"op": "count", "path": path}, {"op": "sum", "path": path}]
        metrics += [{"op": "avg", "path": path, "as": "mean"}, {"op": "list_distinct", "path": path, "as": "list"}]
        for chosen in (metrics, metrics[2:]):
            data = {"container": "c", "group_by": [group], "metrics": chosen}
            query = parse_query(data, catalog)
            stages = [dict(stage) for stage in compile_query(query, catalog).stages]
            assert as_multiset(list(fresh_database["c"].aggregate(stages))) == as_multiset(rows_of(query, RICH)), data


@pytest.mark.parametrize("filtered", query_cases.REFS)
def test_every_filter_finds_the_same_items_wherever_rows_are_made(
    fresh_database: MongoDatabase[Document], filtered: str
):
    fresh_database["c"].insert_many(RICH)
    catalog = catalog_of(container_of("c", RICH, query_cases.MAPS))
    value: Any = 1 if filtered in query_cases.NUMERIC else "k1" if filtered.endswith("<key>") else "a"
    for op in ("eq", "ne", "exists", "missing"):
        condition = {"path": filtered, "op": op, **({"value": value} if op in ("eq", "ne") else {})}
        for group in ("r", "tags[]", "a[].x", "m.<key>", "a[].b[].w", "mm.<*>.<key>", filtered):
            data = {"container": "c", "filters": [condition], "group_by": [group], "metrics": [{"op": "count"}]}
            query = parse_query(data, catalog)
            stages = [dict(stage) for stage in compile_query(query, catalog).stages]
            assert as_multiset(list(fresh_database["c"].aggregate(stages))) == as_multiset(rows_of(query, RICH)), data


DAYS: list[Document] = [
    {"_id": 1, "at": dt.datetime(2023, 12, 31, 23, 59), "text": "2023-12-31", "n": 1},
    {"_id": 2, "at": dt.datetime(2024, 1, 1), "text": "2024-01-01T05:00:00Z", "n": 2},
    {"_id": 3, "at": dt.datetime(2024, 4, 30, 12), "text": "soon", "n": 4},
    {"_id": 4, "at": None, "n": 8},
]


@pytest.mark.parametrize(
    ("grain", "labels"),
    [
        ("year", [None, 2023, 2024, 2024]),
        ("quarter", [None, "2023-Q4", "2024-Q1", "2024-Q2"]),
        ("month", [None, "2023-12", "2024-01", "2024-04"]),
        ("week", [None, "2023-W52", "2024-W01", "2024-W18"]),
        ("day", [None, "2023-12-31", "2024-01-01", "2024-04-30"]),
        ("hour", [None, "2023-12-31T23", "2024-01-01T00", "2024-04-30T12"]),
    ],
)
def test_dates_are_grouped_by_each_grain(fresh_database: MongoDatabase[Document], grain: str, labels: list[Any]):
    rows = answer(
        fresh_database,
        DAYS,
        group_by=[{"path": "at", "grain": grain}],
        metrics=[{"op": "sum", "path": "n"}],
    )
    wanted: dict[Any, int] = {}
    for label, n in zip(labels, [8, 1, 2, 4], strict=True):
        wanted[label] = wanted.get(label, 0) + n
    assert {row["at"]: row["sum_n"] for row in rows} == wanted


def test_dates_stored_as_text_are_grouped_too_and_other_text_is_null(fresh_database: MongoDatabase[Document]):
    rows = answer(fresh_database, DAYS, group_by=[{"path": "text", "grain": "year"}], metrics=[{"op": "count"}])
    assert {row["text"]: row["count"] for row in rows} == {2023: 1, 2024: 1, None: 2}


@pytest.mark.parametrize(
    ("op", "value", "ids"),
    [
        ("eq", "2024-01-01", [2]),
        ("eq", 2024, [2, 3]),
        ("ne", "2024", [1, 4]),
        ("lte", "2023", [1]),
        ("lt", "2024-01-01", [1]),
        ("gt", "2024-01-01", [3]),
        ("gte", "2024-01", [2, 3]),
        ("between", ["2023-12-31", "2024-01-01"], [1, 2]),
        ("in", ["2023", "2024-04-30"], [1, 3]),
        ("not_in", ["2023", "2024-04-30"], [2, 4]),
        ("eq", {"$date": "2024-01-01T00:00:00Z"}, [2]),
    ],
)
def test_a_date_in_a_filter_means_its_whole_stretch(
    fresh_database: MongoDatabase[Document], op: str, value: Any, ids: list[int]
):
    rows = answer(fresh_database, DAYS, filters=[{"path": "at", "op": op, "value": value}], select=["_id"])
    assert sorted(row["_id"] for row in rows) == ids


NUMBERS: list[Document] = [
    {"_id": 1, "g": "a", "p": Decimal128("1.10"), "q": float("nan")},
    {"_id": 2, "g": "a", "p": Decimal128("2.20"), "q": 1},
    {"_id": 3, "p": None, "q": 5.5},
    {"_id": 4, "g": None, "q": 2},
    {"_id": 5, "g": "b", "p": Decimal128("0.5"), "q": 7},
]


def test_decimals_are_summed_and_compared_exactly(fresh_database: MongoDatabase[Document]):
    rows = answer(fresh_database, NUMBERS, group_by=["g"], metrics=[{"op": "sum", "path": "p"}], order_by=["g"])
    assert [(r["g"], str(r["sum_p"])) for r in rows] == [("a", "3.30"), ("b", "0.5"), (None, "0")]
    found = answer(fresh_database, NUMBERS, filters=[{"path": "p", "op": "eq", "value": 1.1}], select=["_id"])
    assert found == [{"_id": 1}]


def test_nan_lies_in_no_range(fresh_database: MongoDatabase[Document]):
    found = answer(fresh_database, NUMBERS, filters=[{"path": "q", "op": "lt", "value": 3}], select=["_id"])
    assert sorted(r["_id"] for r in found) == [2, 4]


def test_missing_and_null_are_one_group_however_many_keys(fresh_database: MongoDatabase[Document]):
    for keys in (["g"], ["g", {"path": "g", "as": "again"}]):
        rows = answer(fresh_database, NUMBERS, group_by=keys, metrics=[{"op": "count"}])
        assert sorted((str(r["g"]), r["count"]) for r in rows) == [("None", 2), ("a", 2), ("b", 1)]


def test_rows_without_a_value_come_last_when_ascending(fresh_database: MongoDatabase[Document]):
    ordered = answer(fresh_database, NUMBERS, select=["_id"], order_by=["g", {"by": "q", "desc": True}])
    assert [r["_id"] for r in ordered] == [2, 1, 5, 3, 4]
    cheapest = answer(fresh_database, NUMBERS, group_by=["g"], metrics=[{"op": "min", "path": "p"}], order_by=["min_p"])
    assert [r["g"] for r in cheapest] == ["b", "a", None]
    assert all(set(r) == {"g", "min_p"} for r in cheapest)


def test_ties_fall_the_same_way_every_time(fresh_database: MongoDatabase[Document]):
    documents = [{"_id": n, "g": f"g{(n * 7) % 10}"} for n in range(20)]
    rows = answer(
        fresh_database,
        documents,
        group_by=["g"],
        metrics=[{"op": "count"}],
        order_by=[{"by": "count", "desc": True}],
        limit=3,
    )
    assert [r["g"] for r in rows] == ["g0", "g1", "g2"]


def test_groups_are_filtered_by_what_was_computed(fresh_database: MongoDatabase[Document]):
    rows = answer(
        fresh_database,
        NUMBERS,
        group_by=["g"],
        metrics=[{"op": "count", "as": "n"}, {"op": "max", "path": "q"}],
        having=[{"by": "n", "op": "gte", "value": 2}, {"by": "max_q", "op": "gt", "value": 2}],
    )
    assert rows == [{"g": None, "n": 2, "max_q": 5.5}]


def test_two_arrays_do_not_multiply_each_other(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "k": 1, "a": [{"x": 1}, {"x": 2}, {"x": 3}], "b": [{"y": 10}, {"y": 20}]}]
    rows = answer(
        fresh_database,
        documents,
        group_by=["k"],
        metrics=[{"op": "count"}, {"op": "sum", "path": "a[].x"}, {"op": "avg", "path": "b[].y"}],
    )
    assert rows == [{"k": 1, "count": 1, "sum_x": 6, "avg_y": 15.0}]


def test_metrics_that_cannot_be_kept_apart_are_refused(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "a": [{"x": 1, "k": 1}], "b": [{"y": 10, "k": 1}]}]
    with pytest.raises(InputError, match="would multiply each other"):
        answer(
            fresh_database,
            documents,
            group_by=["a[].k", "b[].k"],
            metrics=[{"op": "sum", "path": "a[].x"}, {"op": "sum", "path": "b[].y"}],
        )


def test_two_values_asked_of_one_array_are_met_by_two_items(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "t": ["a", "b"]}, {"_id": 2, "t": ["a"]}]
    both = [{"path": "t", "value": "a"}, {"path": "t", "value": "b"}]
    assert answer(fresh_database, documents, filters=both, select=["_id"]) == [{"_id": 1}]


def test_conditions_side_by_side_are_met_by_one_item(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [
        {"_id": 1, "i": [{"s": "a", "q": 1}, {"s": "b", "q": 9}]},
        {"_id": 2, "i": [{"s": "a", "q": 9}]},
    ]
    same = [{"path": "i[].s", "value": "a"}, {"path": "i[].q", "op": "gt", "value": 5}]
    assert answer(fresh_database, documents, filters=same, select=["_id"]) == [{"_id": 2}]
    apart = [same[0], {"all": [same[1]]}]
    assert len(answer(fresh_database, documents, filters=apart, select=["_id"])) == 2


def test_identifiers_are_found_by_their_text(fresh_database: MongoDatabase[Document]):
    one = ObjectId()
    documents: list[Document] = [{"_id": one, "n": 1}, {"_id": ObjectId(), "n": 2}]
    assert answer(fresh_database, documents, filters=[{"path": "_id", "value": str(one)}], select=["n"]) == [{"n": 1}]


def test_a_map_and_its_keys_can_be_read_at_once(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "m": {"a": 1, "b": 2}}]
    rows = answer(fresh_database, documents, ("m",), select=["m.<key>", "m.<*>", {"path": "m.a", "as": "first"}])
    assert rows == [{"m_key": "a", "m": 1, "first": 1}, {"m_key": "b", "m": 2, "first": 1}]


def test_an_empty_collection_has_no_rows_even_for_a_count(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "n": 1}]
    none = [{"path": "n", "op": "gt", "value": 5}]
    assert answer(fresh_database, documents, filters=none, metrics=[{"op": "count"}]) == []


def test_many_keys_are_no_trouble(fresh_database: MongoDatabase[Document]):
    documents: list[Document] = [{"_id": 1, "m": {f"k{n}": {"v": n % 3} for n in range(20_000)}}]
    rows = answer(fresh_database, documents, ("m",), group_by=["m.<*>.v"], metrics=[{"op": "count", "path": "m.<key>"}])
    assert sorted((r["v"], r["count_m_key"]) for r in rows) == [(0, 6667), (1, 6667), (2, 6666)]
