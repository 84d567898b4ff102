"""Ask document databases in plain English; get a verified read-only query, its rows, and the evidence for both.

>>> import groundql
>>> with groundql.connect("mongodb://localhost:27017/comics") as db:  # doctest: +SKIP
...     answer = db.ask("how many heroes does each publisher have?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundql.core.answer import Answer, Outcome, Question
    from groundql.errors import GroundQLError
    from groundql.faces.client import Client, connect, connect_async, doctor, load_files
    from groundql.service import Profile, Report, Service

__all__ = [
    "Answer",
    "Client",
    "GroundQLError",
    "Outcome",
    "Profile",
    "Question",
    "Report",
    "Service",
    "connect",
    "connect_async",
    "doctor",
    "load_files",
]

_HOMES = {
    "Answer": "groundql.core.answer",
    "Outcome": "groundql.core.answer",
    "Question": "groundql.core.answer",
    "GroundQLError": "groundql.errors",
    "Profile": "groundql.service",
    "Report": "groundql.service",
    "Service": "groundql.service",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import groundql.core` must not start with the whole product."""
    if name not in __all__:
        raise AttributeError(f"module 'groundql' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "groundql.faces.client")), name)
