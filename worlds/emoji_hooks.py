"""What the specification of the world ``emoji`` cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundql.bench.construct.sources import Sources


def subgroups(group: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """Map each subgroup's number to its key and title; only the key leads to the title."""
    children = next(row["value"] for row in sources.rows("hierarchy") if row["key"] == group["key"])
    keys = {row["key"]: row["value"] for row in sources.rows("subgroups")}
    titles = {row["key"]: row["message"] for row in sources.rows("subgroup_titles")}
    return {str(child): {"key": keys[str(child)], "title": titles[keys[str(child)]]} for child in children}
