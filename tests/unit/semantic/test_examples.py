from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from groundql.core.catalog import Catalog
from groundql.semantic.examples import make_examples, plural_of
from groundql.semantic.query import parse_query
from groundql.semantic.to_mql import compile_query
from tiny_catalog import catalog_of, container_of

HEROES: list[dict[str, Any]] = [
    {
        "_id": n,
        "profile": {"hero_name": {"value": f"Hero {n}"}},
        "alignment": ("good", "bad", "neutral")[n % 3],
        "heightCm": 150 + n * 7 % 41,
        "powers": ["flight", "agility", "strength"][: n % 4],
        "scores_by_year": {str(2000 + y): {"mean": y} for y in range(n % 3)},
        "is_active": n % 2 == 0,
        "born": dt.datetime(1990 + n % 10, 5, 1),
        **({"nick_name": f"nick {n % 5}"} if n % 3 else {}),
    }
    for n in range(40)
]
CATALOG = catalog_of(container_of("hero_dossiers", HEROES, ["scores_by_year"]))


def test_examples_are_of_many_sorts_and_all_compile():
    examples = make_examples(CATALOG, count=14)
    parts = {name for e in examples for name in e.query}
    assert {"filters", "group_by", "metrics", "select", "order_by", "limit", "distinct"} <= parts
    ops = {f["op"] for e in examples for f in e.query.get("filters", ())}
    assert {"eq", "missing", "exists", "gt"} <= ops
    for example in examples:
        assert compile_query(parse_query(example.query, CATALOG), CATALOG) == example.program


def test_examples_speak_in_words_and_name_stored_values():
    questions = [e.question for e in make_examples(CATALOG, count=14)]
    assert "How many hero dossiers have the alignment good?" in questions
    assert any("height cm" in q for q in questions)
    assert not any("_" in q or "[]" in q or "<" in q for q in questions)


def test_the_same_data_makes_the_same_examples():
    assert make_examples(CATALOG, count=9) == make_examples(CATALOG, count=9)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_no_more_examples_come_than_were_asked_for(count: int):
    assert len(make_examples(CATALOG, count=count)) == count


def test_a_question_is_never_among_its_examples():
    for example in make_examples(CATALOG, count=14):
        for said in (example.question, example.question.upper().replace("?", "")):
            for others in (make_examples(CATALOG, count=14, never=said), make_examples(CATALOG, question=said)):
                assert example.question not in [o.question for o in others]


def test_a_question_brings_its_own_container_first():
    other = container_of("publishers", [{"_id": n, "country": "US" if n % 2 else "UK"} for n in range(10)])
    catalog = Catalog("x", (*CATALOG.containers, other))
    first = make_examples(catalog, count=1, question="Which country has the most publishers?")
    assert first[0].query["container"] == "publishers"


def test_data_with_nothing_to_ask_makes_no_examples():
    assert make_examples(catalog_of(container_of("empty", []))) == ()


def test_values_that_read_like_instructions_or_code_are_not_said():
    documents = [{"_id": n, "kind": ("`rm`", "{$where: 1}", 'say "x"')[n % 3], "size": n} for n in range(30)]
    for example in make_examples(catalog_of(container_of("things", documents)), count=14):
        assert not set("`{}\"'") & set(example.question)


@pytest.mark.parametrize(
    ("one", "many"),
    [("city", "cities"), ("key", "keys"), ("box", "boxes"), ("heroes", "heroes"), ("time zone", "time zones")],
)
def test_nouns_are_put_in_the_plural(one: str, many: str):
    assert plural_of(one) == many
