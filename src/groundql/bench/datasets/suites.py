"""Open a suite by name: `worlds`, `worlds:NAME`, `folder:PATH` or a path, `tend` or `tend:PATH`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from groundql.bench.case import Gold, Suite
from groundql.bench.datasets.imports import default_imports, recall
from groundql.bench.datasets.records import Phrasing, fingerprint_of_records, read_golds, to_case
from groundql.bench.worlds import list_worlds
from groundql.errors import InputError, LoadError

KINDS: Final = ("worlds", "worlds:NAME", "folder:PATH", "tend", "tend:PATH")
_TASK_FILES: Final = ("tasks.jsonl", "TEND.json", "TEND_lean.json", "TEND_lean.jsonl", "test.json", "TEND.jsonl")
_TASK_FOLDERS: Final = ("", "data")
_DATA_FOLDERS: Final = ("mongodb_data", "data/mongodb_data", "", "data")
_ENDINGS: Final = (".json", ".json.gz", "")


def open_suite(text: str, *, phrasing: Phrasing = "canonical", imports: Path | None = None) -> Suite:
    """Open the suite that a text names; `imports` is the folder in which imported releases are remembered.

    Raises: InputError for an unknown name, LoadError for a folder or records of the wrong form.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "worlds":
            return _open_worlds(text, rest, phrasing)
        case "folder" | "tend" if rest:
            return open_folder(Path(rest).expanduser(), text, phrasing)
        case "tend":
            return open_imported(text, imports or default_imports(), phrasing)
        case _ if rest == "" and Path(text).expanduser().exists():
            return open_folder(Path(text).expanduser(), f"folder:{text}", phrasing)
        case _:
            raise InputError(f"there is no suite {text!r}", hint=f"a suite is one of: {', '.join(KINDS)}")


def open_folder(folder: Path, name: str, phrasing: Phrasing = "canonical") -> Suite:
    """Open a folder that holds records and, beside them or in `mongodb_data`, one file of documents per database.

    Raises: LoadError naming what is missing.
    """
    tasks = find_tasks(folder)
    golds = read_golds(tasks)
    return _suite(name, golds, find_sources(tasks, (g.id.database for g in golds)), phrasing)


def open_imported(name: str, imports: Path, phrasing: Phrasing = "canonical") -> Suite:
    """Open a release that was imported under a name.

    Raises: InputError when nothing was, or it is no longer where it was.
    """
    found = recall(imports, name)
    if found is None:
        raise InputError(f"nothing was imported as {name}", hint=f"groundql bench import {name} PATH tells where it is")
    if not found.records.is_file():
        raise InputError(
            f"{found.records} is not there any more", hint=f"import it again: groundql bench import {name}"
        )
    return _suite(name, read_golds(found.records), found.sources, phrasing)


def find_tasks(folder: Path) -> Path:
    """Find the file of records: the path itself when it is a file.

    Raises: LoadError naming the file names that are looked for.
    """
    return find_all_tasks(folder)[0]


def find_all_tasks(folder: Path) -> tuple[Path, ...]:
    """Find every file of records that a release holds, the fullest first: the path itself when it is a file.

    Raises: LoadError naming the file names that are looked for.
    """
    if folder.is_file():
        return (folder,)
    if not folder.is_dir():
        raise LoadError(f"{folder}: no such file or folder")
    places = (folder / inner / name for inner in _TASK_FOLDERS for name in _TASK_FILES)
    found = tuple(place for place in places if place.is_file())
    if not found:
        raise LoadError(f"{folder}: holds no records", hint=f"looked for {', '.join(_TASK_FILES)}, also in data/")
    return found


def find_sources(tasks: Path, databases: Iterable[str], beside: Sequence[Path] = ()) -> dict[str, Path]:
    """Find each database's documents beside the records, one folder up, or `beside`; one without any is left out."""
    found: dict[str, Path] = {}
    taken = (tasks, *tasks.parents)
    for database in dict.fromkeys(databases):
        is_safe = not {"/", "\\"} & set(database) and database not in (".", "..")  # a name is never a way elsewhere
        places = (
            parent / inner / f"{database}{ending}"
            for parent in (*beside, tasks.parent, tasks.parent.parent)
            for inner in _DATA_FOLDERS
            for ending in _ENDINGS
        )
        source = next((place for place in places if is_safe and place.exists() and place not in taken), None)
        if source is not None:
            found[database] = source
    return found


def _open_worlds(text: str, wanted: str, phrasing: Phrasing) -> Suite:
    known = {world.name: world for world in list_worlds()}
    if wanted and wanted not in known:
        raise InputError(f"there is no sample world {wanted!r}", hint=f"choose one of: {', '.join(known)}")
    golds: list[Gold] = []
    sources: dict[str, Path] = {}
    for name in [wanted] if wanted else known:
        folder = Path(str(resources.files("groundql.bench.worlds").joinpath("data", name)))
        golds += read_golds(folder / "tasks.jsonl")
        sources[name] = folder / f"{name}.json.gz"
    return _suite(text, golds, sources, phrasing)


def _suite(name: str, golds: Sequence[Gold], sources: Mapping[str, Path], phrasing: Phrasing) -> Suite:
    by_id = {gold.id: gold for gold in golds}
    if len(by_id) < len(golds):
        twice = Counter(g.id for g in golds).most_common(1)[0][0]
        raise LoadError(f"{name}: the record {twice} is there twice")
    cases = tuple(to_case(gold, phrasing) for gold in golds)
    return Suite(name, cases, by_id, sources, fingerprint_of_records(golds))
