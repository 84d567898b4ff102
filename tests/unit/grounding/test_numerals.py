from __future__ import annotations

import pytest

from groundql.grounding.number_words import text_number
from groundql.grounding.numerals import NumberRole, limit_of, limits_of, numbers_of, thresholds_of

LIMITS = {
    "top ten heroes": 10,
    "top-10 players": 10,
    "the top twenty-five": 25,
    "the first 5 rows": 5,
    "limit to 8": 8,
    "limit the results to 20": 20,
    "sorted by name, with a maximum of 100 results": 100,
    "Give me up to 100.": 100,
    "Return only the first 8 entries": 8,
    "the 3 largest cities": 3,
    "I want the 5 most popular genres": 5,
    "Limit to the top 22 combinations with the highest hero counts.": 22,
    "Which 5 publishers have the most heroes?": 5,
    "the 10 publishers with the most heroes": 10,
    "Find 3 heroes": 3,
    "Return at most 7 results": 7,
    "return no more than five powers": 5,
    "show a dozen heroes": 12,
    "List the last 4 orders": 4,
    "bottom 6 teams": 6,
    "In which five places are the most brands at home?": 5,
    "Which five languages have the status official in the most territories?": 5,
    "Which three places have the most airports?": 3,
    "Which five letters occur most often?": 5,
    "Which two months had the most orders?": 2,
    "Three places with the highest elevation": 3,
    "list the three quarters with the largest revenue": 3,
    "the top 3 words": 3,
    "Which two cities have the highest average, to three decimal places?": 2,
}
NO_LIMITS = [
    "players with at most 3 goals",
    "at least 10 heroes",
    "heroes with a maximum of 3 powers",
    "no more than five powers per hero",
    "who scored at most 3",
    "orders of the last 7 days",
    "in the first 3 months of 2014",
    "Find 2008 matches",
    "round to 2 decimal places",
    "the highest average to three decimal places",
    "Which two-letter codes are the most common?",
    "Which 2010 films have the most votes?",
    "the last 7 days with the highest sales",
    "What are the first three letters of the longest names?",
    "show the first two columns",
    "the first three letters of the name",
    "the top 10% of customers",
    "Return one row with the name and the total",
    "Return the two counts as yes and no",
    "the film named 'Top 10 Hits'",
    "heroes ordered from highest to lowest score",
    "the highest score for each publisher",
]


@pytest.mark.parametrize(("text", "number"), LIMITS.items())
def test_a_number_of_rows_is_read_as_a_limit(text: str, number: int) -> None:
    limit = limit_of(text)
    assert limit is not None
    assert (limit.number, limit.implied) == (number, False)


@pytest.mark.parametrize("text", NO_LIMITS)
def test_other_numbers_are_no_limit(text: str) -> None:
    assert limit_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Which hero has the most powers?",
        "Who is the tallest hero?",
        "What is the most popular genre?",
        "Find the oldest customer",
        "Show me the second highest score",
    ],
)
def test_a_singular_superlative_implies_one_row(text: str) -> None:
    limit = limit_of(text)
    assert limit is not None
    assert (limit.number, limit.implied) == (1, True)


@pytest.mark.parametrize(
    "text",
    ["List the most common combos", "Which heroes have the most powers?", "How many heroes are there?", "at least one"],
)
def test_a_plural_superlative_implies_nothing(text: str) -> None:
    assert limit_of(text) is None


def test_an_explicit_limit_goes_before_an_implied_one() -> None:
    limit = limit_of("Which hero has the most powers? Show the top 3.")
    assert limit is not None
    assert limit.number == 3


def test_a_limit_and_a_threshold_in_one_question_are_told_apart() -> None:
    text = "Retrieve the top 13 categories, including only those with at least 10 heroes."
    assert [x.number for x in limits_of(text)] == [13]
    assert [(t.number, t.operator) for t in thresholds_of(text)] == [(10, "$gte")]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("value is at least 40", [(40, "$gte")]),
        ("values of 40 or higher", [(40, "$gte")]),
        ("four or more distinct types", [(4, "$gte")]),
        ("4+ doors", [(4, "$gte")]),
        ("over 1,000 pounds", [(1000, "$gt")]),
        ("more than 2.5 million", [(2_500_000, "$gt")]),
        ("greater than or equal to 7", [(7, "$gte")]),
        ("not more than 7", [(7, "$lte")]),
        ("at most 3 goals", [(3, "$lte")]),
        ("fewer than twelve", [(12, "$lt")]),
        ("under 21", [(21, "$lt")]),
        ("born before 1990", [(1990, "$lt")]),
        ("since 2010", [(2010, "$gte")]),
        ("between 3 and 5 stars", [(3, "$gte"), (5, "$lte")]),
        ("from 2010 to 2014", [(2010, "$gte"), (2014, "$lte")]),
        ("ages 10-20", [(10, "$gte"), (20, "$lte")]),
        ("x >= 40 and y < 3", [(40, "$gte"), (3, "$lt")]),
        ("exactly 2 powers", [(2, "$eq")]),
        ("won more than once", [(1, "$gt")]),
        ("taller than 180 cm", [(180, "$gt")]),
        ("below -5 degrees", [(-5, "$lt")]),
        ("a score of 90", []),
        ("in 2014", []),
        ("2014-03-05 at 12:30", []),
    ],
)
def test_thresholds_are_read_with_their_operator(text: str, bounds: list[tuple[float, str]]) -> None:
    assert [(t.number, t.operator) for t in thresholds_of(text)] == bounds


def test_a_threshold_accepts_the_ways_a_program_may_state_it() -> None:
    (over,) = thresholds_of("more than 3 goals")
    (least,) = thresholds_of("at least 40")
    (percent,) = thresholds_of("at least 50% of them")
    assert 4 in over.accepts
    assert 39 in least.accepts
    assert 0.5 in percent.accepts


def test_codes_and_ordinals_are_no_numbers() -> None:
    assert numbers_of("A-12 planes, 3-D Man, 1st place, v2, the one that flies") == ()


def test_digits_to_round_to_are_told_apart() -> None:
    (number,) = numbers_of("rounded to 2 decimals")
    assert number.role is NumberRole.FORMAT


@pytest.mark.parametrize(
    ("words", "number"),
    [("twenty-five", 25), ("one hundred and fifty", 150), ("two thousand", 2000), ("a dozen", 12), ("twice", 2)],
)
def test_number_words_have_their_value(words: str, number: int) -> None:
    assert text_number(words) == number
