"""What scoring leaves in a run's folder: one line per scored prediction, and the rows for those who look closer."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from bson import json_util

from groundql.bench.case import CaseId
from groundql.bench.scoring.canonical import Record
from groundql.bench.verdict import Bucket, Scored, Verdict

SCORES: Final = "scores.jsonl"
RESULTS: Final = "results"
ROWS: Final = 200
ROW_BYTES: Final = 400_000
"""How much of one result is kept for people to look at."""


def to_record(scored: Scored, mark: str = "") -> dict[str, Any]:
    """Write a scored prediction as data. `mark` identifies what was judged, so that it is not judged again."""
    return {
        "record_id": scored.id.record_id,
        "db_id": scored.id.database,
        "system": scored.solver,
        "repeat": scored.repeat,
        "occurrence": scored.occurrence,
        "verdicts": {
            protocol: {"bucket": verdict.bucket.value, "exf1": verdict.exf1, "detail": verdict.detail}
            for protocol, verdict in scored.verdicts.items()
        },
        "gold_rows": scored.gold_rows,
        "predicted_rows": scored.predicted_rows,
        "mark": mark,
    }


def from_record(record: Mapping[str, Any]) -> Scored:
    """Read a scored prediction back."""
    verdicts = cast("Mapping[str, Mapping[str, Any]]", record["verdicts"])
    return Scored(
        CaseId(record["db_id"], record["record_id"]),
        record["system"],
        {name: Verdict(Bucket(v["bucket"]), v["exf1"], v.get("detail", "")) for name, v in verdicts.items()},
        record["gold_rows"],
        record["predicted_rows"],
        record["repeat"],
        record.get("occurrence", 0),
    )


def read_scores(folder: Path) -> list[Scored]:
    """Read a run's scored predictions, each once, the last line for it; none when it was not scored yet."""
    found = {_key(scored): scored for scored in (from_record(record) for record in _lines(folder / SCORES))}
    return list(found.values())


def _key(scored: Scored) -> tuple[CaseId, str, int, int]:
    return scored.id, scored.solver, scored.repeat, scored.occurrence


def mark_of(*parts: object) -> str:
    """Hash what a verdict depends on."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False, default=str).encode()).hexdigest()[:20]


class Ledger:
    """Append to a folder's scores, and know which are there already; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Scored] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._known = {record["mark"]: from_record(record) for record in _lines(folder / SCORES)}

    def find(self, mark: str) -> Scored | None:
        """Return what was scored before under a mark."""
        return self._known.get(mark)

    def append(self, entries: Iterable[tuple[Scored, str]]) -> None:
        """Add scored predictions to the end of the file."""
        if self._folder is None:
            return
        with (self._folder / SCORES).open("a", encoding="utf-8") as out:
            out.writelines(_line(scored, mark) for scored, mark in entries)

    def finish(self, entries: Iterable[tuple[Scored, str]]) -> None:
        """Write the file anew with exactly these, in their order, in one step."""
        if self._folder is None:
            return
        new = self._folder / f"{SCORES}.new"
        with new.open("w", encoding="utf-8") as out:
            out.writelines(_line(scored, mark) for scored, mark in entries)
            out.flush()
            os.fsync(out.fileno())
        new.replace(self._folder / SCORES)

    def keep_rows(self, case: CaseId, results: Sequence[tuple[Mapping[str, Any], Sequence[Record]]]) -> None:
        """Keep the first rows of a case's results: the gold's first, then each prediction's, under their labels."""
        if self._folder is None:
            return
        folder = self._folder / RESULTS
        folder.mkdir(exist_ok=True)
        lines = (_result_line(label, records) for label, records in results)
        new = folder / f"{case.database}-{case.record_id}.jsonl.gz.new"
        new.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        new.replace(new.with_suffix(""))


def read_rows(folder: Path, case: CaseId) -> list[dict[str, Any]]:
    """Read a case's kept results, the gold's first.

    Shape: `of` (gold or prediction), for a prediction system, repeat and occurrence, `count`, and rows in relaxed
    Extended JSON, at most so many as were kept.
    """
    file = folder / RESULTS / f"{case.database}-{case.record_id}.jsonl.gz"
    if not file.is_file():
        return []
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def _result_line(label: Mapping[str, Any], records: Sequence[Record]) -> str:
    kept, size = list[str](), 0
    for record in records[:ROWS]:
        text = json_util.dumps(record, json_options=json_util.RELAXED_JSON_OPTIONS, ensure_ascii=False)
        size += len(text)
        if size > ROW_BYTES:
            break
        kept.append(text)
    head = json.dumps({**label, "count": len(records)}, ensure_ascii=False)
    return f'{head[:-1]}, "rows": [{", ".join(kept)}]}}\n'


def _line(scored: Scored, mark: str) -> str:
    return json.dumps(to_record(scored, mark), ensure_ascii=False) + "\n"


def _lines(file: Path) -> list[dict[str, Any]]:
    """Read a file's whole lines; one that was cut off is left out."""
    if not file.is_file():
        return []
    found = list[dict[str, Any]]()
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found
