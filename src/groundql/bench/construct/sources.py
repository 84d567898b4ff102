"""Read the rows of a specification's sources: CSV, TSV, SQLite, JSON files, folders of JSON files."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from groundql.bench.construct.spec import Source, WorldSpec
from groundql.errors import LoadError

Row: TypeAlias = Mapping[str, Any]
MISSING = ...
"""What a row gives for a value that it does not have."""


@dataclass(slots=True)
class Sources:
    """The rows of every source by its name, read when they are first asked for, from a folder of unpacked packages."""

    spec: WorldSpec
    folder: Path
    _rows: dict[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    _indexes: dict[tuple[str, tuple[str, ...]], Mapping[Any, list[Row]]] = field(
        default_factory=dict[tuple[str, tuple[str, ...]], "Mapping[Any, list[Row]]"]
    )

    def rows(self, name: str) -> Sequence[Row]:
        """Read a source's rows, in source order.

        Raises: LoadError for a file that is absent or of the wrong form.
        """
        if name not in self._rows:
            source = self.spec.sources[name]
            rows = _read(self.folder, source)
            self._rows[name] = list(_items(rows, source.each)) if source.each else rows
        return self._rows[name]

    def matching(self, name: str, match: Mapping[str, str], row: Row) -> Sequence[Row]:
        """Give the rows of a source whose columns agree with the row at hand; all of them without a match."""
        if not match:
            return self.rows(name)
        columns = tuple(match)
        if (name, columns) not in self._indexes:
            index: dict[Any, list[Row]] = defaultdict(list)
            for other in self.rows(name):
                index[_mark([take(other, column) for column in columns])].append(other)
            self._indexes[name, columns] = index
        return self._indexes[name, columns].get(_mark([take(row, ours) for ours in match.values()]), [])


def _mark(values: Sequence[Any]) -> str:
    return repr(values)


def take(row: Any, at: str) -> Any:
    """Take a column of a row, or what a pointer leads to; the ellipsis where there is nothing.

    Source: RFC 6901 for pointers
    """
    if not at.startswith("/"):
        return cast("Row", row).get(at, MISSING) if isinstance(row, Mapping) else MISSING
    node = row
    for step in at[1:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = cast("Row", node).get(name, MISSING)
        elif isinstance(node, list) and name.isdigit() and int(name) < len(cast("list[Any]", node)):
            node = cast("list[Any]", node)[int(name)]
        else:
            return MISSING
    return node


def as_rows(items: Sequence[Any]) -> Iterator[Row]:
    """Give items as rows; what is no object is the one column `value`."""
    for item in items:
        yield cast("Row", item) if isinstance(item, Mapping) else {"value": item}


def _read(folder: Path, source: Source) -> Sequence[Row]:
    path = folder / (source.csv or source.tsv or source.sqlite or source.json_file or source.folder)
    if source.folder:
        return [
            {**row, "file": name}
            for name in source.names
            for row in _json_rows(folder / source.folder.replace("{name}", name), source)
        ]
    if not path.is_file():
        raise LoadError(f"{path}: there is no such file", hint="unpack the packages that the specification names there")
    if source.sqlite:
        return _table_rows(path, source.table)
    if source.json_file:
        return _json_rows(path, source)
    return _separated_rows(path, "\t" if source.tsv else ",")


def _items(rows: Sequence[Row], each: str) -> Iterator[Row]:
    for row in rows:
        items = take(row, each)
        for item in cast("list[Row]", items) if isinstance(items, list) else ():
            yield {**item, "parent": row}


def _separated_rows(path: Path, mark: str) -> Sequence[Row]:
    """Read a table; an empty cell says nothing, so it is no value."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [{key: value for key, value in row.items() if value} for row in csv.DictReader(stream, delimiter=mark)]


def _table_rows(path: Path, table: str) -> Sequence[Row]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        quoted = table.replace('"', '""')
        try:
            # in the order of storage, which is the same each time
            found = connection.execute(f'SELECT * FROM "{quoted}"').fetchall()
        except sqlite3.Error as error:
            raise LoadError(f"{path}: table {table!r} cannot be read ({error})") from None
    return [{key: row[key] for key in row.keys() if row[key] is not None} for row in found]  # noqa: SIM118 - a Row's


def _json_rows(path: Path, source: Source) -> Sequence[Row]:
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise LoadError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    found = take(data, source.pointer) if source.pointer else data
    if found is MISSING:
        raise LoadError(f"{path}: there is nothing at {source.pointer}")
    if isinstance(found, Mapping) and source.entries:
        return [{"key": key, "value": value} for key, value in cast("Row", found).items()]
    if isinstance(found, Mapping):
        return [cast("Row", found)]
    if isinstance(found, list):
        return list(as_rows(cast("list[Any]", found)))
    raise LoadError(f"{path}: at {source.pointer or '/'} there are no rows but one value")
