"""Read benchmark records: a JSON array, or one JSON object a line, in the lean form or a fuller one."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from groundql.bench.case import Case, CaseId, Gold
from groundql.core.answer import Question
from groundql.errors import LoadError

Phrasing: TypeAlias = Literal["canonical", "colloquial"]
LEAN_FIELDS: Final = ("record_id", "db_id", "NLQ", "NLQ_colloquial", "MQL")
"""The lean record's fields, in the release's order."""


def read_golds(path: Path) -> tuple[Gold, ...]:
    """Read a file of records as golds, in their order.

    Raises: LoadError naming the file, the record and what is wrong with it.
    """
    golds = tuple(to_gold(record, f"{path}, {place}") for place, record in read_records(path))
    if not golds:
        raise LoadError(f"{path}: holds no records")
    return golds


def read_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read a file's records, each with its place (a line or a number)."""
    try:
        text = _unpacked(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    pieces = _from_array(path, text) if text.lstrip()[:1] == "[" else _from_lines(path, text)
    for place, record in pieces:
        if not isinstance(record, dict):
            raise LoadError(f"{path}, {place}: a record is an object", hint=f"with {', '.join(LEAN_FIELDS)}")
        yield place, cast("Mapping[str, Any]", record)


def to_gold(record: Mapping[str, Any], place: str) -> Gold:
    """Take one record apart. Everything but the lean fields becomes a label.

    The full form keeps its two phrasings in `nl_queries`, as canonical and colloquial.
    Raises: LoadError when a field that a case needs is absent or of the wrong kind.
    """
    record = {**_phrasings(record), **record}
    number, database, nlq, mql = (_field(record, name, place) for name in ("record_id", "db_id", "NLQ", "MQL"))
    labels: Any = record.get("labels") or {}
    if not isinstance(labels, dict):
        raise LoadError(f"{place}: labels is {labels!r}, not an object")
    extra = {name: value for name, value in record.items() if name not in (*LEAN_FIELDS, "labels", "nl_queries")}
    told = {**extra, **cast("Mapping[str, Any]", labels)}
    return Gold(CaseId(database, number), mql, nlq, str(record.get("NLQ_colloquial") or ""), told)


def _phrasings(record: Mapping[str, Any]) -> dict[str, Any]:
    both: Any = record.get("nl_queries")
    if not isinstance(both, dict):
        return {}
    queries = cast("Mapping[str, Any]", both)
    return {"NLQ": queries.get("canonical"), "NLQ_colloquial": queries.get("colloquial")}


def to_case(gold: Gold, phrasing: Phrasing) -> Case:
    """Give what a solver may see of a record: its question in one phrasing."""
    asked = gold.colloquial if phrasing == "colloquial" and gold.colloquial else gold.nlq
    return Case(gold.id, Question(asked))


def fingerprint_of_records(golds: Iterable[Gold]) -> str:
    """Hash the records that runs must share to be compared. Shape: SHA-256 in hex."""
    digest = hashlib.sha256()
    for gold in sorted(golds, key=lambda g: g.id):
        digest.update(json.dumps([*gold.id, gold.nlq, gold.colloquial, gold.mql], ensure_ascii=False).encode())
    return digest.hexdigest()


def _field(record: Mapping[str, Any], name: str, place: str) -> Any:
    value = record.get(name)
    wanted = int if name == "record_id" else str
    if not isinstance(value, wanted) or isinstance(value, bool) or value == "":
        said = "is missing" if value is None else f"is {value!r}, not {'a number' if wanted is int else 'a text'}"
        raise LoadError(f"{place}: {name} {said}", hint=f"a record has {', '.join(LEAN_FIELDS)}")
    return value


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _from_array(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    try:
        found = cast("Sequence[Any]", json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise LoadError(f"{path}{where}: not JSON ({getattr(error, 'msg', 'nested too deep')})") from None
    for number, record in enumerate(found, 1):
        yield f"record {number}", record


def _from_lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):  # splitlines would also cut at characters JSON allows in text
        if not line.strip():
            continue
        try:
            yield f"line {number}", json.loads(line)
        except json.JSONDecodeError as error:
            hint = "an array over several lines begins with [" if number == 1 and line.strip() == "{" else ""
            raise LoadError(f"{path}, line {number}: not JSON ({error.msg})", hint=hint) from None
