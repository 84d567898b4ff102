"""Catalogs made from a few documents, for tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo
from groundql.core.ports import Description, Draw
from groundql.core.program import Admitted
from groundql.core.rows import Limits, Rows
from groundql.grounding.grounder import assemble
from groundql.grounding.index import ValueIndex
from groundql.grounding.profile import Profile, Profiler
from groundql.grounding.terms import read_terms
from groundql.grounding.values import find_witnesses

TODAY = dt.date(2024, 3, 31)


def profile_of(name: str, documents: Iterable[Mapping[str, Any]]) -> Profile:
    kept = list(documents)
    profiler = Profiler(ContainerInfo(name, documents=len(kept)))
    for document in kept:
        profiler.add(document)
    return profiler.finish()


@dataclass(frozen=True)
class World:
    catalog: Catalog
    index: ValueIndex
    profiles: tuple[Profile, ...] = ()

    async def ground(self, text: str, **more: Any) -> Grounding:
        question = Question(text, today=TODAY, **more)
        witnesses, missing = await find_witnesses(question, self.catalog, self.index, None)
        return Grounding(question, self.catalog, witnesses, missing, read_terms(question).relative_dates)


def world_of(**containers: Iterable[Mapping[str, Any]]) -> World:
    profiles = tuple(profile_of(name, documents) for name, documents in containers.items())
    stored = assemble(Description("shop", "MongoDB", "8.0", ()), profiles)
    return World(stored.catalog, ValueIndex.build(stored.values), profiles)


def orders(count: int = 40) -> list[dict[str, Any]]:
    cities = ("New York", "MANHATTAN", "São Paulo", "Berlin")
    return [
        {
            "_id": f"order:{i}",
            "status": ("open", "closed", "on_hold")[i % 3],
            "city": cities[i % 4],
            "sku": f"A-{10 + i % 5}",
            "placed": dt.datetime(2024, 1 + i % 3, 1 + i % 28, tzinfo=dt.UTC),
            "day": f"2024-{1 + i % 3:02}-{1 + i % 28:02}",
            "total": 10 * i,
            "season": 2000 + i % 4,
            "customer_id": f"customer:{i % 7}",
            "by_year": {str(year): {"paid": i} for year in range(2010, 2014 + i % 3)},
        }
        for i in range(count)
    ]


def customers() -> list[dict[str, Any]]:
    names = ("Ann Lee", "Bob Day", "Cleo Fox", "Dan Poe", "Eve Ray", "Finn Roe", "Gus Orr")
    return [{"_id": f"customer:{i}", "name": name, "vip": i % 2 == 0} for i, name in enumerate(names)]


def shop() -> World:
    return world_of(orders=orders(), customers=customers())


@dataclass
class CannedDatabase:
    """A database that answers every program with the same records, or raises."""

    records: tuple[Mapping[str, Any], ...] = ()
    error: Exception | None = None
    description: Description = field(default_factory=lambda: Description("shop", "MongoDB", "8.0", ()))
    programs: list[Any] = field(default_factory=list[Any])
    dialect: str = "mongodb"

    async def describe(self) -> Description:
        return self.description

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        for record in self.records[:size]:
            yield record

    async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
        self.programs.append(admitted.program)
        if self.error:
            raise self.error
        return Rows(self.records)

    async def close(self) -> None: ...
