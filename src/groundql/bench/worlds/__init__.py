"""Give the sample worlds that ship with the package: real published data as document databases."""

from __future__ import annotations

from groundql.bench.worlds.world import World, WorldTask

_WORLDS = (
    World(
        name="emoji",
        title="Emojis, their names in twelve languages and their shortcodes",
        licence="MIT AND Unicode-3.0",
    ),
    World(
        name="atlas",
        title="Territories, currencies, languages, cities and airports",
        licence="Unicode-3.0 AND CC-BY-4.0 AND MIT",
    ),
    World(
        name="brands",
        title="Names of shops, operators, transit networks and flags",
        licence="BSD-3-Clause AND CC0-1.0",
    ),
    World(name="mapping", title="Presets, form fields and retired tags of a map editor", licence="ISC"),
    World(name="releases", title="Releases of Electron, their notes, builds and components", licence="MIT"),
    World(name="webcompat", title="Web platform features and the browsers with them", licence="CC0-1.0"),
)


def list_worlds() -> tuple[World, ...]:
    """Give all sample worlds, smallest first."""
    return _WORLDS


def open_world(name: str) -> World:
    """Give the sample world of a name.

    Raises: KeyError with the known names when there is none
    """
    for world in _WORLDS:
        if world.name == name:
            return world
    known = ", ".join(world.name for world in _WORLDS)
    raise KeyError(f"no sample world is named {name!r}; there are: {known}")


__all__ = ["World", "WorldTask", "list_worlds", "open_world"]
