"""The type of an aggregation expression, with every field it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from groundql.core.kind import Kind
from groundql.core.program import Read, ReadStatus
from groundql.languages.flow.context import MAX_DEPTH, Context
from groundql.languages.flow.literals import as_list, as_object, literal_type, operator_of
from groundql.languages.flow.reading import read_below, read_field
from groundql.languages.flow.results import OPAQUE, TABLED, table_result
from groundql.languages.flow.types import ABSENT, ANY, Type, array_of, computed, nullable, record, unite_all

Handler = Callable[[Context, str, Any], Type]
"""(place, operator, its argument) -> the type of the result."""

_handlers: Final[dict[str, Handler]] = {}


def handles(*operators: str) -> Callable[[Handler], Handler]:
    """Register the handler of operators whose result needs more than a table."""

    def register(handler: Handler) -> Handler:
        _handlers.update(dict.fromkeys(operators, handler))
        return handler

    return register


def known_operators() -> frozenset[str]:
    """List the expression operators whose results are known."""
    return frozenset(_handlers) | TABLED | OPAQUE


_SYSTEM: Final = {
    "NOW": computed({Kind.DATE}),
    "CLUSTER_TIME": computed({Kind.TIMESTAMP}),
    "REMOVE": ABSENT,
    "DESCEND": computed({Kind.STRING}),
    "PRUNE": computed({Kind.STRING}),
    "KEEP": computed({Kind.STRING}),
    "USER_ROLES": computed({Kind.ARRAY}),
    "SEARCH_META": ANY,
}
"""Variables that the server sets."""


def evaluate(ctx: Context, value: Any) -> Type:
    """Return the type of an expression and note what it reads and compares."""
    return evaluate_read(ctx, value)[0]


def evaluate_read(ctx: Context, value: Any) -> tuple[Type, Read | None]:
    """Return the type of an expression, with its read where it is a plain reference."""
    if ctx.depth > MAX_DEPTH:
        return ANY, None
    if isinstance(value, str):
        return reference(ctx, value) if value.startswith("$") and len(value) > 1 else (note_literal(ctx, value), None)
    items = as_list(value)
    if items is not None:
        return _array(ctx, items), None
    spec = as_object(value)
    if spec is None:
        return note_literal(ctx, value), None
    if not spec:
        return literal_type(spec), None
    name = operator_of(spec)
    if name:
        return _operator(ctx.at(name), name, spec[name]), None
    return record({key: evaluate(ctx.at(key), part) for key, part in spec.items()}), None


def note_literal(ctx: Context, value: Any) -> Type:
    """Note a constant and return its type."""
    ctx.ledger.add_literal(value)
    return literal_type(value)


def _array(ctx: Context, items: list[Any]) -> Type:
    if not items:
        return literal_type(items)
    types = [evaluate(ctx.at(f"[{index}]"), item) for index, item in enumerate(items)]
    return array_of(unite_all(nullable(type_) for type_ in types))


def reference(ctx: Context, text: str) -> tuple[Type, Read | None]:
    """Return the type of `$a.b` or `$$variable.a.b` and note the read."""
    if not text.startswith("$$"):
        return read_field(ctx, text[1:], text=text)
    name, *steps = text[2:].split(".")
    if name in ("ROOT", "CURRENT") and name not in ctx.variables:
        start = ctx.current
        return read_below(ctx, text, start, tuple(steps), f"$${name}") if steps else (start, None)
    start = ctx.variables.get(name)
    if start is None:
        start = _SYSTEM.get(name)
        if start is None and not name[:1].isupper():
            return ANY, _undefined(ctx, text)
        return (start or ANY) if not steps else ANY, None
    if name == "ROOT" and not steps:
        return start, None
    return read_below(ctx, text, start, tuple(steps), f"$${name}")


def _undefined(ctx: Context, text: str) -> Read:
    names = tuple(f"$${name}" for name in ctx.variables if name != "ROOT")
    read = Read(ctx.place, text, ReadStatus.ABSENT, role=ctx.role, nearest=names[:3], note="no such variable here")
    if not ctx.is_quiet:
        ctx.ledger.reads.append(read)
    return read


def _operator(ctx: Context, name: str, spec: Any) -> Type:
    ctx.ledger.operators.add(name)
    handler = _handlers.get(name)
    if handler is not None:
        return handler(ctx, name, spec)
    if name in TABLED:
        return table_result(name, arguments(ctx, spec))
    if name not in OPAQUE:
        ctx.ledger.unknown_operators.add(name)
    arguments(ctx.quiet(), spec)
    return ANY


def arguments(ctx: Context, spec: Any) -> list[Type]:
    """Evaluate the arguments of an operator: a list, named ones, or a single one."""
    items = as_list(spec)
    if items is not None:
        return [evaluate(ctx.at(f"[{index}]"), item) for index, item in enumerate(items)]
    named = as_object(spec)
    if named is not None and not operator_of(named):
        return [evaluate(ctx.at(name), part) for name, part in named.items()]
    return [evaluate(ctx, spec)]


def named_arguments(ctx: Context, spec: Any) -> dict[str, Type]:
    """Evaluate the named arguments of an operator; none where the form is another."""
    named = as_object(spec)
    return {name: evaluate(ctx.at(name), part) for name, part in named.items()} if named else {}


def positional(spec: Any) -> list[Any]:
    """Return the arguments of an operator as a list; a single one stands for itself."""
    items = as_list(spec)
    return items if items is not None else [spec]
