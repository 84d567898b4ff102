"""Rows that came back, and the limits under which programs run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rows:
    """What a program returned.

    Shape: `records` map column names to BSON values; an absent key is missing, None is null. `truncated` says that a
    limit of ours (not the program's) cut them; `truncated_by` names it: rows, bytes.
    Units: `elapsed_s` seconds at the database, `read_bytes` encoded size of the records.
    """

    records: tuple[Mapping[str, Any], ...] = ()
    truncated: bool = False
    truncated_by: str = ""
    elapsed_s: float = 0.0
    read_bytes: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names in order of first appearance."""
        return tuple(dict.fromkeys(name for record in self.records for name in record))

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one execution; always on.

    `disk` lets the server sort and group on disk; without it the server does as it is set up to do.
    Units: `rows` records returned, `elapsed_s` seconds on the server, `read_bytes` encoded size of the result.
    """

    rows: int = 1000
    elapsed_s: float = 30.0
    read_bytes: int = 16_000_000
    disk: bool = True
