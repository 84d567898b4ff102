from __future__ import annotations

import math
from typing import Any

import pytest

from groundql.bench.scoring.parsing import read
from groundql.errors import ProgramSyntaxError

READ: dict[str, tuple[str, list[Any]]] = {
    "quoted keys": ('db.c.aggregate([{"$match": {"a": 1}}])', [{"$match": {"a": 1}}]),
    "bare keys and single quotes": ("db.c.aggregate([{$match: {a: 'x'}}])", [{"$match": {"a": "x"}}]),
    "words before it": ('Sure: db.c.aggregate([{"$count": "n"}]) as asked', [{"$count": "n"}]),
    "comments and trailing commas": ("db.c.aggregate([/* a */{$limit: 5,}, // b\n])", [{"$limit": 5}]),
    "hexadecimal numbers": ("db.c.aggregate([{$limit: 0x1F}])", [{"$limit": 31}]),
    "a method behind it is ignored": ("db.c.aggregate([{$limit: 9}]).limit(5)", [{"$limit": 9}]),
    "a second call is ignored": ("db.c.aggregate([]) db.d.aggregate([{$limit: 1}])", []),
    "options behind it are ignored": ("db.c.aggregate([{$limit: 9}], {allowDiskUse: true})", [{"$limit": 9}]),
    "stages that are no objects": ("db.c.aggregate([1, 'x'])", [1, "x"]),
    "balanced brackets inside text": ("db.c.aggregate([{$match: {a: '[x]'}}])", [{"$match": {"a": "[x]"}}]),
}
UNREADABLE = {
    "nothing": "",
    "prose": "I cannot answer that.",
    "a find": "db.c.find({a: 1})",
    "a collection in brackets": 'db["c"].aggregate([])',
    "getCollection": 'db.getCollection("c").aggregate([])',
    "a name with a dash": "db.a-b.aggregate([])",
    "a name with a dot": "db.a.b.aggregate([])",
    "a space before the parenthesis": "db.c.aggregate ([])",
    "no brackets": "db.c.aggregate({$match: {}})",
    "a bracket that is never closed": "db.c.aggregate([{$limit: 1}",
    "a closing bracket inside text": 'db.c.aggregate([{"$match": {"a": "x]y"}}])',
    "an opening bracket inside text": 'db.c.aggregate([{"$match": {"a": "x[y"}}])',
    "ISODate": 'db.c.aggregate([{$match: {d: ISODate("2020-01-01")}}])',
    "new Date": 'db.c.aggregate([{$match: {d: new Date("2020-01-01")}}])',
    "ObjectId": 'db.c.aggregate([{$match: {_id: ObjectId("64b000000000000000000001")}}])',
    "NumberLong": "db.c.aggregate([{$limit: NumberLong(5)}])",
    "a regular expression": "db.c.aggregate([{$match: {a: /x/}}])",
    "undefined": "db.c.aggregate([undefined])",
    "endless nesting": f"db.c.aggregate({'[' * 5000}{']' * 5000})",
}


@pytest.mark.parametrize(("text", "stages"), READ.values(), ids=READ)
def test_this_is_read(text: str, stages: list[Any]) -> None:
    program = read(text)
    assert (program.container, list(program.stages)) == ("c", stages)


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_this_is_not_read(text: str) -> None:
    with pytest.raises(ProgramSyntaxError):
        read(text)


def test_not_a_number_is_read() -> None:
    (stage,) = read("db.c.aggregate([{$match: {a: NaN}}])").stages
    assert math.isnan(stage["$match"]["a"])


def test_digits_and_underscores_are_letters_of_a_name() -> None:
    assert read("db.f1_races_2.aggregate([])").container == "f1_races_2"
