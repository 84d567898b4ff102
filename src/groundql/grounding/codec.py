"""A grounding as JSON-ready data and back: the catalog, and the stored values behind it, nothing lost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from groundql.core.catalog import (
    Catalog,
    Container,
    ContainerInfo,
    ContainerType,
    Counted,
    DateRange,
    Edge,
    Field,
    KeyKind,
    KeySpace,
    Lengths,
    NumberRange,
    Sampling,
    StopReason,
    Variant,
)
from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.errors import GroundingError
from groundql.grounding.ejson import from_ejson, to_ejson
from groundql.grounding.profile import StoredValues

FORMAT: Final = 2
"""Raised with every change of the form; a file of another format is built anew, never guessed at."""


@dataclass(frozen=True)
class StoredGrounding:
    """What is kept of one database: the catalog, and the stored values that the value index is built from."""

    catalog: Catalog
    values: tuple[StoredValues, ...]


def to_data(grounding: StoredGrounding) -> dict[str, Any]:
    """Return JSON-ready data."""
    catalog = grounding.catalog
    return {
        "format": FORMAT,
        "fingerprint": catalog.fingerprint,
        "database": catalog.database,
        "server": catalog.server,
        "created": catalog.created.isoformat() if catalog.created else None,
        "containers": [_container_data(c) for c in catalog.containers],
        "edges": [
            [e.container, str(e.path), e.to_container, str(e.to_path), e.hit_share, e.fan_out, e.is_key]
            for e in catalog.edges
        ],
        "values": [
            [v.container, str(v.path), v.is_key, v.complete, v.distinct, [[to_ejson(x), n] for x, n in v.counts]]
            for v in grounding.values
        ],
    }


def from_data(data: Any) -> StoredGrounding:
    """Read what `to_data` wrote.

    Raises: GroundingError on another format or damaged data.
    """
    found: Mapping[str, Any] = cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}
    if found.get("format") != FORMAT:
        raise GroundingError("the stored grounding has another format")
    try:
        return StoredGrounding(_catalog(found), tuple(_stored(v) for v in found["values"]))
    except Exception as error:  # a damaged file can fail in any way: paths and BSON values have errors of their own
        raise GroundingError(f"the stored grounding is damaged ({type(error).__name__})") from error


def _catalog(data: Mapping[str, Any]) -> Catalog:
    return Catalog(
        data["database"],
        tuple(_container(c) for c in data["containers"]),
        data["fingerprint"],
        tuple(Edge(a, Path.parse(p), b, Path.parse(q), *rest) for a, p, b, q, *rest in data["edges"]),
        data["server"],
        dt.datetime.fromisoformat(data["created"]) if data["created"] else None,
    )


def _stored(data: list[Any]) -> StoredValues:
    container, path, is_key, complete, distinct, counts = data
    values = tuple((from_ejson(value), int(count)) for value, count in counts)
    return StoredValues(container, Path.parse(path), is_key, values, complete, distinct)


def _container_data(container: Container) -> dict[str, Any]:
    info, sampling = container.info, container.sampling
    return {
        "name": info.name,
        "type": info.type.value,
        "documents": info.documents,
        "mean_bytes": info.mean_bytes,
        "indexes": list(info.indexes),
        "info_error": info.error,
        "error": container.error,
        "sampling": [
            sampling.documents, sampling.stop.value, sampling.unseen_share, sampling.read_bytes, sampling.elapsed_s,
        ],
        "fields": [_field_data(f) for f in container.fields],
        "variants": [
            [str(v.base), str(v.path), to_ejson(v.value), v.share, [str(p) for p in v.only], [str(p) for p in v.absent]]
            for v in container.variants
        ],
    }  # fmt: skip


def _container(data: Mapping[str, Any]) -> Container:
    documents, stop, unseen, read_bytes, elapsed_s = data["sampling"]
    return Container(
        ContainerInfo(
            data["name"],
            ContainerType(data["type"]),
            data["documents"],
            data["mean_bytes"],
            tuple(data["indexes"]),
            data["info_error"],
        ),
        tuple(_field(f) for f in data["fields"]),
        Sampling(documents, StopReason(stop), unseen, read_bytes, elapsed_s),
        tuple(
            Variant(Path.parse(b), Path.parse(p), from_ejson(v), share, _paths(only), _paths(absent))
            for b, p, v, share, only, absent in data["variants"]
        ),
        data["error"],
    )


def _paths(texts: list[str]) -> tuple[Path, ...]:
    return tuple(Path.parse(text) for text in texts)


def _field_data(field: Field) -> dict[str, Any]:
    lengths, numbers, dates, keys = field.lengths, field.numbers, field.dates, field.keys
    data: dict[str, Any] = {
        "path": str(field.path),
        "kinds": [[kind.value, count] for kind, count in field.kinds],
        "seen": [field.count, field.parents, field.documents],
        "lengths": [lengths.low, lengths.high, lengths.mean] if lengths else None,
        "numbers": [to_ejson(numbers.low), to_ejson(numbers.high)] if numbers else None,
        "dates": [dates.low.isoformat(), dates.high.isoformat()] if dates else None,
        "keys": _keys_data(keys) if keys else None,
        "values": [to_ejson(v) for v in field.values],
        "distinct": field.distinct,
        "complete": field.complete,
        "folded": field.folded,
        "declared": field.declared,
        "comment": field.comment,
        "counted": field.counted.value,
        "non_finite": [list(odd) for odd in field.non_finite],
    }
    return {key: value for key, value in data.items() if value or key in {"path", "kinds", "seen"}}


def _field(data: Mapping[str, Any]) -> Field:
    count, parents, documents = data["seen"]
    numbers, dates, keys = data.get("numbers"), data.get("dates"), data.get("keys")
    return Field(
        Path.parse(data["path"]),
        tuple((Kind(kind), n) for kind, n in data["kinds"]),
        count,
        parents,
        documents,
        Lengths(*data["lengths"]) if data.get("lengths") else None,
        NumberRange(*map(_number, numbers)) if numbers else None,
        DateRange(*map(dt.datetime.fromisoformat, dates)) if dates else None,
        _keys(keys) if keys else None,
        tuple(from_ejson(v) for v in data.get("values", ())),
        data.get("distinct", 0),
        data.get("complete", False),
        data.get("folded", False),
        data.get("declared", ""),
        data.get("comment", ""),
        Counted(data["counted"]),
        tuple((name, count) for name, count in data.get("non_finite", ())),
    )


def _keys_data(keys: KeySpace) -> list[Any]:
    return [keys.kind.value, list(keys.examples), keys.distinct, keys.complete, keys.mean, keys.counted.value]


def _keys(data: list[Any]) -> KeySpace:
    kind, examples, distinct, complete, mean, counted = data
    return KeySpace(KeyKind(kind), tuple(examples), distinct, complete, mean, Counted(counted))


def _number(data: Any) -> Any:
    return from_ejson(data)
