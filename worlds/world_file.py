"""Write a sample world's files byte for byte the same on every run."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def read_json(path: Path) -> Any:
    """Read one JSON file of the source package."""
    return json.loads(path.read_text(encoding="utf-8"))


def to_date(day: str) -> Document:
    """Write a calendar day, or an ISO instant, as a relaxed EJSON date in UTC."""
    instant = day if "T" in day else f"{day}T00:00:00Z"
    if instant >= "1970":
        return {"$date": instant}
    # Relaxed EJSON writes what lies before 1970 as milliseconds.
    since = datetime.fromisoformat(instant.replace("Z", "+00:00")) - datetime(1970, 1, 1, tzinfo=UTC)
    return {"$date": {"$numberLong": str(since // timedelta(milliseconds=1))}}


def drop_missing(document: Mapping[str, Any]) -> Document:
    """Leave out the fields whose value is the marker ``...`` (the source says nothing)."""
    return {key: value for key, value in document.items() if value is not ...}


def write_world(collections: Mapping[str, Sequence[Document]], target: Path) -> int:
    """Write the archive into a folder, under the folder's name; return its size.

    Units: bytes
    """
    target.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{json.dumps(name)}:[\n" + ",\n".join(_dump(document) for document in documents) + "\n]"
        for name, documents in collections.items()
    ]
    text = "{" + ",\n".join(lines) + "}\n"
    buffer = io.BytesIO()
    # No name and no time in the header: the same documents give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(text.encode("utf-8"))
    data = buffer.getvalue()
    (target / f"{target.name}.json.gz").write_bytes(data)
    return len(data)


def _dump(document: Document) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
