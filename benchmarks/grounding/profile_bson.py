"""Profile a BSON file; print time, peak memory and the paths as JSON. The counterpart of schema.mjs."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bson

from groundql.core.catalog import ContainerInfo, Field
from groundql.core.path import ITEMS
from groundql.grounding.profile import Profiler

Name = tuple[str, ...]


class Clock:
    """Wall and processor time between laps. Units: seconds."""

    def __init__(self) -> None:
        self._at = (time.perf_counter(), time.process_time())

    def lap(self) -> tuple[float, float]:
        """Give the times since the last lap."""
        before, self._at = self._at, (time.perf_counter(), time.process_time())
        return self._at[0] - before[0], self._at[1] - before[1]


def peak_mb() -> float:
    """Give this process's peak resident size; what getrusage says on Linux is inherited from the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def read_file(path: Path) -> dict[str, Any]:
    """Profile a file with our own tool, in this process."""
    clock = Clock()
    with path.open("rb") as file:
        for _ in bson.decode_file_iter(file):
            pass
    decode_s, _ = clock.lap()
    profiler = Profiler(ContainerInfo("things"))
    with path.open("rb") as file:
        for document in bson.decode_file_iter(file):
            profiler.add(document)
    fields = profiler.finish().container.fields
    total_s, cpu_s = clock.lap()
    paths = sorted(named(fields))
    return {"total_s": total_s, "cpu_s": cpu_s, "decode_s": decode_s, "peak_mb": peak_mb(), "paths": paths}


def named(fields: Iterable[Field]) -> set[Name]:
    """Write fields as names in order, arrays left out."""
    steps = ([s if isinstance(s, str) else s.value for s in f.path.steps if s is not ITEMS] for f in fields)
    return {tuple(path) for path in steps if path}


if __name__ == "__main__":
    print(json.dumps(read_file(Path(sys.argv[1]))))
