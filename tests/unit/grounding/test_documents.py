"""Documents as prompt text: bounded, on one line, quoted."""

from __future__ import annotations

from datetime import datetime

from groundql.grounding.documents import Bounds, distinct_strings, document_text


def test_a_document_is_one_line_with_quoted_keys_and_texts() -> None:
    document = {"a b": "line\nbreak", "d": datetime(2020, 1, 1), "n": None, "x": [1, True]}
    text = document_text(document, Bounds())
    assert text == '{"a b": "line\\nbreak", "d": ISODate("2020-01-01"), "n": null, "x": [1, true]}'


def test_what_a_bound_leaves_out_is_marked() -> None:
    bounds = Bounds(string_chars=5, list_items=2, object_keys=2, depth=2)
    text = document_text({"s": "abcdefgh", "l": [1, 2, 3], "more": 1}, bounds)
    assert "…" in text
    assert "abcdefgh" not in text
    assert "[1, 2, …]" in text
    assert "more" not in text


def test_levels_below_the_bound_are_marked() -> None:
    assert document_text({"a": {"b": {"c": 1}}}, Bounds(depth=2)) == '{"a": {"b": {…}}}'


def test_strings_are_collected_from_shallow_fields_alone() -> None:
    documents = [{"a": "x", "b": {"c": "y", "d": {"e": "z"}}, "l": ["q"]}, {"a": "x2"}, {"a": "x3"}]
    assert distinct_strings(documents, 2) == {"a": ["x", "x2"], "b.c": ["y"]}
