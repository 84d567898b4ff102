"""Write a world's documents as one archive, byte for byte the same on every run."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any


def to_text(collections: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Write documents as one JSON object, a document a line."""
    lines = [
        f"{json.dumps(name)}:[\n" + ",\n".join(_dump(document) for document in documents) + "\n]"
        for name, documents in collections.items()
    ]
    return "{" + ",\n".join(lines) + "}\n"


def pack(collections: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """Compress documents; no name and no time stand in the header."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(to_text(collections).encode("utf-8"))
    return buffer.getvalue()


def _dump(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
