from __future__ import annotations

from typing import Any

from bson import ObjectId

from groundql.grounding.edges import find_edges
from unit.grounding.small_world import profile_of, shop


def edges_of(**containers: list[dict[str, Any]]) -> set[str]:
    profiles = [profile_of(name, documents) for name, documents in containers.items()]
    found = find_edges([p.container for p in profiles], [v for p in profiles for v in p.values])
    return {f"{e.container} {e.path} -> {e.to_container} {e.to_path}" for e in found}


def test_ids_as_text_that_are_all_found_are_a_reference() -> None:
    (edge,) = shop().catalog.edges
    assert (edge.container, str(edge.path), edge.to_container, str(edge.to_path)) == (
        "orders", "customer_id", "customers", "_id",
    )  # fmt: skip
    assert (edge.hit_share, edge.fan_out) == (1.0, 1.0)


def test_whole_numbers_need_a_name_that_points() -> None:
    heroes = [{"_id": i, "age": 20 + i % 5, "rank": i % 9} for i in range(40)]
    fights = [{"_id": f"fight number {i}", "hero_id": i % 7, "hero_count": i % 5, "year": i % 11} for i in range(30)]
    assert edges_of(heroes=heroes, fights=fights) == {"fights hero_id -> heroes _id"}


def test_references_in_arrays_are_found() -> None:
    teams = [{"_id": i, "members": [{"player_id": (i + j) % 20} for j in range(3)]} for i in range(9)]
    players = [{"_id": i, "name": f"name of {i}"} for i in range(20)]
    assert edges_of(teams=teams, players=players) == {"teams members[].player_id -> players _id"}


def test_object_ids_are_references_whatever_their_name() -> None:
    ids = [ObjectId(f"{i:024x}") for i in range(9)]
    found = edges_of(a=[{"_id": i} for i in ids], b=[{"_id": n, "made_by": i} for n, i in enumerate(ids)])
    assert found == {"b made_by -> a _id"}


def test_a_copy_of_a_documents_own_id_is_no_reference() -> None:
    heroes = [{"_id": f"hero:{i}", "hero_id": i, "log": [{"hero_id": i}]} for i in range(20)]
    assert edges_of(heroes=heroes) == set()


def test_texts_that_are_hardly_found_are_no_reference() -> None:
    left = [{"_id": i, "label": f"some label {i}"} for i in range(40)]
    right = [{"_id": f"x{i}", "title": f"some label {i + 30}"} for i in range(40)]
    assert edges_of(left=left, right=right) == set()


def test_a_field_that_repeats_is_no_target() -> None:
    left = [{"_id": i, "city_name": f"city number {i % 5}"} for i in range(40)]
    right = [{"_id": f"x{i}", "city_name": f"city number {i % 5}"} for i in range(40)]
    assert edges_of(left=left, right=right) == set()
