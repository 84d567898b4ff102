"""The sample worlds by name: `sample:NAME` wherever a database is named."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from groundql.bench.worlds import list_worlds
from groundql.errors import InputError

SAMPLE = "sample:"


def resolve_db(text: str) -> str:
    """Turn `sample:NAME` into the path of that sample world's documents; leave everything else as it is.

    Raises: InputError naming the sample worlds.
    """
    if not text.startswith(SAMPLE):
        return text
    name = text.removeprefix(SAMPLE)
    if name not in {w.name for w in list_worlds()}:
        known = ", ".join(w.name for w in list_worlds())
        raise InputError(f"there is no sample world {name!r}", hint=f"choose one of: {known}")
    place = resources.files("groundql.bench.worlds").joinpath("data", name, f"{name}.json.gz")
    return str(Path(str(place)))
