"""Build a catalog by walking documents in full; the map paths are told, not guessed."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bson import Decimal128, Int64, ObjectId

from groundql.core.catalog import (
    Catalog,
    Container,
    ContainerInfo,
    DateRange,
    Field,
    KeyKind,
    KeySpace,
    NumberRange,
    Sampling,
    StopReason,
)
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, ROOT, Path

KINDS = (
    (bool, Kind.BOOL),
    (Int64, Kind.LONG),
    (int, Kind.INT),
    (float, Kind.DOUBLE),
    (Decimal128, Kind.DECIMAL),
    (str, Kind.STRING),
    (dt.datetime, Kind.DATE),
    (ObjectId, Kind.OBJECT_ID),
    (Mapping, Kind.OBJECT),
    (list, Kind.ARRAY),
)


def kind_of(value: object) -> Kind:
    if value is None:
        return Kind.NULL
    return next(kind for cls, kind in KINDS if isinstance(value, cls))


def container_of(
    name: str, documents: Sequence[Mapping[str, Any]], maps: Iterable[str] = (), *, exhaustive: bool = True
) -> Container:
    map_paths = {Path.parse(text) for text in maps}
    kinds: dict[Path, Counter[Kind]] = defaultdict(Counter)
    seen_in: dict[Path, set[int]] = defaultdict(set)
    keys: dict[Path, Counter[str]] = defaultdict(Counter)
    values: dict[Path, Counter[Any]] = defaultdict(Counter)
    objects: Counter[Path] = Counter()

    def walk(value: object, path: Path, number: int) -> None:
        kinds[path][kind_of(value)] += 1
        seen_in[path].add(number)
        if isinstance(value, Mapping):
            objects[path] += 1
            for key, inner in value.items():
                if path in map_paths:
                    keys[path][key] += 1
                walk(inner, path / (ENTRIES if path in map_paths else key), number)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, path / ITEMS, number)
        elif value is not None and not isinstance(value, Decimal128):
            values[path][value] += 1

    for number, document in enumerate(documents):
        walk(document, ROOT, number)
    fields: list[Field] = []
    for path in sorted(kinds):
        count = sum(kinds[path].values())
        parents = count if not path.steps or path.last in (ITEMS, ENTRIES) else objects[path.parent]
        space = None
        if path in map_paths:
            examples = tuple(k for k, _ in keys[path].most_common())
            space = KeySpace(KeyKind.WORD, examples, len(examples), complete=exhaustive)
        fields.append(
            Field(
                path,
                tuple(kinds[path].most_common()),
                count,
                parents,
                len(seen_in[path]),
                numbers=_range(NumberRange, [v for v in values[path] if isinstance(v, int | float) and v == v]),
                dates=_range(DateRange, [v for v in values[path] if isinstance(v, dt.datetime)]),
                keys=space,
                values=tuple(v for v, _ in values[path].most_common(20)),
                distinct=len(values[path]),
                complete=exhaustive and len(values[path]) <= 20,
            )
        )
    stop = StopReason.EXHAUSTED if exhaustive else StopReason.SATURATED
    return Container(ContainerInfo(name, documents=len(documents)), tuple(fields), Sampling(len(documents), stop))


def _range(make: Any, found: list[Any]) -> Any:
    return make(min(found), max(found)) if found else None


def catalog_of(*containers: Container) -> Catalog:
    return Catalog("test", containers)
