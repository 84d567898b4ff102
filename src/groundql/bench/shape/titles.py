"""Statistics as a person reads them: a title and a value each."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from groundql.bench.shape.statistics import Statistics

TITLES: Final = {
    "queried": "collections queried",
    "stages_median": "stages per program, median",
    "stages_max": "stages per program, most",
    "operators_median": "distinct operators per program, median",
    "operators": "distinct operators, all programs",
    "signatures": "MQL signatures",
    "skeletons": "skeleton families, over all tasks",
    "scoped_skeletons": "skeleton families, within databases",
    "largest_family": "largest skeleton family",
    "largest_scoped_family": "largest skeleton family of a database",
    "entropy": "normalised entropy, over observed families",
    "entropy_over_tasks": "normalised entropy, over tasks",
    "stage_sequences": "stage sequences",
    "complexity_mean": "complexity score, mean",
    "complexity_median": "complexity score, median",
    "dynamic_key_share": "programs with dynamic-key operators",
    "array_share": "programs with array operators",
    "grouping_share": "programs with grouping operators",
    "nested_path_share": "programs with nested paths",
    "levels": "anti-SQL-transfer level, recomputed",
}


def told(statistics: Statistics) -> list[dict[str, str]]:
    """Write a set of tasks' figures, one a row; what was not measured is left out."""
    return [row for field in fields(Statistics) for row in _rows(field.name, getattr(statistics, field.name))]


def _rows(name: str, value: Any) -> list[dict[str, str]]:
    if name == "labels":
        return [{"statistic": f"{label}, as labelled", "value": _counts(counts)} for label, counts in value.items()]
    if value is None:
        return []
    written = _counts(value) if name == "levels" else _written(name, value)
    return [{"statistic": TITLES.get(name, name), "value": written}]


def _written(name: str, value: float) -> str:
    return (
        f"{100 * value:.1f} %"
        if name.endswith("_share")
        else f"{value:,.4g}"
        if isinstance(value, float)
        else f"{value:,}"
    )


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
