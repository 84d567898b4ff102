from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog
from groundql.grounding.card import write_card
from groundql.grounding.codec import StoredGrounding, from_data, to_data
from groundql.grounding.describe import field_text
from groundql.grounding.index import ValueIndex
from unit.grounding.small_world import profile_of

NAMES = st.one_of(st.sampled_from(["name", "hero_id", "a.b", "$odd", "x y", "2014", "A-12", ""]), st.text(max_size=8))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 2**40), st.floats(), st.text(max_size=30))
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
DOCUMENTS = st.lists(st.dictionaries(NAMES, VALUES, max_size=6), max_size=8)
WORLDS = st.dictionaries(st.text(max_size=10), DOCUMENTS, max_size=4)


def catalog_of(world: dict[str, list[dict[str, Any]]]) -> tuple[Catalog, ValueIndex, StoredGrounding]:
    profiles = [profile_of(name, documents) for name, documents in sorted(world.items())]
    catalog = Catalog("db", tuple(p.container for p in profiles), "f" * 32)
    values = tuple(v for p in profiles for v in p.values)
    return catalog, ValueIndex.build(values), StoredGrounding(catalog, values)


@settings(max_examples=30, deadline=None)
@given(WORLDS, st.text(max_size=60), st.integers(250, 3000))
def test_any_card_keeps_to_its_budget_and_to_one_line_a_line(
    world: dict[str, list[dict[str, Any]]], question: str, budget: int
) -> None:
    catalog, _, _ = catalog_of(world)
    grounding = Grounding(Question(question), catalog)
    card = write_card(grounding, budget)
    assert card.tokens <= budget
    assert all(line.isprintable() for line in card.text.split("\n"))
    again, _, _ = catalog_of(world)
    assert write_card(Grounding(Question(question), again), budget) == card


@settings(max_examples=30, deadline=None)
@given(WORLDS)
def test_any_grounding_reads_back_as_it_was(world: dict[str, list[dict[str, Any]]]) -> None:
    _, index, stored = catalog_of(world)
    assert repr(from_data(to_data(stored))) == repr(stored)
    assert repr(ValueIndex.from_data(index.to_data())) == repr(index)


@settings(max_examples=20, deadline=None)
@given(WORLDS)
def test_any_path_can_be_described(world: dict[str, list[dict[str, Any]]]) -> None:
    catalog, _, _ = catalog_of(world)
    for container, field in catalog.fields():
        assert all(line.isprintable() for line in field_text(container, field.path).split("\n"))


@settings(max_examples=30, deadline=None)
@given(WORLDS)
def test_every_indexed_text_is_found_under_its_own_form(world: dict[str, list[dict[str, Any]]]) -> None:
    _, index, _ = catalog_of(world)
    for _, value, _ in index.entries:
        if isinstance(value, str) and value.strip(" _-\t\n\r") and value.isascii() and value.isprintable():
            assert value in [location.stored for location in index.find(value)]
