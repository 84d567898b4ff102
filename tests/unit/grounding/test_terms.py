from __future__ import annotations

import datetime as dt

import pytest

from groundql.core.answer import Question
from groundql.grounding.terms import Term, TermKind, read_terms


def named(text: str, **more: str) -> list[Term]:
    return list(read_terms(Question(text, today=dt.date(2024, 5, 1), **more)).named)  # type: ignore[arg-type]


def said(text: str) -> list[tuple[str, str]]:
    return [(t.text, t.kind.value) for t in named(text)]


@pytest.mark.parametrize("quoted", ["'Bob Day'", '"Bob Day"', "“Bob Day”", "‘Bob Day’", "`Bob Day`", "«Bob Day»"])
def test_quotes_of_every_kind_are_read(quoted: str) -> None:
    assert said(f"orders of {quoted}") == [("Bob Day", "quoted")]


def test_an_apostrophe_opens_no_quote() -> None:
    assert said("the hero's powers and the villains' lairs") == []


@pytest.mark.parametrize("code", ["A-12", "OP::SYM", "2008/2009", "user:42", "POPLATEK MESICNE", "USA", "AB12CD"])
def test_codes_are_read(code: str) -> None:
    assert said(f"payments with {code} in them") == [(code, "code")]


def test_generic_capitals_are_no_codes() -> None:
    assert said("give the ID and URL as JSON, NULL first") == []


def test_a_shouted_question_has_no_codes() -> None:
    assert all(kind != "code" for _, kind in said("SHOW ME ALL THE HEROES OF MARVEL"))


def test_a_name_keeps_its_capitals_and_numbers() -> None:
    assert said("Find 3-D Man, Kevin 11 and DC Comics heroes") == [
        ("3-D Man", "title"),
        ("Kevin 11", "title"),
        ("DC Comics", "title"),
    ]


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert said("Heroes are many. Publishers are few.") == []
    assert said("List Marvel Comics heroes") == [("Marvel Comics", "title")]


def test_a_possessive_is_looked_up_without_its_ending_too() -> None:
    (term,) = named("the rating of Ann Lee's order")
    assert term.forms == ("Ann Lee",)


def test_a_date_brings_its_written_forms() -> None:
    (term,) = named("orders in March 2014")
    assert term.kind is TermKind.DATE
    assert "2014-03" in term.forms


def test_a_relative_date_is_resolved_but_no_term() -> None:
    terms = read_terms(Question("orders of last month", today=dt.date(2024, 5, 1)))
    assert terms.named == ()
    assert "2024-04-01 to 2024-04-30" in terms.relative_dates["last month"]


@pytest.mark.parametrize(
    ("text", "negated"),
    [("not 'open'", True), ("other than 'open'", True), ("excluding the 'open' ones", True), ("with 'open'", False)],
)
def test_negations_are_noted(text: str, negated: bool) -> None:
    (term,) = named(text)
    assert term.negated is negated


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("show the count as 'total'", True),
        ("a column called 'total'", True),
        ("name it 'total'", True),
        ("columns 'a', 'b' and 'total'", True),
        ("recorded as 'total'", False),
        ("heroes named 'total'", False),
        ("whose status is 'total'", False),
    ],
)
def test_quoted_output_names_are_told_from_values(text: str, label: bool) -> None:
    term = next(t for t in named(text) if t.text == "total")
    assert term.label is label


def test_bare_years_are_read() -> None:
    (term,) = named("matches in season 1987")
    assert (term.kind, term.text) == (TermKind.NUMBER, "1987")
    assert "season" in term.near


def test_a_limit_is_no_term() -> None:
    assert named("show the top 10 matches") == []


def test_runs_are_plain_words_longest_first_and_never_cross_a_comma() -> None:
    runs = [t.text for t in read_terms(Question("new york orders, on hold")).runs]
    assert runs[0] == "new york orders"
    assert "new york" in runs
    assert "orders on" not in runs
    assert not any("," in run for run in runs)


def test_hints_are_read_but_have_no_place_in_the_question() -> None:
    (term,) = named("heroes of marvel", hints="marvel refers to publisher = 'Marvel Comics'")
    assert (term.text, term.start) == ("Marvel Comics", -1)


def test_a_very_long_question_is_read_in_bounded_time() -> None:
    terms = read_terms(Question("open order from New York " * 20_000))
    assert len(terms.runs) <= 600


@pytest.mark.parametrize("piece", ["1 ", "5 or ", "2014-", "as 'x', ", "1,000 ", "not x, ", "Aa ", "the most ", "'"])
def test_endless_repetition_is_read_in_bounded_steps(piece: str) -> None:
    terms = read_terms(Question(piece * 4000, today=dt.date(2024, 5, 1)))
    assert len(terms.numbers) <= 150
