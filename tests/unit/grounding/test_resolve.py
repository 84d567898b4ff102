from __future__ import annotations

from typing import Any

import pytest

from groundql.core.catalog import Container, ContainerInfo, Sampling, StopReason
from groundql.core.path import Path
from groundql.errors import InputError
from groundql.grounding.describe import find_path
from groundql.grounding.resolve import resolve
from unit.grounding.small_world import profile_of


def things(keys: int = 6) -> Container:
    entry = {"units": 1, "price": 1.5, "note": "x"}
    document: dict[str, Any] = {
        "a": [{"b": 1, "c": [{"d": "x"}]}],
        "grid": [[{"x": 1}]],
        "by_month": {f"2014-{n}": entry for n in range(keys)},
        "by_version": {f"{n}.0": [entry] for n in range(1, 6)},
        "e.f": {"g": 1},
        "one": {"kind": {"id": 1}},
        "list": [{"kind": {"id": 1}}],
    }
    return profile_of("things", [document] * 3).container


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("a[].b", "a[].b"),
        ("a.b", "a[].b"),
        ("a.0.b", "a[].b"),
        ("a.c.d", "a[].c[].d"),
        ("a[].c.d", "a[].c[].d"),
        ("grid.x", "grid[][].x"),
        ("by_month.2014-2", "by_month.<*>"),
        ("by_month.2014-2.units", "by_month.<*>.units"),
        ("by_version.3.0.units", "by_version.<*>[].units"),
        ('by_version["3.0"]', "by_version.<*>"),
        ("e.f.g", '["e.f"].g'),
    ],
)
def test_a_path_written_as_a_query_names_it_leads_to_the_stored_one(written: str, stored: str) -> None:
    assert [str(r.path) for r in resolve(things(), Path.parse(written))] == [stored]


@pytest.mark.parametrize("written", ["a.x", "by_month.2013-1", "by_month.2014-2.unit", "nope", "one.list", "a.<*>"])
def test_what_is_stored_nowhere_leads_nowhere(written: str) -> None:
    assert resolve(things(), Path.parse(written)) == ()


def test_any_name_may_be_a_key_where_not_all_keys_are_known() -> None:
    (found,) = resolve(things(keys=400), Path.parse("by_month.2013-1.units"))
    assert (str(found.path), found.keys) == ("by_month.<*>.units", ("2013-1",))


def test_a_field_that_may_be_in_an_array_or_not_can_be_two_paths() -> None:
    container = profile_of("things", [{"a": {"b": 1}}, {"a": [{"b": 1}]}, {"a": [[{"b": 1}]]}]).container
    assert [str(r.path) for r in resolve(container, Path.parse("a.b"))] == ["a.b"]
    assert [str(r.path) for r in resolve(container, Path.parse("a.0.b"))] == ["a[].b", "a[][].b"]
    with pytest.raises(InputError, match="can be 2 paths of things") as caught:
        find_path(container, "a.0.b")
    assert caught.value.hint == "did you mean: a[].b, a[][].b"


def test_it_is_said_where_a_path_is_stored_and_which_part_of_it_is_a_key() -> None:
    assert find_path(things(), "a[].b") == (Path.parse("a[].b"), "")
    assert find_path(things(), "a.b") == (Path.parse("a[].b"), "a.b is stored as a[].b")
    assert find_path(things(), "by_month.2014-2.units")[1] == (
        "by_month.2014-2.units is stored as by_month.<*>.units; 2014-2 is a key of by_month"
    )
    assert "2013-1 is taken for a key of by_month" in find_path(things(keys=400), "by_month.2013-1")[1]


def test_of_a_container_that_could_not_be_read_it_is_said_that_nothing_is_known() -> None:
    unread = Container(ContainerInfo("things"), (), Sampling(0, StopReason.FAILED), error="not authorised")
    with pytest.raises(InputError, match="the paths of things are not known: not authorised"):
        find_path(unread, "a")


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("by_month.2014-2.unit", "by_month.<*>.units"),
        ("a.0.c.e", "a[].c"),
        ("by_version.1.0.nots", "by_version.<*>[].note"),
    ],
)
def test_the_nearest_path_lies_below_the_part_that_is_right(written: str, nearest: str) -> None:
    with pytest.raises(InputError) as caught:
        find_path(things(), written)
    assert caught.value.hint.removeprefix("did you mean: ").split(", ")[0] == nearest


def test_a_path_that_is_nowhere_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(InputError, match="no path 'by_mnth'") as caught:
        find_path(things(), "by_mnth")
    assert "by_month" in caught.value.hint
