"""Add verdicts up: one line of figures per system and protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundql.bench.case import CaseId
from groundql.bench.verdict import PROTOCOLS, TEND_V1, Bucket, Scored, Verdict


@dataclass(frozen=True, slots=True)
class Figures:
    """What one system came to under one protocol. Units: `exc` and `exf1` are shares; buckets are counts.

    Shape: the buckets sum to `rows`, the number of scored rows that `exc` and `exf1` are means over.
    """

    system: str
    repeat: int
    protocol: str
    rows: int
    exc: float
    exf1: float
    buckets: Mapping[Bucket, int]


def figures(scored: Iterable[Scored], cases: Collection[CaseId]) -> list[Figures]:
    """Add verdicts up by system, repeat and protocol.

    Under tend-v1 every scored row counts, a second one for the same record and one for an unknown record included;
    under strict each record of the suite counts once, by the last prediction for it.
    """
    groups = dict[tuple[str, int], list[Scored]]()
    for one in scored:
        groups.setdefault((one.solver, one.repeat), []).append(one)
    return [
        _added_up(system, repeat, protocol, counted_rows(found, protocol, cases))
        for (system, repeat), found in sorted(groups.items())
        for protocol in PROTOCOLS
        if any(protocol in one.verdicts for one in found)
    ]


def counted_rows(scored: Sequence[Scored], protocol: str, cases: Collection[CaseId]) -> list[Scored]:
    """Return the rows of one system that count under a protocol."""
    if protocol == TEND_V1:
        return list(scored)
    return last_of_each(one for one in scored if one.id in cases)


def last_of_each(scored: Iterable[Scored]) -> list[Scored]:
    """Keep the last prediction for each case, solver and repeat, as paired tests do."""
    ordered = sorted(scored, key=lambda one: one.occurrence)
    return list({(one.id, one.solver, one.repeat): one for one in ordered}.values())


def _added_up(system: str, repeat: int, protocol: str, counted: Sequence[Scored]) -> Figures:
    verdicts: list[Verdict] = [one.verdicts[protocol] for one in counted]
    buckets = Counter(verdict.bucket for verdict in verdicts)
    rows = len(verdicts)
    exf1 = sum(verdict.exf1 for verdict in verdicts) / rows if rows else 0.0
    return Figures(system, repeat, protocol, rows, buckets[Bucket.CORRECT] / rows if rows else 0.0, exf1, buckets)


def to_row(one: Figures) -> dict[str, Any]:
    """Write figures as one flat row: shares to 4 places, one column per bucket."""
    return {
        "system": one.system,
        "repeat": one.repeat,
        "protocol": one.protocol,
        "rows": one.rows,
        "EXC": round(one.exc, 4),
        "EXF1": round(one.exf1, 4),
        **{bucket.value: one.buckets.get(bucket, 0) for bucket in Bucket},
    }
