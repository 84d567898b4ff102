"""The nearest right names to a wrong one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process, utils


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """List the known names most like `name`, best first; names that share nothing are left out."""
    found = process.extract(
        name, list(known), scorer=fuzz.WRatio, processor=utils.default_process, limit=count, score_cutoff=55
    )
    return tuple(str(match) for match, _, _ in found)
