"""What pasted text looks like once parsed, whichever language it was written in: a small tree of allowed nodes.

Both parsers (JavaScript for shell text and JSON, Python) build this tree and nothing else, so that whatever is not a
literal, a constructor call or a chain of methods has no way in. Nothing is ever evaluated as code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from groundql.errors import ProgramSyntaxError

MAX_NESTING: Final = 220
"""Levels of the syntax tree; one level of a document takes two at most."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the text, counted from 1."""

    line: int = 0
    column: int = 0


NOWHERE: Final = Spot()


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, text, truth value, null or bytes."""

    at: Spot
    value: Any


@dataclass(frozen=True, slots=True)
class RegexText:
    """A regex literal, pattern and flags as written."""

    at: Spot
    pattern: str
    flags: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """An array, or a Python tuple."""

    at: Spot
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """An object. A `Spread` stands as an entry without a key."""

    at: Spot
    entries: tuple[tuple[Node | None, Node], ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """The entries of another array or object, put in its place."""

    at: Spot
    value: Node


@dataclass(frozen=True, slots=True)
class Name:
    """A bare name."""

    at: Spot
    text: str


@dataclass(frozen=True, slots=True)
class Member:
    """`target.name` or `target["name"]`."""

    at: Spot
    target: Node
    name: Node


@dataclass(frozen=True, slots=True)
class Call:
    """`target(...)`, with or without `new`. `keywords` are Python's."""

    at: Spot
    target: Node
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign before a value."""

    at: Spot
    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic on two values."""

    at: Spot
    operator: str
    left: Node
    right: Node


Node: TypeAlias = Constant | RegexText | Sequence | Document | Spread | Name | Member | Call | Unary | Binary


@dataclass(frozen=True, slots=True)
class Assign:
    """A name given to a value."""

    at: Spot
    name: str
    value: Node


@dataclass(frozen=True, slots=True)
class Run:
    """An expression that stands by itself."""

    at: Spot
    value: Node


Statement: TypeAlias = Assign | Run


@dataclass(frozen=True, slots=True)
class Script:
    """Parsed text: its statements in order, and the language it was read as.

    `may_be_python` marks JavaScript that uses Python's names and no bare keys: it reads either way, but for escapes.
    """

    statements: tuple[Statement, ...]
    language: str
    may_be_python: bool = False


def names(text: str) -> frozenset[str]:
    """Read a set of names written with spaces between."""
    return frozenset(text.split())


def syntax_error(message: str, at: Spot = NOWHERE, hint: str = "") -> ProgramSyntaxError:
    """Build the error for a place in the text; the message names the place."""
    where = f"line {at.line}, column {at.column}: " if at.line else ""
    return ProgramSyntaxError(where + message, line=at.line, column=at.column, hint=hint)


def walk(node: Node | Statement) -> Iterator[Node | Statement]:
    """Yield a node and everything below it."""
    waiting: list[Any] = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(reversed(cast("tuple[Any, ...]", found)))
        elif dataclasses.is_dataclass(found) and not isinstance(found, Spot | type):
            yield cast("Node | Statement", found)
            waiting.extend(getattr(found, f.name) for f in reversed(dataclasses.fields(found)))
