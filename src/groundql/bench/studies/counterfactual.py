"""The counterfactual witness test: is a program that is right on the stored data still right on other data?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bson import json_util

from groundql.bench.case import CaseId, Gold, Suite
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.execute import LIMITS, run
from groundql.bench.scoring.judging import Bench
from groundql.bench.studies.mutating import ENTRIES, ITEMS, Way, mutate
from groundql.bench.verdict import PROTOCOLS, STRICT
from groundql.core.catalog import Catalog
from groundql.core.path import Hop
from groundql.core.path import Path as StoredPath
from groundql.core.ports import Database
from groundql.core.program import MqlProgram
from groundql.errors import LoadError

HOPS: Final = {Hop.ITEMS: ITEMS, Hop.ENTRIES: ENTRIES}


@dataclass(frozen=True, slots=True)
class Probed:
    """One prediction on the stored data and on the exchanged one.

    `is_telling` says that the gold gave rows on the exchanged data, and others than on the stored data; only then can
    the test tell anything. `before` and `after` are whether the prediction is correct, by protocol.
    """

    id: CaseId
    solver: str
    is_telling: bool
    before: Mapping[str, bool]
    after: Mapping[str, bool]

    def is_flagged(self, protocol: str = STRICT) -> bool:
        """Whether it was right only on the stored data."""
        return self.is_telling and self.before[protocol] and not self.after[protocol]


async def probe(gold: Gold, predictions: Sequence[Prediction], stored: Database, other: Database) -> list[Probed]:
    """Judge one case's predictions on both databases, each against the gold's rows there."""
    here, there = Bench(stored, gold), Bench(other, gold)
    before, after = await here.run_gold(), await there.run_gold()
    is_telling = bool(after.records) and not after.error and list(after.records) != list(before.records)
    found: list[Probed] = []
    for prediction in predictions:
        ours, theirs = await here.judge(prediction), await there.judge(prediction)
        marks = [{p: one.verdicts[p].is_correct for p in PROTOCOLS} for one in (ours, theirs)]
        found.append(Probed(gold.id, prediction.solver, is_telling, marks[0], marks[1]))
    return found


async def exchanged(suite: Suite, name: str, database: Database, catalog: Catalog, folder: Path, seed: int) -> Suite:
    """Write a database anew with values exchanged, and return the suite with that file in its place.

    Raises: LoadError when a collection is too large to hold or cannot be read.
    """
    collections: dict[str, list[dict[str, Any]]] = {}
    for container in catalog.containers:
        ran = await run(database, MqlProgram(container.info.name, ({"$match": {}},)), LIMITS)
        if ran.error or ran.is_cut:
            raise LoadError(f"{name}.{container.info.name} cannot be exchanged: {ran.error or 'it is too large'}")
        maps = {_way(field.path) for field in container.fields if field.path.steps[-1:] == (Hop.ENTRIES,)}
        collections[container.info.name] = mutate(ran.records, maps, seed)
    file = folder / f"{name}.json"
    file.write_text(json_util.dumps(collections, json_options=json_util.CANONICAL_JSON_OPTIONS), encoding="utf-8")
    return replace(suite, sources={**suite.sources, name: file})


def _way(path: StoredPath) -> Way:
    return tuple(HOPS[step] if isinstance(step, Hop) else str(step) for step in path.steps[:-1])


def probed_rows(tested: Iterable[Probed]) -> list[dict[str, Any]]:
    """Add up per solver and protocol: how many are right, how many of those could be told, and how many are flagged."""
    by_solver: dict[str, list[Probed]] = {}
    for one in tested:
        by_solver.setdefault(one.solver, []).append(one)
    return [
        {
            "system": solver, "protocol": protocol, "tasks": len(found),
            "correct": sum(one.before[protocol] for one in found),
            "told": sum(one.before[protocol] and one.is_telling for one in found),
            "flagged": sum(one.is_flagged(protocol) for one in found),
        }
        for solver, found in by_solver.items()
        for protocol in PROTOCOLS
    ]  # fmt: skip
