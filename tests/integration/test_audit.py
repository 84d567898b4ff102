"""Doctored tasks on a small database: each fault is named, and a fair task is left alone."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pymongo import MongoClient

from groundql.bench.audit import Audit, Check, audit_task
from groundql.bench.case import CaseId, Gold
from groundql.core.answer import Question
from groundql.databases.mongodb import MongoDatabase
from groundql.grounding.drawing import SamplePolicy
from groundql.grounding.grounder import open_grounding

SHOPS: list[dict[str, Any]] = [
    {"_id": n, "name": f"Shop {n}", "kind": ("bakery", "cafe", "bar")[n % 3], "country": "DE" if n < 8 else "FR",
     "rating": n % 4, "staff": n + 1, "tags": ["open", "new"][: n % 3], "sales": {"2020": n * 10, "2021": n}}
    for n in range(12)
]  # fmt: skip
COUNTRIES = [{"_id": "DE", "name": "Germany"}, {"_id": "FR", "name": "France"}]


@pytest.fixture(scope="module")
def shops_uri(mongo_uri: str, mongo_client: MongoClient[dict[str, Any]]) -> Iterator[str]:
    name = f"groundql_test_{uuid.uuid4().hex[:12]}"
    mongo_client[name].shops.insert_many(SHOPS)
    mongo_client[name].countries.insert_many(COUNTRIES)
    before, mark, options = mongo_uri.partition("?")
    scheme, _, rest = before.partition("://")
    yield f"{scheme}://{rest.split('/')[0]}/{name}{mark}{options}"
    mongo_client.drop_database(name)


@pytest.fixture
async def database(shops_uri: str) -> AsyncIterator[MongoDatabase]:
    opened = MongoDatabase(shops_uri)
    yield opened
    await opened.close()


async def audit(database: MongoDatabase, question: str, pipeline: str, *, mutants: bool = False) -> Audit:
    gold = Gold(CaseId("shops", 1), f"db.shops.aggregate({pipeline})", question)
    grounder = await open_grounding(database, None, SamplePolicy())
    return await audit_task(gold, await grounder.ground(Question(question)), database, with_mutants=mutants)


FAIR = [
    ("How many bakeries are there? Return count.", '[{"$match":{"kind":"bakery"}},{"$count":"count"}]'),
    ("How many shops are there in Germany? Return count.", '[{"$match":{"country":"DE"}},{"$count":"count"}]'),
    (
        "Which three shops have the best rating? Return name and rating, best first, equal ones by name.",
        '[{"$sort":{"rating":-1,"name":1}},{"$limit":3},{"$project":{"_id":0,"name":1,"rating":1}}]',
    ),
    (
        "Which shops have at least ten staff? Return the name, sorted by name.",
        '[{"$match":{"staff":{"$gte":10}}},{"$sort":{"name":1}},{"$project":{"_id":0,"name":1}}]',
    ),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("question", "pipeline"), FAIR)
async def test_a_fair_task_is_decidable(database: MongoDatabase, question: str, pipeline: str) -> None:
    found = await audit(database, question, pipeline)
    assert found.is_decidable, found.reasons
    assert found.is_sound, found.remarks


FAULTY = [
    (Check.CONSTANT, "How many are liked? Return count.", '[{"$match":{"rating":{"$gte":2}}},{"$count":"count"}]'),
    (Check.CONSTANT, "How many shops are there? Return count.", '[{"$match":{"kind":"bakery"}},{"$count":"count"}]'),
    (
        Check.CONSTANT,
        "Which shop sold most? Return name and sold, most first.",
        '[{"$sort":{"sales.2020":-1}},{"$limit":1},{"$project":{"_id":0,"name":1,"sold":"$sales.2020"}}]',
    ),
    (
        Check.TIE,
        "Which three shops have the best rating? Return name and rating, best first.",
        '[{"$sort":{"rating":-1,"name":1}},{"$limit":3},{"$project":{"_id":0,"name":1,"rating":1}}]',
    ),
    (
        Check.CUT,
        "Which four shops have the best rating? Return name and rating, best first.",
        '[{"$sort":{"rating":-1}},{"$limit":4},{"$project":{"_id":0,"name":1,"rating":1}}]',
    ),
    (
        Check.LIMIT,
        "Which shops have the most staff? Return name, most staff first.",
        '[{"$sort":{"staff":-1}},{"$limit":7},{"$project":{"_id":0,"name":1}}]',
    ),
    (
        Check.ORDER,
        "Return the name of every bakery.",
        '[{"$match":{"kind":"bakery"}},{"$sort":{"staff":-1}},{"$project":{"_id":0,"name":1}}]',
    ),
    (
        Check.LABEL,
        "Is each shop busy, by staff above five? Return name and busy, sorted by name.",
        '[{"$project":{"_id":0,"name":1,"busy":{"$cond":[{"$gt":["$staff",5]},"A","B"]}}},{"$sort":{"name":1}}]',
    ),
    (
        Check.COLUMN,
        "Return the name of each bakery, sorted by name.",
        '[{"$match":{"kind":"bakery"}},{"$sort":{"name":1}},{"$project":{"_id":0,"name":1,"staff":1}}]',
    ),
    (Check.ZERO, "What is the sum of tags over all shops? Return total.",
     '[{"$group":{"_id":null,"total":{"$sum":"$tags"}}},{"$project":{"_id":0}}]'),
    (Check.KIND, "How many shops have more than 5 tags? Return count.",
     '[{"$match":{"$expr":{"$gt":["$tags",5]}}},{"$count":"count"}]'),
    (Check.PATH, "Count the shops with an owner. Return count.",
     '[{"$group":{"_id":"$owner.name","count":{"$sum":1}}},{"$project":{"_id":0}}]'),
    (Check.EMPTY, "How many shops are pubs? Return count.", '[{"$match":{"kind":"pub"}},{"$count":"count"}]'),
    (Check.RUNS, "How many shops are pubs? Return count.", '[{"$match":{"kind":{"$nope":1}}},{"$count":"count"}]'),
    (
        Check.ARRAY_ORDER,
        "For each kind, the names of its shops: return kind and names, sorted by kind.",
        '[{"$group":{"_id":"$kind","names":{"$push":"$name"}}},{"$sort":{"_id":1}},'
        '{"$project":{"_id":0,"kind":"$_id","names":1}}]',
    ),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(("check", "question", "pipeline"), FAULTY, ids=[f"{n}-{f[0]}" for n, f in enumerate(FAULTY)])
async def test_a_fault_is_named(database: MongoDatabase, check: Check, question: str, pipeline: str) -> None:
    found = await audit(database, question, pipeline)
    assert check in {remark.check for remark in found.remarks}, found.remarks
    assert not (found.is_decidable and found.is_sound)


@pytest.mark.anyio
async def test_a_mutant_that_the_data_does_not_tell_apart_is_reported(database: MongoDatabase) -> None:
    question = "Which shops have at least ten staff, but not 20? Return the name, sorted by name."
    pipeline = '[{"$match":{"staff":{"$gte":10,"$ne":20}}},{"$sort":{"name":1}},{"$project":{"_id":0,"name":1}}]'
    found = await audit(database, question, pipeline, mutants=True)
    assert any("20" in str(mutant) for mutant in found.survivors)
    assert len(found.survivors) < found.mutants
