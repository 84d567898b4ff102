from __future__ import annotations

import datetime as dt
import json

import pytest
from bson import Decimal128, Int64, ObjectId

from groundql.core.path import Path
from groundql.grounding.index import ValueIndex
from groundql.grounding.profile import StoredValues
from unit.grounding.small_world import shop, world_of


def values_of(*stored: object, complete: bool = True, path: str = "name", is_key: bool = False) -> StoredValues:
    counts = tuple((value, 1) for value in stored)
    return StoredValues("things", Path.parse(path), is_key, counts, complete, len(counts))


def found(index: ValueIndex, text: str) -> list[object]:
    return [location.stored for location in index.find(text)]


def test_the_same_word_is_found_whatever_its_case_and_joining() -> None:
    index = ValueIndex.build([values_of("Marvel Comics", "ＤＣ_Comics", "on-hold")])
    assert found(index, "marvel_comics") == ["Marvel Comics"]
    assert found(index, "dc comics") == ["ＤＣ_Comics"]
    assert found(index, "ON HOLD") == ["on-hold"]


def test_the_exact_form_comes_before_other_forms() -> None:
    index = ValueIndex.build([values_of("good", "Good", "GOOD")])
    assert found(index, "GOOD")[0] == "GOOD"


def test_a_plural_finds_its_singular_with_its_distance() -> None:
    index = ValueIndex.build([values_of("villain", "category", "hero")])
    assert [(x.stored, x.distance) for x in index.find("villains")] == [("villain", 1)]
    assert found(index, "categories") == ["category"]
    assert found(index, "heroes") == ["hero"]


def test_a_small_misspelling_is_near_and_a_short_word_never_is() -> None:
    index = ValueIndex.build([values_of("Manhattan", "open", "Brooklyn")])
    assert [(x.stored, x.distance) for x in index.find_near("manhatten")] == [("Manhattan", 1)]
    assert index.find_near("opan") == ()
    assert index.find_near("queensland") == ()


def test_a_part_of_a_longer_text_is_found_as_whole_words_only() -> None:
    index = ValueIndex.build([values_of("Charles Chandler", "Chandlery Row", "A. Chandler, Jr.")])
    parts = index.find_part("chandler")
    assert {x.stored for x in parts} == {"Charles Chandler", "A. Chandler, Jr."}
    assert all(x.partial and x.distance > 0 for x in parts)


def test_a_month_finds_the_days_in_it() -> None:
    index = ValueIndex.build([values_of("2014-03-02", "2014-03-09", "2014-04-01")])
    assert [x.stored for x in index.find_prefix("2014-03")] == ["2014-03-02", "2014-03-09"]


def test_a_number_is_found_as_number_text_and_key() -> None:
    index = ValueIndex.build(
        [
            values_of(2014, Int64(2015), path="year"),
            values_of("2014", path="season"),
            values_of("2014", path="by_year", is_key=True),
            values_of(2014.0, Decimal128("2014"), path="amount"),
        ]
    )
    assert {str(x.at.path) for x in index.find_number(2014)} == {"year", "season", "by_year", "amount"}
    assert index.find_number(float("inf") if False else 99) == ()


def test_booleans_are_no_numbers() -> None:
    index = ValueIndex.build([values_of(True, 1)])
    assert [x.stored for x in index.find_number(1)] == [1]


def test_values_that_cannot_be_indexed_make_their_path_incomplete() -> None:
    index = ValueIndex.build([values_of("ok", "x" * 5000), values_of(float("nan"), 1.0, path="score")])
    assert [p.complete for p in index.paths] == [False, False]
    assert found(index, "ok") == ["ok"]


def test_memory_is_bounded_and_what_was_dropped_makes_a_path_incomplete() -> None:
    long = StoredValues("a", Path.of("text"), False, tuple((f"{i:05}" + "y" * 150, 1) for i in range(2000)), True, 2000)
    short = StoredValues("a", Path.of("kind"), False, (("car", 900), ("bus", 100)), True, 2)
    index = ValueIndex.build([long, short], budget_bytes=200_000)
    assert 0 < len(index.entries) < 600
    assert index.dropped == 2002 - len(index.entries)
    by_path = {str(p.path): p.complete for p in index.paths}
    assert by_path == {"text": False, "kind": True}
    assert found(index, "car") == ["car"]


def test_fifty_thousand_keys_are_looked_up() -> None:
    keys = StoredValues("a", Path.of("m"), True, tuple((f"key_{i}", 1) for i in range(50_000)), True, 50_000)
    index = ValueIndex.build([keys])
    (location,) = index.find("KEY 49999")
    assert location.at.is_key
    assert index.find("key 50000") == ()


def test_the_index_reads_back_what_it_wrote() -> None:
    stored = values_of(
        "é", 1, Int64(2**40), 1.5, True, Decimal128("1.10"), ObjectId(), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    )
    index = ValueIndex.build([stored, values_of("k", path='["a.b"]', is_key=True)])
    again = ValueIndex.from_data(json.loads(json.dumps(index.to_data())))
    assert again == index
    assert [type(v) for _, v, _ in again.entries] == [type(v) for _, v, _ in index.entries]


def test_the_values_of_a_path_come_with_their_counts() -> None:
    index = shop().index
    values = dict(index.values_at("orders", Path.of("status")))
    assert values == {"open": 14, "closed": 13, "on_hold": 13}
    at = index.at("orders", Path.of("status"))
    assert at is not None
    assert at.complete


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "a" * 100_000, "🦸" * 50])
def test_odd_texts_find_nothing_and_break_nothing(text: str) -> None:
    index = world_of(things=[{"name": "x"}]).index
    assert index.find(text) == ()
    assert index.find_near(text) == ()
    assert index.find_part(text) == ()
