from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from bson import Binary, Decimal128, Int64, ObjectId

from groundql.bench.scoring.canonical import Numbering, canonical

OID = ObjectId("64b000000000000000000001")
DAY = dt.datetime(2020, 1, 2, 3, 4, 5)
NAN, INFINITY = float("nan"), float("inf")

EQUAL = {
    "a whole float is an integer": (1.0, 1),
    "minus zero is zero": (-0.0, 0),
    "a 64-bit integer is an integer": (Int64(7), 7),
    "floats are rounded to 12 places": (0.1 + 0.2, 0.3),
    "NaN equals itself": (NAN, float("nan")),
    "infinity equals itself": (INFINITY, float("inf")),
    "the keys of nested objects have no order": ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}),
    "null equals null": (None, None),
    "equal ObjectIds are equal": (OID, ObjectId(str(OID))),
    "equal dates are equal": (DAY, DAY.replace()),
    "equal binaries are equal": (Binary(b"x", 4), Binary(b"x", 4)),
    "bytes are binary of subtype 0": (b"x", Binary(b"x", 0)),
    "equal decimals are equal as text": (Decimal128("1.0"), Decimal128("1.0")),
}
DIFFERENT = {
    "true is not 1": (True, 1),
    "false is not 0": (False, 0),
    "a number is not its text": (1, "1"),
    "a fraction that rounds to 1 is not 1": (0.9999999999999999, 1),
    "the 12th place counts": (0.1, 0.100000000001),
    "large sums differ in their last digits": (899644.5000000002, 899644.4999999999),
    "NaN is not infinity": (NAN, INFINITY),
    "infinities have signs": (INFINITY, -INFINITY),
    "a decimal is compared as text": (Decimal128("1.0"), Decimal128("1.00")),
    "a decimal is no integer": (Decimal128("1"), 1),
    "an ObjectId is not its digits": (OID, str(OID)),
    "a date is not its text": (DAY, "2020-01-02T03:04:05Z"),
    "dates differ by milliseconds": (DAY, DAY.replace(microsecond=1000)),
    "binary has a subtype": (Binary(b"x", 4), Binary(b"x", 0)),
    "text is exact": ("Ä", "a"),
    "blanks count": ("a ", "a"),
    "null is not an empty text": (None, ""),
    "keys of nested objects count": ({"a": 1}, {"b": 1}),
    "null is not missing in a nested object": ({"a": 1, "b": None}, {"a": 1}),
    "arrays have an order": ([1, 2], [2, 1]),
    "an array is not its item": ([1], 1),
    "objects inside arrays keep their place": ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}]),
}


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
def test_these_values_are_equal(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(other)
    assert hash(canonical(one)) == hash(canonical(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_these_values_differ(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)


def test_a_row_drops_its_names_and_the_order_of_its_values() -> None:
    numbering = Numbering()
    assert numbering.row({"a": 1, "b": "x"}) == numbering.row({"y": "x", "z": 1.0})


def test_a_row_keeps_how_often_a_value_stands_in_it() -> None:
    numbering = Numbering()
    assert numbering.row({"a": 1, "b": 1}) != numbering.row({"a": 1})


def test_a_missing_value_makes_a_row_one_value_shorter_than_null_does() -> None:
    numbering = Numbering()
    assert len(numbering.row({"a": 1, "b": None})) == len(numbering.row({"a": 1})) + 1


def test_an_id_is_a_value_like_any_other() -> None:
    numbering = Numbering()
    assert numbering.row({"_id": 1, "n": 2}) == numbering.row({"n": 2, "k": 1})
    assert numbering.row({"_id": 1, "n": 2}) != numbering.row({"n": 2})
