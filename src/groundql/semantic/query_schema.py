"""The JSON schema of a query, with real paths as closed enumerations, for models that draft it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from groundql.core.catalog import Catalog, Container, Field
from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES, ITEMS
from groundql.semantic.ref import Ref

MAX_PATHS: Final = 80
MAX_LIMIT: Final = 1000
_VALUE_OPS: Final = ("eq", "ne", "gt", "gte", "lt", "lte", "contains", "starts_with")
_LIST_OPS: Final = ("in", "not_in", "between")
_BARE_OPS: Final = ("exists", "missing")
_METRICS: Final = ("count", "count_distinct", "sum", "avg", "min", "max", "list_distinct")
_SCALAR: Final[dict[str, Any]] = {"type": ["string", "number", "boolean"]}


def query_schema(
    catalog: Catalog, containers: Sequence[str] | None = None, paths: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Write the JSON schema of a query: per container its real paths, at most `MAX_PATHS` of them.

    `paths` narrows a container's references to those that are listed for it.
    """
    names = list(catalog.by_name) if containers is None else list(dict.fromkeys(containers))
    chosen = [c for name in names if (c := catalog.get(name)) and c.is_known]
    shapes = [_query(c, list((paths or {}).get(c.name, ())) or _paths(c)) for c in chosen]
    return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}


def usable_refs(container: Container) -> list[Ref]:
    """List the references a query is likely to read: scalar values, items, and keys of maps; often present first."""
    ranked: list[tuple[float, int, Ref]] = []
    for place, found in enumerate(container.fields):
        for ref in _refs(found, container):
            ranked.append((-found.documents, place, ref))
    return [ref for _, _, ref in sorted(ranked, key=lambda r: (r[0], r[1]))]


def _refs(found: Field, container: Container) -> Iterable[Ref]:
    path = found.path
    if not path.steps:
        return
    kinds = found.kind_set - NOTHING
    if path.last is ENTRIES:
        yield Ref(path, is_key=True)
    holds_objects = path.last is ITEMS and Kind.ARRAY not in kinds and bool(container.children(path))
    if holds_objects or kinds - {Kind.OBJECT, Kind.ARRAY}:
        yield Ref(path)


def _paths(container: Container) -> list[str]:
    return [str(ref) for ref in usable_refs(container)][:MAX_PATHS] or ["_id"]


def _query(container: Container, paths: list[str]) -> dict[str, Any]:
    path = {"enum": paths}
    filters = {"type": "array", "items": _filter(path), "maxItems": 4}
    metric = {
        "anyOf": [
            _object({"op": {"const": "count"}}),
            _object({"op": {"enum": list(_METRICS)}, "path": path}),
        ]
    }
    order = _object({"by": {"type": "string", "maxLength": 80}, "desc": {"type": "boolean"}})
    having = _object(
        {"by": {"type": "string", "maxLength": 80}, "op": {"enum": list(_VALUE_OPS[:6])}, "value": {"type": "number"}}
    )
    parts: dict[str, Any] = {
        "container": {"const": container.name},
        "filters": filters,
        "group_by": {"type": "array", "items": path, "maxItems": 3},
        "metrics": {"type": "array", "items": metric, "maxItems": 3},
        "select": {"type": "array", "items": path, "maxItems": 5},
        "having": {"type": "array", "items": having, "maxItems": 2},
        "order_by": {"type": "array", "items": order, "maxItems": 2},
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
        "distinct": {"type": "boolean"},
    }
    return {"type": "object", "properties": parts, "required": ["container"], "additionalProperties": False}


def _filter(path: dict[str, Any]) -> dict[str, Any]:
    listed = {"type": "array", "items": _SCALAR, "minItems": 1, "maxItems": 8}
    return {
        "anyOf": [
            _object({"path": path, "op": {"enum": list(_VALUE_OPS)}, "value": _SCALAR}),
            _object({"path": path, "op": {"enum": list(_LIST_OPS)}, "value": listed}),
            _object({"path": path, "op": {"enum": list(_BARE_OPS)}}),
        ]
    }


def _object(parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
