from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from groundql.core.catalog import Container, ContainerInfo
from groundql.core.path import Path
from groundql.grounding.profile import Profiler


def container(documents: Iterable[Mapping[str, Any]]) -> Container:
    profiler = Profiler(ContainerInfo("things"))
    for document in documents:
        profiler.add(document)
    return profiler.finish().container


def texts(paths: Iterable[Path]) -> set[str]:
    return {str(path) for path in paths}


def test_a_field_that_says_which_fields_there_are_is_found() -> None:
    documents = [{"_id": i, "kind": "driver", "number": i, "code": "x"} for i in range(60)]
    documents += [{"_id": 100 + i, "kind": "team", "base": "y", "chief": "z"} for i in range(40)]
    driver, team = container(documents).variants

    assert (driver.value, driver.share, str(driver.path), str(driver.base)) == ("driver", 0.6, "kind", "")
    assert texts(driver.only) == texts(team.absent) == {"number", "code"}
    assert texts(driver.absent) == texts(team.only) == {"base", "chief"}


def test_a_nested_discriminator_and_nested_fields_are_found() -> None:
    documents = [
        {"_id": i, "meta": {"kind": "ab"[i % 2], "n": i}, "body": {"x": 1} if i % 2 else {"y": 1, "z": 2}}
        for i in range(50)
    ]
    first, second = container(documents).variants

    assert str(first.path) == "meta.kind"
    assert {str(first.value), str(second.value)} == {"a", "b"}
    assert texts(first.only) | texts(second.only) == {"body.x", "body.y", "body.z"}


def test_variants_of_the_items_of_an_array_are_found() -> None:
    events = [{"type": "goal", "player": "x", "minute": 3}, {"type": "card", "colour": "red", "minute": 9}]
    found = container([{"_id": i, "events": events} for i in range(20)]).variants

    assert {(str(v.base), str(v.path), v.value) for v in found} == {
        ("events[]", "type", "goal"),
        ("events[]", "type", "card"),
    }
    assert texts(found[0].only) | texts(found[1].only) == {"events[].player", "events[].colour"}


def test_late_variants_of_items_are_found_after_thousands_of_others() -> None:
    documents: list[dict[str, Any]] = [
        {"_id": i, "log": [{"op": "read", "at": n} for n in range(50)]} for i in range(100)
    ]
    documents += [{"_id": 1000 + i, "log": [{"op": "write", "at": 1, "bytes": 5, "by": "x"}]} for i in range(30)]
    found = container(documents).variants

    assert {v.value for v in found if "log[].bytes" in texts(v.only)} == {"write"}


def test_numbers_and_truth_values_can_discriminate() -> None:
    documents = [{"_id": i, "level": i % 3, **({"extra": 1} if i % 3 == 2 else {})} for i in range(60)]
    members = [{"_id": i, "is_member": i % 2 == 0, **({"since": 1} if i % 2 == 0 else {})} for i in range(60)]

    assert {v.value for v in container(documents).variants if v.only} == {2}
    assert {v.value for v in container(members).variants if v.only} == {True}


def test_optional_fields_within_a_variant_do_not_hide_it() -> None:
    pool = random.Random(4)
    documents = [
        {"_id": i, "kind": kind, f"{kind}_id": i, **({f"{kind}_note": "x"} if pool.random() < 0.3 else {})}
        for i, kind in enumerate(["a", "b", "c"] * 50)
    ]
    found = {str(v.value): texts(v.only) for v in container(documents).variants}

    assert found == {k: {f"{k}_id", f"{k}_note"} for k in "abc"}


@pytest.mark.parametrize("seed", range(20))
def test_random_optional_fields_are_no_variants(seed: int) -> None:
    pool = random.Random(seed)
    share = {name: pool.uniform(0.05, 0.95) for name in "uvwxyz"}
    documents = [
        {
            "_id": i,
            "status": pool.choice(["new", "open", "done"]),
            "flag": pool.random() < 0.5,
            "level": pool.randint(1, 20),
        }
        | {name: i for name, p in share.items() if pool.random() < p}
        for i in range(pool.choice([8, 15, 40, 200]))
    ]

    assert container(documents).variants == ()


def test_a_name_that_differs_in_each_document_explains_nothing() -> None:
    documents = [{"_id": i, "name": f"n{i}", **({"extra": 1} if i % 2 else {})} for i in range(20)]

    assert container(documents).variants == ()


def test_shapes_that_exclude_one_another_are_variants_without_a_field_that_says_so() -> None:
    documents: list[dict[str, Any]] = [{"_id": i, "wheels": 4, "doors": 5} for i in range(30)]
    documents += [{"_id": 100 + i, "wings": 2, "engines": 4} for i in range(10)]
    cars, planes = container(documents).variants

    assert (cars.path, cars.value, cars.share) == (Path(), None, 0.75)
    assert texts(cars.only) == texts(planes.absent) == {"wheels", "doors"}
    assert texts(planes.only) == texts(cars.absent) == {"wings", "engines"}


def test_keys_of_a_map_are_no_fields_that_tell_variants_apart() -> None:
    documents = [{"_id": i, "kind": "ab"[i % 2], "m_by_year": {str(2000 + i % 2): 1}} for i in range(60)]

    assert container(documents).variants == ()


def test_many_random_shapes_stay_bounded_and_the_discriminator_is_still_found() -> None:
    pool = random.Random(9)
    documents = [
        {"_id": i, "kind": "ab"[i % 2], "ab"[i % 2] + "_only": 1}
        | {f"o{n}": n for n in range(14) if pool.random() < 0.5}
        for i in range(4000)
    ]
    found = {str(v.value): texts(v.only) for v in container(documents).variants}

    assert found == {"a": {"a_only"}, "b": {"b_only"}}


def test_values_that_change_kind_do_not_break_the_search() -> None:
    values: list[Any] = ["x", 1, None, [1], {"a": 1}, 2.5, True]
    documents = [{"_id": i, "kind": values[i % 7], **({"extra": 1} if i % 2 else {})} for i in range(70)]

    assert container(documents).variants == ()
