"""Score predictions against a suite: case by case, streaming, and going on where it was stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from groundql.bench.case import CaseId, Suite
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.canonical import Record
from groundql.bench.scoring.judging import Bench, Judged
from groundql.bench.scoring.ledger import Ledger, mark_of
from groundql.bench.scoring.tend_v1 import Rules
from groundql.bench.verdict import PROTOCOLS, Bucket, Scored, Verdict
from groundql.core.ports import Database

EDITION: Final = 1
"""Counts up when a rule changes, so that earlier verdicts are not taken for today's."""
MISSING: Final = "missing"


class Databases(Protocol):
    """Whatever opens the databases of a suite by name."""

    async def database(self, name: str) -> Database:
        """Open a database, or return it when it is open."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A prediction to be scored. `occurrence` counts earlier ones of the same solver, case and repeat."""

    prediction: Prediction
    occurrence: int = 0


@dataclass(slots=True)
class Scoring:
    """Score predictions by the given protocols.

    `folder` is where verdicts and rows are kept; what it holds is not judged again, unless the gold, the prediction or
    a rule changed. `on_case` is told how many cases of how many are done.
    """

    suite: Suite
    databases: Databases
    protocols: Sequence[str] = PROTOCOLS
    rules: Rules = Rules()
    folder: Path | None = None
    on_case: Callable[[int, int], None] | None = None
    gold_problems: dict[CaseId, str] = field(default_factory=dict[CaseId, str])
    """Filled while scoring: the cases whose gold gave no rows to judge by, and why."""

    async def score(self, predictions: Iterable[Prediction]) -> AsyncIterator[Scored]:
        """Give every verdict as it is reached: the suite's cases in order, then what names no case of it.

        Raises: the `DatabaseError` family when a database cannot be reached, LoadError when it cannot be opened.
        """
        by_case, unknown = arrange(self.suite, predictions)
        ledger, finished = Ledger(self.folder), list[tuple[Scored, str]]()
        for index, (case, entries) in enumerate(by_case.items()):
            scored = await self._score_case(case, entries, ledger)
            finished += scored
            if self.on_case:
                self.on_case(index + 1, len(by_case))
            for verdict, _ in scored:
                yield verdict
        strangers = [(self._stranger(entry), self._mark(entry)) for entry in unknown]
        for verdict, _ in strangers:
            yield verdict
        ledger.finish([*finished, *strangers])

    async def _score_case(self, case: CaseId, entries: Sequence[Entry], ledger: Ledger) -> list[tuple[Scored, str]]:
        marks = [self._mark(entry) for entry in entries]
        known = [ledger.find(mark) for mark in marks]
        if all(scored and scored.verdicts.keys() >= set(self.protocols) for scored in known):
            return [(scored, mark) for scored, mark in zip(known, marks, strict=True) if scored]
        judged, gold = await self._judge_case(case, entries)
        scored = [_scored(entry, verdicts, len(gold.records)) for entry, verdicts in zip(entries, judged, strict=True)]
        ledger.keep_rows(case, _results(entries, judged, gold.records))
        done = list(zip(scored, marks, strict=True))
        ledger.append(done)
        return done

    async def _judge_case(self, case: CaseId, entries: Sequence[Entry]) -> tuple[list[Judged], Any]:
        database = await self.databases.database(case.database)
        bench = Bench(database, self.suite.golds[case], self.rules, self.protocols)
        gold = await bench.run_gold()
        if gold.error:
            self.gold_problems[case] = gold.error
        return [await bench.judge(entry.prediction) for entry in entries], gold

    def _mark(self, entry: Entry) -> str:
        prediction, gold = entry.prediction, self.suite.golds.get(entry.prediction.id)
        return mark_of(
            EDITION, str(self.rules), gold.mql if gold else "", *prediction.id,
            prediction.solver, prediction.repeat, entry.occurrence, prediction.mql, prediction.failure,
        )  # fmt: skip

    def _stranger(self, entry: Entry) -> Scored:
        verdict = Verdict(Bucket.NO_SUBMISSION, 0.0, f"{self.suite.name} has no record {entry.prediction.id}")
        return _scored(entry, Judged(dict.fromkeys(self.protocols, verdict)), 0)


def arrange(suite: Suite, predictions: Iterable[Prediction]) -> tuple[dict[CaseId, list[Entry]], list[Entry]]:
    """Lay predictions out by case, in the suite's order, and apart those that name no case of it.

    A solver that handed in nothing for a case gets an empty prediction for it, once per repeat it made.
    """
    by_case: dict[CaseId, list[Entry]] = {case.id: [] for case in suite.cases}
    counted, unknown, solvers = dict[tuple[Any, ...], int](), list[Entry](), dict[tuple[str, int], None]()
    for prediction in predictions:
        key = prediction.id, prediction.solver, prediction.repeat
        entry = Entry(prediction, counted.get(key, 0))
        counted[key] = entry.occurrence + 1
        solvers[prediction.solver, prediction.repeat] = None
        by_case.get(prediction.id, unknown).append(entry)
    for case, entries in by_case.items():
        for solver, repeat in solvers:
            if (case, solver, repeat) not in counted:
                entries.append(Entry(Prediction(id=case, solver=solver, failure=MISSING, repeat=repeat)))
    return by_case, unknown


def _scored(entry: Entry, judged: Judged, gold_rows: int) -> Scored:
    prediction, ran = entry.prediction, judged.ran
    return Scored(
        prediction.id,
        prediction.solver,
        judged.verdicts,
        gold_rows,
        None if ran is None else len(ran.records),
        prediction.repeat,
        entry.occurrence,
    )


def _results(
    entries: Sequence[Entry], judged: Sequence[Judged], gold: Sequence[Record]
) -> list[tuple[Mapping[str, Any], Sequence[Record]]]:
    found: list[tuple[Mapping[str, Any], Sequence[Record]]] = [({"of": "gold"}, gold)]
    for entry, one in zip(entries, judged, strict=True):
        if one.ran is not None:
            label = {"system": entry.prediction.solver, "repeat": entry.prediction.repeat}
            found.append(({"of": "prediction", **label, "occurrence": entry.occurrence}, one.ran.records))
    return found


def narrowed_to(suite: Suite, ids: Iterable[CaseId]) -> Suite:
    """Keep the cases of these ids only: the ones that a run set out to answer."""
    wanted = set(ids)
    return replace(suite, cases=tuple(case for case in suite.cases if case.id in wanted))
