"""Which places of the shipped worlds are maps: real published data that no threshold was fitted to by name."""

from __future__ import annotations

from functools import cache

import anyio
import pytest

from groundql.bench.worlds import list_worlds, open_world
from groundql.core.catalog import Container
from groundql.databases.memory import MemoryDatabase
from groundql.grounding.sample import profile_database

MAPS = {
    ("emoji", "emojis"): {"names", "shortcodes", "skins[].shortcodes"},
    ("emoji", "emoji_groups"): {"subgroups"},
    ("emoji", "releases"): set[str](),
    ("atlas", "currencies"): set[str](),
    ("atlas", "places"): set[str](),
    ("atlas", "regions"): set[str](),
    ("atlas", "languages"): {"day_periods"},
    ("atlas", "territories"): {"languages", "time_zones"},
    ("atlas", "unit_preferences"): {"units_by_usage", "units_by_usage.<*>"},
    ("brands", "categories"): {"tag", "uses_by_tag"},
    ("brands", "entries"): {"tags"},
    ("brands", "organisations"): {"identities"},
    ("mapping", "fields"): {"icons", "texts", "texts.<*>.options", "texts.<*>.placeholders", "texts.<*>.types"},
    ("mapping", "menus"): {"names"},
    ("mapping", "presets"): {"addTags", "names", "removeTags", "tags"},
    ("mapping", "releases"): set[str](),
    ("mapping", "retired_tags"): {"old", "replace"},
    ("releases", "components"): {"changes_by_line"},
    ("releases", "publishers"): {"versions_by_year", "versions_by_year.<*>"},
    ("releases", "pull_requests"): {"backports"},
    ("releases", "release_lines"): {"events[].deps", "npm_tags"},
    ("releases", "releases"): {"builds", "files", "notes[].items[].also_in", "notes[].items[].details[].also_in"},
    ("webcompat", "browsers"): {"releases"},
    ("webcompat", "feature_groups"): {"features_by_area", "versions_by_browser", "versions_by_browser.<*>"},
    ("webcompat", "features"): {"support"},
    ("webcompat", "release_calendar"): {"releases_by_month", "releases_by_month.<*>"},
}


@cache
def containers(world: str) -> dict[str, Container]:
    async def profiled() -> dict[str, Container]:
        _, found = await profile_database(MemoryDatabase(open_world(world).documents()))
        return {profile.container.name: profile.container for profile in found}

    return anyio.run(profiled)


@pytest.mark.parametrize(("world", "name"), MAPS)
def test_maps_collapse_and_records_do_not(world: str, name: str) -> None:
    found = containers(world)[name]

    assert {str(f.path) for f in found.fields if f.is_map} == MAPS[world, name]


def test_every_world_is_covered() -> None:
    assert {world.name for world in list_worlds()} == {world for world, _ in MAPS}


@pytest.mark.parametrize(
    ("world", "name", "path", "value"),
    [
        ("atlas", "places", "kind", "airport"),
        ("atlas", "places", "kind", "city"),
        ("mapping", "retired_tags", "kind", "discarded"),
        ("webcompat", "features", "area", "webextensions"),
    ],
)
def test_the_discriminators_are_found(world: str, name: str, path: str, value: str) -> None:
    assert (path, value) in {(str(v.path), v.value) for v in containers(world)[name].variants if not v.base.steps}
