"""Import a published release: find its records and documents, and hold them against the published figures."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.datasets.checksums import Checked, Match, Published, check, digest_of
from groundql.bench.datasets.imports import Imported
from groundql.bench.datasets.records import read_golds
from groundql.bench.datasets.suites import find_sources, find_tasks
from groundql.errors import LoadError

_EXTRACT: Final[Mapping[str, str]] = {
    ".tar.zst": "tar -I zstd -xf {file} -C {to}",
    ".tzst": "tar -I zstd -xf {file} -C {to}",
    ".tar.gz": "tar -xzf {file} -C {to}",
    ".tgz": "tar -xzf {file} -C {to}",
    ".tar": "tar -xf {file} -C {to}",
    ".zip": "unzip {file} -d {to}",
}
"""How a package is extracted, by its ending."""
_DEEPEST: Final = 4
"""Folders that the package wraps around the release, at most."""
OnFile = Callable[[str, int, int], None]
"""Told a database's name, the bytes of its file read so far, and its size."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was published of a release. Shape: files by database, packages by file name."""

    name: str
    records_per_database: int
    databases: Mapping[str, Published]
    packages: Mapping[str, Published]
    records: Mapping[str, str]
    """The revision of a file of records by its SHA-256."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A release that a user brought, and how each of its files compares with what was published."""

    imported: Imported
    tasks: int
    checked: tuple[Checked, ...]

    @property
    def is_as_published(self) -> bool:
        """Whether nothing differs; what is missing or was not checked does not."""
        return all(each.match is not Match.DIFFERS for each in self.checked)


def published_figures() -> Figures:
    """Read the published figures of TEND that ship with the package; they name their source."""
    text = resources.files("groundql.bench.datasets").joinpath("published.json").read_text(encoding="utf-8")
    told = cast("Mapping[str, Any]", json.loads(text))
    return Figures(
        told["release"],
        told["records_per_database"],
        {name: Published(**figures) for name, figures in told["databases"].items()},
        {name: Published(**figures) for name, figures in told["packages"].items()},
        told["records"],
    )


def bring(
    path: Path,
    figures: Figures,
    *,
    data: Path | None = None,
    with_checksums: bool = True,
    on_file: OnFile | None = None,
) -> Brought:
    """Find a release at a path and compare it with published figures; `data` is where its documents are, if elsewhere.

    Raises: LoadError for a package that is not extracted yet, and for a folder or records of the wrong form.
    """
    refuse_package(path, figures)
    records = find_tasks(_unwrapped(path)).resolve()
    golds = read_golds(records)
    counts = Counter(gold.id.database for gold in golds)
    beside = () if data is None else (data.resolve(),)
    sources = find_sources(records, [*figures.databases, *counts], beside)
    files = [
        _checked(name, sources.get(name), figures, with_checksums, on_file, is_asked=name in counts)
        for name in dict.fromkeys([*figures.databases, *counts])
    ]
    return Brought(Imported(records, sources), len(golds), (_counted(records, counts, figures), *files))


def refuse_package(path: Path, figures: Figures) -> None:
    """Say of a package how to extract it, and whether it is the published one.

    Raises: LoadError for a package.
    """
    ending = next((e for e in _EXTRACT if path.name.lower().endswith(e)), "")
    if not ending or not path.is_file():
        return
    folder = path.with_name(path.name[: -len(ending)])
    told = "a package that is not extracted yet"
    if published := figures.packages.get(path.name):
        match check(path.name, path, published, unpack=False).match:
            case Match.MATCHES:
                told = "the published package, complete, but not extracted yet"
            case _:
                told = "not the published package of this name (download it again), and not extracted yet"
    file, to = shlex.quote(str(path)), shlex.quote(str(folder))
    command = _EXTRACT[ending].format(file=file, to=to)
    raise LoadError(f"{path}: {told}", hint=f"mkdir -p {to} && {command}, then import {to}")


def _unwrapped(path: Path) -> Path:
    """Find the folder with the records when a package wraps more folders around it.

    Raises: LoadError when several could be meant.
    """
    if not path.is_dir() or _holds_records(path):
        return path
    level = [path]
    for _ in range(_DEEPEST):
        level = [inner for folder in level for inner in sorted(folder.iterdir()) if inner.is_dir()]
        found = [folder for folder in level if _holds_records(folder)]
        if len(found) > 1:
            raise LoadError(f"{path}: records lie in {found[0]} and in {found[1]}", hint="give one of the two")
        if found:
            return found[0]
    return path


def _holds_records(folder: Path) -> bool:
    try:
        return find_tasks(folder).is_file()
    except LoadError:
        return False


def _counted(records: Path, counts: Mapping[str, int], figures: Figures) -> Checked:
    each = figures.records_per_database
    problems = {
        f"more than the {each:,} published": [name for name, n in counts.items() if n > each],
        "not among the published databases": [name for name in counts if name not in figures.databases],
        f"fewer than the {each:,} published": [f"{name} ({n})" for name, n in counts.items() if n < each],
        "no records": [name for name in figures.databases if name not in counts],
    }
    detail = "; ".join(f"{told}: {', '.join(found)}" for told, found in problems.items() if found)
    if detail:
        differs = any(list(problems.values())[:2])
        return Checked(records.name, Match.DIFFERS if differs else Match.PARTLY, records, detail)
    revision = figures.records.get(digest_of(records), "")
    detail = f"{sum(counts.values()):,} records" + (f", those of revision {revision}" if revision else "")
    return Checked(records.name, Match.MATCHES, records, detail)


def _checked(
    name: str, path: Path | None, figures: Figures, with_checksums: bool, on_file: OnFile | None, *, is_asked: bool
) -> Checked:
    if path is None:
        return Checked(name, Match.MISSING, detail="" if is_asked else "no record asks it")
    if not with_checksums:
        return Checked(name, Match.UNCHECKED, path)
    if not on_file:
        return check(name, path, figures.databases.get(name))
    size_bytes = path.stat().st_size
    return check(name, path, figures.databases.get(name), lambda read: on_file(name, read, size_bytes))
