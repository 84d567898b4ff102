"""A candidate task, before anything was run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Draft:
    """One candidate: its question in two phrasings, its program, and what it exercises.

    Shape: `template` names what drafted it; `schema_flex` and `stressors` are labels of releases.
    """

    template: str
    nlq: str
    colloquial: str
    container: str
    stages: Sequence[Mapping[str, Any]]
    schema_flex: str
    stressors: tuple[str, ...]

    @property
    def mql(self) -> str:
        """Write the program as releases do: plain JSON within a shell call."""
        return (
            f"db.{self.container}.aggregate({json.dumps(list(self.stages), ensure_ascii=False, separators=(',', ':'))})"
        )
