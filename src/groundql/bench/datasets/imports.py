"""Remember where a release lies that a user brought: its files stay where they are, and nothing is copied."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from groundql.config import load_settings
from groundql.errors import LoadError


@dataclass(frozen=True, slots=True)
class Imported:
    """Where an imported release lies. Shape: `sources` maps a database to its file or folder of documents."""

    records: Path
    sources: Mapping[str, Path]


def default_imports() -> Path:
    """Return the folder in which imports are remembered."""
    return load_settings().settings.cache_folder / "suites"


def remember(imports: Path, name: str, imported: Imported) -> None:
    """Remember a release under a suite's name, in place of an earlier one."""
    imports.mkdir(parents=True, exist_ok=True)
    told = {"records": str(imported.records), "sources": {k: str(v) for k, v in imported.sources.items()}}
    draft = imports / f"{name}.json.part"
    draft.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    draft.replace(imports / f"{name}.json")


def recall(imports: Path, name: str) -> Imported | None:
    """Return where the release of a suite's name lies, if one was imported.

    Raises: LoadError when what was remembered cannot be read.
    """
    file = imports / f"{name}.json"
    if not file.is_file():
        return None
    try:
        told = cast("Mapping[str, Any]", json.loads(file.read_text(encoding="utf-8")))
        sources = cast("Mapping[str, str]", told["sources"])
        return Imported(Path(told["records"]), {k: Path(v) for k, v in sources.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoadError(
            f"{file}: cannot be read ({error!r})", hint=f"import it again: groundql bench import {name}"
        ) from None
