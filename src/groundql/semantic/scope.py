"""Where the values of a document can be read while a query is compiled: which hops are bound, and to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from groundql.core.catalog import Container
from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES, ROOT, Path
from groundql.semantic.ref import Ref, kinds_at

Expr: TypeAlias = Any
"""An aggregation expression, BSON-ready."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The expression for one item of an array or one entry of a map, and for the entry's key."""

    value: Expr
    key: Expr = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The hops that stand for one item or entry here. Shape: `bound` maps a hop's path (`a[]`, `m.<*>`) to it."""

    container: Container
    bound: Mapping[Path, Bound]

    @classmethod
    def of_documents(cls, container: Container) -> Scope:
        """Start at whole documents, nothing unwound."""
        return cls(container, {ROOT: Bound("$$ROOT")})

    def bind(self, hop: Path, bound: Bound) -> Scope:
        """Add one hop."""
        return replace(self, bound={**self.bound, hop: bound})

    def open_hop(self, ref: Ref) -> Path | None:
        """The outermost hop of a reference that is not bound, or None."""
        return next((hop for hop in ref.hops if hop not in self.bound), None)

    def value(self, ref: Ref) -> Expr:
        """Read a reference whose hops are all bound."""
        if ref.is_key:
            return self.bound[ref.path].key
        return self.at(ref.path)

    def at(self, path: Path) -> Expr:
        """Read a path whose hops are all bound."""
        base = next(p for p in (path, *reversed(list(path.ancestors()))) if p in self.bound)
        return read_fields(self.bound[base].value, [s for s in path.steps[len(base) :] if isinstance(s, str)])

    def members(self, hop: Path) -> Expr:
        """The list that a hop goes through, never null: an array's items, or a map's entries as {k, v}."""
        base = self.at(hop.parent)
        kinds = kinds_at(self.container, Ref(hop.parent))
        sure = self.container.is_exhaustive
        none: Expr = []
        nothing: Expr = {}
        if hop.last is ENTRIES:
            if sure and kinds <= {Kind.OBJECT} | NOTHING:
                return {"$objectToArray": {"$ifNull": [base, nothing]}}
            return {"$cond": [{"$eq": [{"$type": base}, "object"]}, {"$objectToArray": base}, none]}
        if sure and kinds <= {Kind.ARRAY} | NOTHING:
            return {"$ifNull": [base, none]}
        return {"$cond": [{"$isArray": [base]}, base, {"$cond": [{"$gt": [base, None]}, [base], none]}]}

    def step_into(self, hop: Path) -> tuple[str, Scope]:
        """Bind a hop to a variable of its own, for use inside `$map` or `$filter`; return the variable's name."""
        depth = sum(isinstance(b.value, str) and b.value.startswith("$$") for b in self.bound.values())
        name = ("entry" if hop.last is ENTRIES else "item") + (str(depth) if depth > 1 else "")
        bound = Bound(f"$${name}.v", f"$${name}.k") if hop.last is ENTRIES else Bound(f"$${name}")
        return name, self.bind(hop, bound)


def is_addressable(name: str) -> bool:
    """Tell whether a field name can stand in a dotted field path."""
    return bool(name) and "." not in name and not name.startswith("$") and "\0" not in name


def read_fields(base: Expr, names: Sequence[str]) -> Expr:
    """Write the expression that reads nested fields below a base."""
    for name in names:
        if isinstance(base, str) and is_addressable(name):
            base = f"${name}" if base == "$$ROOT" else f"{base}.{name}"
        else:
            base = {"$getField": {"field": {"$literal": name} if name.startswith("$") else name, "input": base}}
    return base


def field_name(expr: Expr) -> str | None:
    """The dotted field name that an expression reads from the current document, or None."""
    return expr[1:] if isinstance(expr, str) and expr.startswith("$") and not expr.startswith("$$") else None


def literal(value: Any) -> Expr:
    """Write a value so that no expression is read into it."""
    return {"$literal": value} if isinstance(value, str) and value.startswith("$") else value
