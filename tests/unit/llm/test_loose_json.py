from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundql.llm.loose_json import NotJson, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


@given(OBJECTS)
def test_strict_json_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False, indent=2)) == value


@given(OBJECTS, st.text(alphabet="abc .,:;!?\n'", max_size=30))
def test_prose_and_fences_around_it_do_not_matter(value: dict[str, Any], prose: str) -> None:
    text = json.dumps(value)
    assert read_json(f"{prose}\n```json\n{text}\n```\n{prose}") == value
    assert read_json(f"{prose}{text}{prose}") == value


@given(st.text(max_size=200))
def test_any_text_comes_to_json_or_a_reason(text: str) -> None:
    try:
        value = read_json(text)
    except NotJson as error:
        reason = str(error)
    else:
        reason = f"a {type(value).__name__}"
        assert isinstance(value, dict | list)
    assert reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b': \"two\",}", {"a": 1, "b": "two"}),
        ("[1, 2, /* three */ 3, // four\n]", [1, 2, 3]),
        ("{'it''s': 1}", None),
        ('{"a": \'say "hi"\'}', {"a": 'say "hi"'}),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}),
        ('{$match: {born: {$gte: ISODate("2020-01-01")}}}', {"$match": {"born": {"$gte": {"$date": "2020-01-01"}}}}),
        ("{_id: ObjectId('507f1f77bcf86cd799439011')}", {"_id": {"$oid": "507f1f77bcf86cd799439011"}}),
        ("{d: new Date('2020-01-01')}", {"d": {"$date": "2020-01-01"}}),
        ("{n: NumberDecimal('1.5'), l: NumberLong(7)}", {"n": {"$numberDecimal": "1.5"}, "l": {"$numberLong": "7"}}),
        ("{a: /^x\\/[/]y/i}", {"a": {"$regularExpression": {"pattern": "^x\\/[/]y", "options": "i"}}}),
        ("{a: 'caf\\u00e9\\n'}", {"a": "café\n"}),
        ("{a.b: .5, c: -1e3}", {"a.b": 0.5, "c": -1000.0}),
        ('<think>maybe {"a": 0}</think> {"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('Here: [see] {"a": 1}', {"a": 1}),
        ('```\nnot json\n```\n{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}', {"a": 1}),
    ],
)
def test_the_habits_of_shells_and_python_are_understood(text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(NotJson):
            read_json(text)
    else:
        assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no braces at all", "holds no JSON"),
        ('{"a": 1', "ends before it is complete"),
        ('{"a": {"$gt": 1}, "a": {"$lt": 5}}', "the key 'a' appears twice"),
        ("{a: 1, 'a': 2}", "the key 'a' appears twice"),
        ("{a: __import__('os').system('true')}", "'__import__' is not a JSON value"),
        ("{a: function() { return 1 }}", "'function' is not a JSON value"),
        ("{a: ObjectId()}", "needs a value"),
        ("{\n\na: }", "line 3"),
        ('{"a" 1}', "':' is missing"),
        ("{'a': 'unfinished\n}", "a string does not end"),
        ("{a: '\\uZZZZ'}", "escape is broken"),
        ("{" + "a: {" * 5000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(NotJson, match=says):
        read_json(text)


def test_deep_nesting_ends_in_a_reason_and_not_in_a_crash() -> None:
    with pytest.raises(NotJson):
        read_json("[" * 100_000)


def test_the_value_that_fits_is_preferred_over_the_first() -> None:
    text = 'I looked at {"a": 1} and answer {"b": 2}'
    assert read_json(text, lambda value: "b" in value) == {"b": 2}
    assert read_json(text, lambda _: False) == {"a": 1}


def test_a_wrapped_value_is_found_inside_its_wrapping() -> None:
    assert read_json('{"result": {"b": 2}}', lambda value: "b" in value) == {"b": 2}
