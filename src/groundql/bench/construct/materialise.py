"""Turn a specification and its sources into documents, the same on every run."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from groundql.bench.construct.sources import MISSING, Row, Sources, as_rows, take
from groundql.bench.construct.spec import Collection, Value, WorldSpec
from groundql.bench.construct.values import typed
from groundql.errors import LoadError

Document = dict[str, Any]
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")  # not all that float() reads: NAN and INF are also codes


def materialise(spec: WorldSpec, folder: Path, hooks: Path) -> dict[str, list[Document]]:
    """Build every collection's documents, as relaxed Extended JSON, in order.

    `folder` holds the unpacked sources, `hooks` the modules of the specification's python functions.
    Raises: LoadError for a source or value of the wrong form.
    """
    maker = Maker(Sources(spec, folder), hooks)
    built = {name: list(maker.documents(name, collection)) for name, collection in spec.collections.items()}
    for name, documents in built.items():
        _check_ids(name, documents)
    return built


def _check_ids(name: str, documents: Sequence[Document]) -> None:
    seen: set[str] = set()
    for number, document in enumerate(documents, 1):
        mark = repr(document.get("_id", MISSING))
        if "_id" not in document:
            raise LoadError(f"{name}, document {number}: it has no _id", hint="give the collection a field _id")
        if mark in seen:
            raise LoadError(f"{name}, document {number}: its _id {document['_id']!r} occurs before")
        seen.add(mark)


@dataclass(slots=True)
class Maker:
    """Make documents from rows."""

    sources: Sources
    hooks: Path
    _modules: dict[str, ModuleType] = field(default_factory=dict[str, ModuleType])

    def documents(self, name: str, collection: Collection) -> Iterator[Document]:
        """Yield a collection's documents."""
        if collection.python:
            yield from self.hook(collection.python)(self.sources)
            yield from self._also(name, collection)
            return
        rows = [r for r in self.sources.rows(collection.source) if _is_kept(r, collection.where)]
        for number, row in enumerate(_sorted(rows, collection.sort), 1):
            place = f"{name}, row {number}"
            document = self.record(collection.fields, row, place)
            for variant in collection.variants:
                if _is_kept(row, variant.when):
                    document |= self.record(variant.fields, row, place)
            yield document
        yield from self._also(name, collection)

    def _also(self, name: str, collection: Collection) -> Iterator[Document]:
        for other in collection.also:
            yield from self.documents(name, other)

    def record(self, fields: Mapping[str, Value], row: Row, place: str) -> Document:
        """Make one record from a row; what has no value is left out."""
        made = {name: self.value(how, row, f"{place}, {name}") for name, how in fields.items()}
        return {name: value for name, value in made.items() if value is not MISSING}

    def value(self, how: Value, row: Row, place: str) -> Any:
        """Make one value, with what becomes of it where it is absent or empty."""
        found = self._found(how, row, place)
        if found is None or found is MISSING:
            return None if how.missing == "null" or (found is None and not how.take) else MISSING
        if found in ("", [], {}) and how.empty != "keep":
            return None if how.empty == "null" else MISSING
        return found

    def _found(self, how: Value, row: Row, place: str) -> Any:
        if how.python:
            return self.hook(how.python)(row, self.sources)
        if how.joined:
            return self._joined(how, row, place)
        if how.each or how.entries:
            return self._inner(how, take(row, how.each or how.entries), place)
        if how.take:
            return _taken(how, take(row, how.take), place)
        if how.text:
            return _filled(how.text, row)
        if how.size:
            counted = take(row, how.size)
            return MISSING if counted is MISSING else len(counted)
        return self.record(how.fields, row, place) if how.fields else how.value

    def _inner(self, how: Value, found: Any, place: str) -> Any:
        if found is MISSING or found is None:
            return found
        if how.each:
            return [self._item(how, item, place) for item in as_rows(found)]
        entries = cast("Row", found)
        return {
            key: self._item(how, item, place) for key, item in zip(entries, as_rows([*entries.values()]), strict=True)
        }

    def _joined(self, how: Value, row: Row, place: str) -> Any:
        rows = _sorted(self.sources.matching(how.joined, how.match, row), how.sort)
        if how.count:
            return len(rows)
        if how.embed:
            return self._item(how, rows[0], place) if rows else MISSING
        if how.array:
            return [self._item(how, other, place) for other in rows]
        return {str(take(other, how.key)): self._item(how, other, place) for other in rows}

    def _item(self, how: Value, row: Row, place: str) -> Any:
        """Make what one joined row, or one item, becomes: a record, or its value as it is."""
        if how.fields:
            return self.record(how.fields, row, place)
        picked = take(row, how.pick) if how.pick else row.get("value", dict(row))
        return _taken(how, picked, place)

    def hook(self, name: str) -> Callable[..., Any]:
        """Find a specification's function.

        Raises: LoadError when its module or it is not there.
        """
        file, _, function = name.partition(":")
        if file not in self._modules:
            self._modules[file] = _module(self.hooks / f"{file}.py")
        found = getattr(self._modules[file], function, None)
        if not callable(found):
            raise LoadError(f"{self.hooks / file}.py: there is no function {function!r}")
        return cast("Callable[..., Any]", found)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise LoadError(f"{path}: there is no such module", hint="python: hooks lie beside the specification")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _filled(text: str, row: Row) -> Any:
    """Put a row's columns into a text; a column that the row does not have leaves nothing."""
    try:
        return text.format_map(dict(row))
    except (KeyError, IndexError):
        return MISSING


def _is_kept(row: Row, where: Mapping[str, Any]) -> bool:
    return all(_agrees(take(row, column), wanted) for column, wanted in where.items())


def _agrees(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        test = cast("Mapping[str, Any]", wanted)
        is_there = value is not MISSING and value is not None
        if "exists" in test:
            return is_there == bool(test["exists"])
        return is_there and str(value).startswith(tuple(test["starts"]))
    return value in wanted if isinstance(wanted, list) else value == wanted


def _sorted(rows: Sequence[Row], keys: Sequence[str]) -> Sequence[Row]:
    """Order rows by columns, numbers before texts; rows that agree stay in source order."""
    return sorted(rows, key=lambda row: [_rank(take(row, key)) for key in keys]) if keys else rows


def _rank(value: Any) -> tuple[int, float, str]:
    """Numbers, and texts that are numbers, by size; then other texts; then what is absent."""
    if value is MISSING or value is None:
        return (2, 0, "")
    text = str(value)
    return (0, float(text), "") if _NUMBER.fullmatch(text) else (1, 0, text)


def _taken(how: Value, found: Any, place: str) -> Any:
    if found is None or found is MISSING:
        return found
    if how.split:
        parts = str(found).split(how.split)
        found = parts if how.at is None else (parts[how.at] if how.at < len(parts) else MISSING)
    if isinstance(found, Mapping) and (how.keep or how.rename or how.strip):
        found = _renamed(how, cast("Row", found))
    if how.type is None or found is MISSING:
        return cast("Any", found)
    if isinstance(found, list):
        return [typed(item, how.type, place) for item in cast("list[Any]", found)]
    if isinstance(found, Mapping):
        return {key: typed(item, how.type, place) for key, item in cast("Row", found).items()}
    return typed(found, how.type, place)


def _renamed(how: Value, found: Row) -> Document:
    """Choose and rename an object's keys: in the order of `keep` or `rename` where these say which, else as stored."""
    if how.keep:
        return {how.rename.get(key, key.lstrip(how.strip)): found[key] for key in how.keep if key in found}
    return {how.rename.get(key, key.lstrip(how.strip)): value for key, value in found.items()}
