"""Which forms of data files are read, and what to do with those that are not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

FORMS: Final = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".bson": "bson"}
_TABLES: Final = {".csv": "", ".tsv": ", delimiter=chr(9)", ".tab": ", delimiter=chr(9)"}
_SHEETS: Final = frozenset({".xlsx", ".xls", ".ods", ".parquet"})
_SHOWN: Final = ", ".join(FORMS)


def suffixes_of(path: Path) -> tuple[str, str]:
    """Return a file's name up to its ending, and the ending in lower case; `.gz` counts for nothing."""
    name = path.name.lower().removesuffix(".gz")
    stem, dot, last = name.rpartition(".")
    return path.name[: len(stem)] if dot else "", "." + last if dot else ""


def is_table(path: Path) -> bool:
    """Tell whether a file is rows of text, separated by commas or tabs."""
    return suffixes_of(path)[1] in _TABLES


def how_to_convert(path: Path) -> str:
    """Say what to do with a file of another form; which types a table's columns have is the user's to decide."""
    ending = suffixes_of(path)[1]
    if is_table(path):
        convert = (
            f"import csv, json, sys; [print(json.dumps(row)) for row in csv.DictReader(sys.stdin{_TABLES[ending]})]"
        )
        names = f"< {shlex.quote(path.name)} > {shlex.quote(path.stem + '.jsonl')}"
        return f"files end in {_SHOWN}; a table becomes one, each value a text, by python3 -c '{convert}' {names}"
    if ending in _SHEETS:
        return f"files end in {_SHOWN}: write the table as one of them first"
    return f"files end in {_SHOWN}, each also with .gz"
