from __future__ import annotations

from typing import Any

import pytest

from groundql.core.catalog import Witness
from groundql.core.path import Path
from groundql.core.program import Claims, MqlProgram
from groundql.languages.read import claims_of
from groundql.solvers.explain import is_used
from unit.grounding.small_world import shop

CATALOG = shop().catalog


def used(witness: Witness, *stages: dict[str, Any], container: str = "orders") -> bool:
    return is_used(witness, claims_of(MqlProgram(container, stages), CATALOG))


def value(path: str, stored: object, container: str = "orders") -> Witness:
    return Witness(str(stored), container, Path.parse(path), stored)


def key(path: str, stored: str) -> Witness:
    return Witness(stored, "orders", Path.parse(path), stored, is_key=True)


def test_a_value_is_used_where_the_program_reads_the_place_it_was_found_at() -> None:
    stage = {"$match": {"city": "Berlin"}}
    assert used(value("city", "Berlin"), stage)
    assert not used(value("sku", "Berlin"), stage)
    assert not used(value("name", "Berlin", "customers"), stage)
    assert not used(value("city", "Bern"), stage)


def test_a_number_is_used_only_at_its_place_too() -> None:
    stage = {"$match": {"season": 2001}}
    assert used(value("season", 2001), stage)
    assert not used(value("total", 2001), stage)


def test_a_value_that_is_compared_after_a_group_is_used_at_the_grouped_path() -> None:
    stages = {"$group": {"_id": "$status", "n": {"$sum": 1}}}, {"$match": {"_id": "open"}}
    assert used(value("status", "open"), *stages)
    assert not used(value("sku", "open"), *stages)


@pytest.mark.parametrize(
    "stages",
    [
        ({"$match": {"by_year.2012.paid": {"$gt": 1}}},),
        ({"$project": {"e": {"$objectToArray": "$by_year"}}}, {"$unwind": "$e"}, {"$match": {"e.k": "2012"}}),
    ],
)
def test_a_key_is_used_where_its_map_is_read_by_it(stages: tuple[dict[str, Any], ...]) -> None:
    assert used(key("by_year", "2012"), *stages)
    assert not used(key("by_year", "2013"), *stages)
    assert not used(value("day", "2012"), *stages)


def test_another_spelling_of_a_compared_value_is_not_used() -> None:
    claims = Claims(texts=("open",))
    place = Path.of("status")
    assert is_used(Witness("open", "orders", place, "open"), claims)
    assert not is_used(Witness("open", "orders", place, "Open "), claims)
