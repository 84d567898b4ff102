"""Read anybody's predictions: a run's own file, or JSON in the fields that the published toolchain uses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from groundql.bench.case import CaseId, Suite
from groundql.bench.prediction import Prediction
from groundql.errors import LoadError

RUN_FILE: Final = "predictions.jsonl"
RECORD: Final = ("record_id", "id")
DATABASE: Final = ("db_id", "database", "db")
PROGRAM: Final = ("MQL", "mql", "prediction", "predicted_mql", "pred")
SYSTEM: Final = ("system", "solver", "system_id", "solver_id")
FAILURE: Final = ("failure", "status", "prediction_status", "error")


def read_submissions(path: Path, suite: Suite) -> list[Prediction]:
    """Read a run folder or a file (.json, .jsonl, also .gz): every prediction, in its order.

    A system that is not named is called after the file; a database that is not named is the only one of the suite
    that has the record. A last line that was cut off while it was written is left out.
    Raises: LoadError naming the place and what is wrong there.
    """
    file = path / RUN_FILE if path.is_dir() else path
    databases = _databases_by_record(suite)
    return [_prediction(record, place, file, databases) for place, record in _records(file)]


def _prediction(
    record: Mapping[str, Any], place: str, file: Path, databases: Mapping[int, Sequence[str]]
) -> Prediction:
    number = _whole(_first(record, RECORD), place)
    text = _program(_first(record, PROGRAM))
    failure = "" if text else _text(_first(record, FAILURE)) or "empty"
    return Prediction(
        id=CaseId(_database(record, number, place, databases), number),
        solver=_text(_first(record, SYSTEM)) or file.name.split(".")[0],
        mql=text,
        failure=failure,
        detail=_text(record.get("detail")),
        model=_text(record.get("model")),
        repeat=_whole(record.get("repeat") or 0, place),
    )


def _database(record: Mapping[str, Any], number: int, place: str, databases: Mapping[int, Sequence[str]]) -> str:
    named = _text(_first(record, DATABASE))
    if named:
        return named
    known = databases.get(number, ())
    if len(known) > 1:
        raise LoadError(f"{place}: record {number} exists in {' and '.join(known)}", hint="name its db_id")
    return known[0] if known else ""


def _databases_by_record(suite: Suite) -> dict[int, list[str]]:
    found = dict[int, list[str]]()
    for case in suite.golds:
        found.setdefault(case.record_id, []).append(case.database)
    return found


def _first(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _whole(value: Any, place: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise LoadError(f"{place}: {value!r} is not a record's number", hint=f"it stands in {RECORD[0]}") from None


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _program(value: Any) -> str:
    """Return a program as text; an object with a collection and a pipeline is written as the call it stands for."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if isinstance(fields.get("pipeline"), list) and isinstance(fields.get("collection"), str):
            return f"db.{fields['collection']}.aggregate({json.dumps(fields['pipeline'], ensure_ascii=False)})"
    return _text(value).strip()


def _records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = _read(file)
    for place, found in _from_document(file, text) if _is_document(text) else _from_lines(file, text):
        if not isinstance(found, Mapping):
            raise LoadError(
                f"{place}: a prediction is an object", hint=f"with {RECORD[0]}, {DATABASE[0]}, {PROGRAM[0]}"
            )
        yield place, cast("Mapping[str, Any]", found)


def _read(file: Path) -> str:
    try:
        data = file.read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"{file}: cannot be read ({error})", hint="give a run's folder or a predictions file") from None


def _is_document(text: str) -> bool:
    """Tell one JSON document from JSON lines: an array, or an object that does not end in its first line."""
    start = text.lstrip()
    if start[:1] != "{":
        return True
    try:
        json.loads(start.partition("\n")[0])
    except json.JSONDecodeError:
        return "\n" in start.strip()
    return False


def _from_document(file: Path, text: str) -> Iterator[tuple[str, Any]]:
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise LoadError(f"{file}, line {error.lineno}: not JSON ({error.msg})") from None
    if isinstance(found, Mapping):
        fields = cast("Mapping[str, Any]", found)
        found = next((fields[name] for name in ("predictions", "records") if name in fields), [fields])
    if not isinstance(found, list):
        raise LoadError(f"{file}: predictions are a list of objects")
    for number, record in enumerate(cast("list[Any]", found), 1):
        yield f"{file}, record {number}", record


def _from_lines(file: Path, text: str) -> Iterator[tuple[str, Any]]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield f"{file}, line {number}", json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines) and not text.endswith("\n") and (number > 1 or file.name == RUN_FILE):
                return
            raise LoadError(f"{file}, line {number}: not JSON ({error.msg})") from None
