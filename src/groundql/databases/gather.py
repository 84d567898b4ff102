"""Collect result records until a limit is reached, and say which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundql.core.rows import Limits, Rows


@dataclass(slots=True)
class Gatherer:
    """Take records one by one; the first one beyond a limit is refused and makes the result truncated."""

    limits: Limits
    _records: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    _read_bytes: int = 0
    _truncated_by: str = ""

    def has_room(self, size_bytes: int) -> bool:
        """Tell whether one more record of a size fits, and remember if it does not."""
        if len(self._records) >= self.limits.rows:
            self._truncated_by = "rows"
        elif self._read_bytes + size_bytes > self.limits.read_bytes:
            self._truncated_by = "bytes"
        return not self._truncated_by

    def add(self, record: Mapping[str, Any], size_bytes: int) -> None:
        """Keep a record."""
        self._records.append(record)
        self._read_bytes += size_bytes

    def rows(self, elapsed_s: float) -> Rows:
        """Return what was kept."""
        return Rows(tuple(self._records), bool(self._truncated_by), self._truncated_by, elapsed_s, self._read_bytes)
