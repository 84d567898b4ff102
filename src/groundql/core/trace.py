"""An append-only record of what happened while a question was answered."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. Units: `at_s` seconds since the trace began. `data` is JSON-ready."""

    name: str
    at_s: float
    data: Mapping[str, Any]


@dataclass(slots=True)
class Trace:
    """Collect events; `listen` is called with each as it comes, for progress."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    events: list[Event] = field(default_factory=list[Event])
    listen: Callable[[Event], None] | None = None
    started_s: float = field(default_factory=time.monotonic)

    def add(self, name: str, /, **data: Any) -> None:
        """Append one event."""
        event = Event(name, time.monotonic() - self.started_s, data)
        self.events.append(event)
        if self.listen:
            self.listen(event)
