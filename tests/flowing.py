"""Catalogs from a handful of documents, with the maps named by the test, so that no heuristic decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from groundql.core.catalog import (
    Catalog,
    Container,
    ContainerInfo,
    Field,
    KeyKind,
    KeySpace,
    Lengths,
    Sampling,
    StopReason,
)
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path, Step
from groundql.core.program import Claims, MqlProgram, Read
from groundql.languages.flow import analyse
from groundql.languages.flow.literals import kind_of

Documents = Iterable[Mapping[str, Any]]


class _Walk:
    """Count what stands at each path."""

    def __init__(self, maps: Collection[str]) -> None:
        self.maps = {Path.parse(text) for text in maps}
        self.kinds: dict[Path, Counter[Kind]] = {}
        self.parents: Counter[Path] = Counter()
        self.keys: dict[Path, Counter[str]] = {}
        self.lengths: dict[Path, list[int]] = {}

    def see(self, path: Path, value: Any) -> None:
        kind = kind_of(value)
        if path != ROOT:
            self.kinds.setdefault(path, Counter())[kind] += 1
        if kind is Kind.OBJECT:
            self.parents[path] += 1
            for name, part in value.items():
                step: Step = name
                if path in self.maps:
                    self.keys.setdefault(path, Counter())[name] += 1
                    step = ENTRIES
                self.see(path / step, part)
        elif kind is Kind.ARRAY:
            self.lengths.setdefault(path, []).append(len(value))
            for item in value:
                self.see(path / ITEMS, item)

    def field(self, path: Path, complete: bool) -> Field:
        kinds = self.kinds[path]
        count = sum(kinds.values())
        keys = self.keys.get(path)
        lengths = self.lengths.get(path)
        of_object = isinstance(path.last, str)
        return Field(
            path,
            tuple(kinds.most_common()),
            count,
            self.parents[path.parent] if of_object else count,
            count,
            lengths=Lengths(min(lengths), max(lengths), sum(lengths) / len(lengths)) if lengths else None,
            keys=KeySpace(KeyKind.WORD, tuple(keys), len(keys), complete) if keys else None,
        )


def container_of(name: str, documents: Documents, maps: Collection[str] = (), complete: bool = True) -> Container:
    walk = _Walk(maps)
    given = list(documents)
    for document in given:
        walk.see(ROOT, document)
    fields = tuple(walk.field(path, complete) for path in sorted(walk.kinds))
    count = len(given)
    total = count if complete else 10 * count
    stop = StopReason.EXHAUSTED if complete else StopReason.SATURATED
    return Container(ContainerInfo(name, documents=total), fields, Sampling(count, stop))


def catalog_of(containers: Mapping[str, Documents], maps: Collection[str] = (), complete: bool = True) -> Catalog:
    return Catalog("test", tuple(container_of(name, docs, maps, complete) for name, docs in containers.items()))


SHOP = catalog_of(
    {
        "orders": [
            {
                "_id": 1,
                "status": "paid",
                "customer": {"name": "Ann", "city": "Rome"},
                "lines": [{"sku": "a", "qty": 2, "tags": ["x", "y"]}, {"sku": "b", "qty": 1, "tags": []}],
                "labels": ["new", "gift"],
                "scores": {"2014": {"mean": 1.5, "n": 3}, "2015": {"mean": 2.5, "n": 4}},
                "total": 30,
                "product_id": 7,
            },
            {
                "_id": 2,
                "status": None,
                "customer": {"name": "Bob"},
                "lines": [{"sku": "a", "qty": 5, "tags": ["z"]}],
                "labels": [],
                "scores": {"2014": {"mean": 0.5, "n": 1}},
                "total": 5.5,
            },
        ],
        "products": [
            {"_id": 7, "name": "pen", "price": 3.0, "maker": {"name": "Inky"}},
            {"_id": 8, "name": "ink", "price": 9.0, "part_of": 7},
        ],
    },
    maps=["scores"],
)


def claims_of(*stages: Any, container: str = "orders", catalog: Catalog = SHOP) -> Claims:
    return analyse(MqlProgram(container, stages), catalog)


def read_of(claims: Claims, text: str) -> Read:
    """Return the last read written so."""
    return [r for r in claims.reads if r.text == text][-1]
