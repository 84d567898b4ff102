"""Read one sample world from the package: its documents, its questions and their rows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from bson import json_util

_OPTIONS = json_util.JSONOptions(json_mode=json_util.JSONMode.RELAXED, tz_aware=True, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WorldTask:
    """One question about a sample world with the pipeline that answers it.

    Shape: `labels` say what the task exercises: `schema_flex`, a category of the TEND release, and `stressors`.
    Source: the lean record form of the TEND release
    """

    record_id: int
    db_id: str
    nlq: str
    nlq_colloquial: str
    mql: str
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class World:
    """One sample world; its files are read when they are asked for.

    Shape: licence is an SPDX expression that covers the documents
    """

    name: str
    title: str
    licence: str

    def documents(self) -> Mapping[str, list[dict[str, Any]]]:
        """Read all documents by collection, in stored order, as BSON types with dates in UTC."""
        return json.loads(gzip.decompress(self.packed()), object_hook=_revive)

    def packed(self) -> bytes:
        """Read the world's archive as it ships: gzip over one relaxed EJSON object."""
        return self._file(f"{self.name}.json.gz").read_bytes()

    def tasks(self) -> tuple[WorldTask, ...]:
        """Read the questions in order of their record ids."""
        return tuple(
            WorldTask(
                record_id=record["record_id"],
                db_id=record["db_id"],
                nlq=record["NLQ"],
                nlq_colloquial=record["NLQ_colloquial"],
                mql=record["MQL"],
                labels=record.get("labels", {}),
            )
            for record in self._records("tasks.jsonl")
        )

    def gold(self) -> Mapping[int, list[dict[str, Any]]]:
        """Read the rows that each question's pipeline gives, by record id."""
        return {record["record_id"]: record["rows"] for record in self._records("gold.jsonl")}

    def readme(self) -> str:
        """Read the page on the world's source, licence, shape and traps."""
        return self._file("README.md").read_text(encoding="utf-8")

    def _file(self, name: str) -> Traversable:
        return resources.files("groundql.bench.worlds").joinpath("data", self.name, name)

    def _records(self, name: str) -> Iterator[dict[str, Any]]:
        for line in self._file(name).read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line, object_hook=_revive)


def _revive(found: dict[str, Any]) -> Any:
    # Only typed values start with a dollar; asking json_util about every map makes reading ten times slower.
    first = next(iter(found), "")
    if not first.startswith("$"):
        return found
    return json_util.object_hook(found, _OPTIONS)
