"""Scoring against the document server: the ties that a probe finds in executed golds."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.database import Database

from groundql.bench.case import CaseId, Gold
from groundql.bench.prediction import Prediction
from groundql.bench.scoring.judging import Bench
from groundql.bench.verdict import STRICT, TEND_V1, Bucket
from groundql.databases.mongodb import MongoDatabase

pytestmark = [pytest.mark.anyio, pytest.mark.integration]
CASE = CaseId("shop", 1)
ROWS = [("a", 9), ("b", 5), ("c", 5), ("d", 5), ("e", 1)]
TOP = "db.c.aggregate([{$sort: {n: -1%s}}, {$limit: 3}, {$project: {_id: 0, k: 1}}])"


async def judged(uri: str, database: Database[dict[str, Any]], gold: str, prediction: str) -> dict[str, Bucket]:
    database["c"].insert_many([{"k": k, "n": n} for k, n in ROWS])
    opened = MongoDatabase(uri, database.name)
    try:
        bench = Bench(opened, Gold(CASE, gold, "?"))
        found = await bench.judge(Prediction(id=CASE, solver="s", mql=prediction))
    finally:
        await opened.close()
    return {protocol: verdict.bucket for protocol, verdict in found.verdicts.items()}


async def test_a_gold_that_decides_its_ties_takes_no_other_rows(
    mongo_uri: str, fresh_database: Database[dict[str, Any]]
) -> None:
    found = await judged(mongo_uri, fresh_database, TOP % ", k: 1", TOP % ", k: -1")
    assert found == {TEND_V1: Bucket.VALUE_MISMATCH, STRICT: Bucket.VALUE_MISMATCH}  # this gold decides its ties


async def test_a_gold_that_leaves_ties_open_takes_any_of_them(
    mongo_uri: str, fresh_database: Database[dict[str, Any]]
) -> None:
    found = await judged(mongo_uri, fresh_database, TOP % "", TOP % ", k: -1")
    assert found[STRICT] is Bucket.CORRECT


async def test_a_row_outside_the_tie_is_wrong(mongo_uri: str, fresh_database: Database[dict[str, Any]]) -> None:
    wrong = "db.c.find({k: {$in: ['a', 'b', 'e']}}, {_id: 0, k: 1}).sort({n: -1})"
    assert (await judged(mongo_uri, fresh_database, TOP % "", wrong))[STRICT] is Bucket.VALUE_MISMATCH
