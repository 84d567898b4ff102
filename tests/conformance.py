"""The conformance cases: documents, a pipeline, and what MongoDB answers; and how an answer is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import Decimal128, Int64, json_util
from bson.json_util import JSONMode, JSONOptions
from pymongo.database import Database
from pymongo.errors import PyMongoError

Document = Mapping[str, Any]
OPTIONS = JSONOptions(json_mode=JSONMode.CANONICAL, tz_aware=False, tzinfo=None)
CONTAINERS = ("c", "f", "g")


@dataclass(frozen=True)
class Case:
    """One pipeline over collection `c` (and others) with the answer that is due.

    `codes` is None where rows are due; else the error codes allowed, none at all meaning any. `ordered` says that the
    order of rows counts; `unordered` names arrays within rows whose order does not; `checks_types` that int, long,
    double and decimal are told apart. `indexes` maps a collection to the fields that the indexed run indexes.
    """

    name: str
    category: str
    documents: Mapping[str, Sequence[Document]]
    pipeline: list[Any]
    expected: Sequence[Document]
    codes: frozenset[int] | None
    ordered: bool
    unordered: frozenset[str]
    checks_types: bool
    indexes: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]
    on_database: bool

    def answer(self, database: Database[dict[str, Any]], *, indexed: bool = False) -> list[Any] | PyMongoError:
        """Store the documents, run the pipeline, return the rows or the error."""
        for name in CONTAINERS:
            database.drop_collection(name)
        for name, documents in self.documents.items():
            if documents:
                database[name].insert_many([dict(d) for d in documents])
        for name, fields in self.indexes.items() if indexed else ():
            for field in fields:
                database[name].create_index([(field, 1)])
        source: Any = database if self.on_database else database["c"]
        try:
            return list(source.aggregate(self.pipeline, **self.options))
        except PyMongoError as error:
            return error

    def judge(self, answer: list[Any] | PyMongoError) -> str:
        """Return what is wrong with an answer, or the empty text."""
        if isinstance(answer, PyMongoError):
            return self._judge_error(answer)
        if self.codes is not None:
            return f"an error is due, got rows {answer!r}"
        notes: set[str] = set()
        pairs = zip(self.expected, answer, strict=False)
        if len(self.expected) != len(answer):
            right = False
        elif self.ordered:
            right = all(_same(e, g, "", self.unordered, notes) for e, g in pairs)
        else:
            right = _same_set(self.expected, answer, "", self.unordered, notes)
        if not self.checks_types:
            notes.discard("type")
        if right and not notes:
            return ""
        return f"{'/'.join(sorted(notes)) or 'wrong'}: due {self.expected!r}, got {answer!r}"

    def _judge_error(self, error: PyMongoError) -> str:
        code = getattr(error, "code", None)
        if self.codes is None:
            return f"rows are due, got {code}: {error}"
        return "" if not self.codes or code in self.codes else f"error {set(self.codes)} is due, got {code}: {error}"


def read_cases(path: Path) -> dict[str, Case]:
    """Read the cases by their names."""
    listed: list[Any] = json_util.loads(path.read_text(), json_options=OPTIONS)
    return {case.name: case for case in map(_case, listed)}


def _case(raw: Mapping[str, Any]) -> Case:
    return Case(
        raw["name"],
        raw["cat"],
        {"c": raw["docs"], **raw.get("colls", {})},
        raw["pipeline"],
        raw.get("expected", ()),
        frozenset(raw["error"]) if "error" in raw else None,
        raw.get("ordered", False),
        frozenset(raw.get("unordered", ())),
        raw.get("types", True),
        {name: raw[key] for name, key in (("c", "index"), ("f", "findex")) if key in raw},
        raw.get("opts", {}),
        raw.get("level") == "db",
    )


def _same(due: Any, got: Any, path: str, unordered: frozenset[str], notes: set[str]) -> bool:
    """Compare two values; differences that are not plainly wrong (number type, key order) go into notes."""
    if _number_type(due) or _number_type(got):
        if not (_number_type(due) and _number_type(got) and _same_number(due, got)):
            return False
        if _number_type(due) != _number_type(got):
            notes.add("type")
        return True
    if isinstance(due, Mapping) and isinstance(got, Mapping):
        if set(due) != set(got):
            return False
        if list(due) != list(got):
            notes.add("order")
        return all(_same(due[k], got[k], f"{path}.{k}".lstrip("."), unordered, notes) for k in due)
    if isinstance(due, list) and isinstance(got, list):
        if path in unordered:
            return _same_set(due, got, path + "[]", unordered, notes)
        return len(due) == len(got) and all(
            _same(d, g, path + "[]", unordered, notes) for d, g in zip(due, got, strict=True)
        )
    return type(due) is type(got) and due == got


def _same_set(due: Sequence[Any], got: Sequence[Any], path: str, unordered: frozenset[str], notes: set[str]) -> bool:
    """Match each value that is due with another one that came, exact matches first."""
    left = list(got)
    for value in due:
        hit = _first(left, lambda g, v=value: _same_exactly(v, g, path, unordered))
        if hit is None:
            hit = _first(left, lambda g, v=value: _same(v, g, path, unordered, set()))
        if hit is None:
            return False
        _same(value, left.pop(hit), path, unordered, notes)
    return not left


def _same_exactly(due: Any, got: Any, path: str, unordered: frozenset[str]) -> bool:
    notes: set[str] = set()
    return _same(due, got, path, unordered, notes) and not notes


def _first(values: Sequence[Any], fits: Callable[[Any], bool]) -> int | None:
    return next((i for i, value in enumerate(values) if fits(value)), None)


def _number_type(value: Any) -> str:
    match value:
        case bool():
            return ""
        case Int64():
            return "long"
        case int():
            return "int"
        case float():
            return "double"
        case Decimal128():
            return "decimal"
        case _:
            return ""


def _same_number(due: Any, got: Any) -> bool:
    a, b = (float(v.to_decimal() if isinstance(v, Decimal128) else v) for v in (due, got))
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= 1e-12 * max(1.0, abs(a), abs(b))
