"""What the flow foresees of random programs over random documents, against what a server answers."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any

import pytest
from pymongo.database import Database as MongoDatabase
from pymongo.errors import OperationFailure

from flowing import catalog_of
from groundql.core.kind import NUMBERS, Kind
from groundql.core.program import MqlProgram, ReadStatus
from groundql.languages.flow import analyse
from groundql.languages.flow.literals import kind_of

LOST = frozenset({ReadStatus.ABSENT, ReadStatus.DROPPED, ReadStatus.EARLY, ReadStatus.KEY_AS_FIELD})
PATHS = ["a", "b", "c", "d", "a.a", "a.b", "b.c", "c.a", "d.b", "a.b.c", "_id", "b.a.a"]


class Maker:
    """Draw documents and programs over a handful of names, so that names meet and miss."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        chance = self.draw.random()
        if depth < 2 and chance < 0.18:
            return {name: self.value(depth + 1) for name in self.draw.sample("abc", self.draw.randint(0, 3))}
        if depth < 2 and chance < 0.36:
            return [self.value(depth + 1) for _ in range(self.draw.randint(0, 3))]
        return self.draw.choice([None, 1, 2.5, "x", "y", True, dt.datetime(2024, 1, 1), 7])

    def documents(self) -> list[dict[str, Any]]:
        return [
            {"_id": i} | {name: self.value() for name in "abcd" if self.draw.random() < 0.8}
            for i in range(self.draw.randint(1, 5))
        ]

    def reference(self) -> str:
        return "$" + self.draw.choice(PATHS)

    def array(self) -> Any:
        name = self.reference()
        return {"$cond": [{"$isArray": [name]}, name, []]}

    def object(self) -> Any:
        name = self.reference()
        return {"$cond": [{"$eq": [{"$type": name}, "object"]}, name, {}]}

    def expression(self, depth: int = 0) -> Any:
        if depth > 2 or self.draw.random() < 0.3:
            return self.reference() if self.draw.random() < 0.8 else self.draw.choice([1, "z", None, [1, "q"]])
        e = lambda: self.expression(depth + 1)  # noqa: E731
        made: list[Callable[[], Any]] = [
            lambda: {"$ifNull": [e(), e()]},
            lambda: {"$cond": [e(), e(), e()]},
            lambda: {"$concatArrays": [self.array(), [e()]]},
            lambda: {"$type": e()},
            lambda: {"$eq": [e(), e()]},
            lambda: {"$mergeObjects": [self.object(), {"n": e()}]},
            lambda: {"x": e(), "y": e()},
            lambda: [e(), e()],
            lambda: {"$max": e()},
            lambda: {"$min": [e(), e()]},
            lambda: {"$sum": e()},
            lambda: {"$avg": e()},
            lambda: {"$map": {"input": self.array(), "in": self.draw.choice(["$$this", "$$this.a", {"q": "$$this"}])}},
            lambda: {"$filter": {"input": self.array(), "cond": {"$ne": ["$$this", 1]}}},
            lambda: {"$let": {"vars": {"v": e()}, "in": self.draw.choice(["$$v", "$$v.a"])}},
            lambda: {"$switch": {"branches": [{"case": e(), "then": e()}], "default": e()}},
            lambda: {"$first": self.array()},
            lambda: {"$objectToArray": self.object()},
        ]
        return self.draw.choice(made)()

    def stage(self) -> dict[str, Any]:
        pick = self.draw.choice
        name, path = pick(["a", "b", "x", "y"]), pick(PATHS)
        made: list[Callable[[], dict[str, Any]]] = [
            lambda: {"$unwind": self.reference()},
            lambda: {"$unwind": {"path": self.reference(), "preserveNullAndEmptyArrays": True,
                                 "includeArrayIndex": "i"}},
            lambda: {"$set": {name: self.expression()}},
            lambda: {"$project": {path: 1, "z": self.expression()}},
            lambda: {"$project": {path: 0}},
            lambda: {"$unset": path},
            lambda: {"$group": {"_id": pick([self.expression(), {"k": self.expression()}, None]),
                                name: {pick(["$sum", "$avg", "$min", "$max", "$first", "$last", "$push", "$addToSet"]):
                                       self.expression()}}},
            lambda: {"$replaceWith": {"p": self.expression(), "q": "$$ROOT"}},
            lambda: {"$match": {path: pick([1, None, {"$exists": True}, {"$ne": "x"}])}},
            lambda: {"$sort": {path: 1}},
            lambda: {"$lookup": {"from": "c", "localField": path, "foreignField": pick(PATHS), "as": pick(["j", "a"])}},
            lambda: {"$sortByCount": self.expression()},
            lambda: {"$unionWith": {"coll": "c", "pipeline": [{"$project": {path: 1}}]}},
        ]  # fmt: skip
        return self.draw.choice(made)()


@pytest.mark.parametrize("seed", range(24))
def test_what_a_random_program_returns_was_foreseen(fresh_database: MongoDatabase[dict[str, Any]], seed: int) -> None:
    maker = Maker(seed)
    documents = maker.documents()
    fresh_database.c.insert_many(documents)
    catalog = catalog_of({"c": documents})
    ran = 0
    for _ in range(6):
        pipeline = [maker.stage() for _ in range(maker.draw.randint(1, 4))]
        try:
            rows = list(fresh_database.c.aggregate(pipeline))
        except OperationFailure:
            continue  # a program that the server refuses is another check's matter
        ran += 1
        claims = analyse(MqlProgram("c", tuple(pipeline)), catalog)
        if claims.output_kinds is not None:
            for row in rows:
                assert set(row) <= set(claims.output_kinds), (pipeline, documents)
                for name, kinds in claims.output_kinds.items():
                    kind = kind_of(row[name]) if name in row else Kind.MISSING
                    assert kind in kinds or (kind in NUMBERS and kinds & NUMBERS), (name, kind, pipeline, documents)
        for read in claims.reads:
            if read.status in LOST and not read.text.startswith("$$") and "foreignField" not in read.place.pointer:
                before = pipeline[: read.place.stage]
                there = {"$match": {read.text.lstrip("$"): {"$exists": True}}}
                if "pipeline" in read.place.pointer:
                    before = []
                assert not list(fresh_database.c.aggregate([*before, there])), (read, pipeline, documents)
    assert ran
