from __future__ import annotations

import datetime as dt
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groundql.core.answer import Question
from groundql.grounding.dates import dates_of
from groundql.grounding.fence import clean, fence_name, fence_text
from groundql.grounding.numerals import NumberRole, limit_of, limits_of, numbers_of, thresholds_of
from groundql.grounding.terms import read_terms
from groundql.grounding.tokens import count_tokens
from groundql.grounding.words import fold, is_plural, split_words, stem

DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1))
NUMBERS = st.integers(2, 999)
PIECES = """top first last at least most more than up to 10 ten five 2014 2014-03 of the heroes 'Bob' "A-12" in Q2 month
    between and limit 3.5 1,000 % + not ago days highest which has rows USA New York ."""
WORDS = st.sampled_from(PIECES.split())
SALAD = st.lists(WORDS, max_size=25).map(" ".join)


@given(st.one_of(st.text(max_size=300), SALAD))
def test_any_text_is_read_without_an_error(text: str) -> None:
    terms = read_terms(Question(text, hints=text[:50], today=dt.date(2024, 3, 31)))
    for term in terms.named:
        assert term.start == -1 or text[term.start : term.end].strip()
    limit_of(text)


@given(SALAD)
def test_a_number_has_one_role_and_roles_are_what_the_pure_functions_say(text: str) -> None:
    numbers = numbers_of(text)
    assert list(thresholds_of(text)) == [n for n in numbers if n.role is NumberRole.THRESHOLD]
    assert [x.number for x in limits_of(text)] == [n.number for n in numbers if n.role is NumberRole.LIMIT]
    assert all(bool(n.operator) == (n.role is NumberRole.THRESHOLD) for n in numbers)
    assert all(a.end <= b.start for a, b in pairwise(numbers))


@given(NUMBERS, st.sampled_from(["top {}", "the first {} heroes", "limit to {}", "the {} largest", "return {} rows"]))
def test_limits_are_read_with_their_number(number: int, form: str) -> None:
    limit = limit_of(f"heroes by power, {form.format(number)}")
    assert limit is not None
    assert limit.number == number


@given(NUMBERS, st.sampled_from(["at least {}", "over {}", "fewer than {}", "at most {}", "{} or more", "exactly {}"]))
def test_thresholds_are_never_limits(number: int, form: str) -> None:
    text = f"heroes with {form.format(number)} goals"
    assert limit_of(text) is None
    assert [t.number for t in thresholds_of(text)] == [number]
    assert number in thresholds_of(text)[0].accepts


@given(SALAD, DAYS)
def test_dates_are_ordered_disjoint_and_never_empty(text: str, today: dt.date) -> None:
    found = dates_of(text, today)
    assert all(ask.start < ask.end for ask in found)
    assert all(a.at[1] <= b.at[0] for a, b in pairwise(found))


@given(
    DAYS, st.sampled_from(["last month", "this quarter", "next week", "past 90 days", "last 3 years", "a month ago"])
)
def test_relative_dates_are_resolved_on_every_day(today: dt.date, text: str) -> None:
    (ask,) = dates_of(text, today)
    assert ask.relative
    assert abs((ask.start - today).days) < 1200


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="abcdefghijklmnopqrtuvwxyz", min_size=3, max_size=12))
def test_a_word_and_its_plain_plural_have_one_stem(word: str) -> None:
    if not word.endswith(("y", "s", "x", "z", "ch", "sh", "u", "i")):
        assert is_plural(f"{word}s")
        assert stem(f"{word}s") == stem(word)


@given(st.text())
def test_names_are_split_into_lower_case_words(text: str) -> None:
    assert all(word == word.casefold() or not word.isascii() for word in split_words(text))


@given(st.text(max_size=2000), st.integers(2, 200))
def test_fenced_text_is_one_bounded_printable_line(text: str, width: int) -> None:
    assert len(clean(text, width)) <= width
    for shown in (fence_text(text, width), fence_name(text, width)):
        assert shown.isprintable()
        assert "`" not in shown


@given(st.text(max_size=400), st.text(max_size=400))
def test_tokens_are_counted_line_by_line(one: str, other: str) -> None:
    parts = count_tokens(one) + count_tokens("\n") + count_tokens(other)
    assert parts - 3 <= count_tokens(f"{one}\n{other}") <= parts
    assert count_tokens("") == 0
