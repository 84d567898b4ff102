from __future__ import annotations

import datetime as dt

import pytest

from groundql.bench.audit.stated import Stated


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("cities with at least one million inhabitants", 1_000_000),
        ("more than 3 goals", 4),
        ("at least 50 percent", 0.5),
        ("the third place", 3),
        ("born in December", 12),
        ("authors of several books", 2),
        ("the duration in minutes", 60),
        ("version 15.1", 15.1),
    ],
)
def test_a_number_is_stated_in_figures_words_or_by_what_implies_it(text: str, number: float) -> None:
    assert Stated(text).has_number(number)


def test_a_number_that_is_not_there_is_not_stated() -> None:
    assert not Stated("cities with at least one million inhabitants").has_number(500_000)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("How many cities are there?", "city"),
        ("Which JavaScript features are deprecated?", "javascript"),
        ("the status official regional", "official_regional"),
        ("names in French and Danish", "fr"),
        ("the tag '東京'", "東京"),
    ],
)
def test_a_stored_text_is_stated_in_other_case_number_or_spelling(text: str, value: str) -> None:
    assert Stated(text).has_text(value)


def test_a_stored_text_that_is_not_there_is_not_stated() -> None:
    assert not Stated("How many cities are there?").has_text("Monthly")


def test_a_date_is_stated_by_its_year_at_the_years_edge_only() -> None:
    stated = Stated("released before 2011")
    assert stated.has_date(dt.datetime(2011, 1, 1))
    assert not stated.has_date(dt.datetime(2011, 7, 13))


@pytest.mark.parametrize(
    "text", ["Most first, equal numbers by name.", "Sort by count, then by name.", "Ties by name."]
)
def test_a_further_sort_key_is_stated_where_the_order_is(text: str) -> None:
    assert Stated(f"Which shops are there? {text}").orders_by({"name"})


def test_a_column_that_is_merely_returned_states_no_order() -> None:
    assert not Stated("Return name and count, highest count first.").orders_by({"name"})
