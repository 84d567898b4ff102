"""From the syntax tree to BSON values: literals, constructors, names of literals, constant arithmetic. Never code."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from groundql.languages.constructors import CONSTRUCTORS, VALUES, Flags, Given, is_instant, lookup
from groundql.languages.ejson import decode_document, read_regex
from groundql.languages.instants import instant, milliseconds
from groundql.languages.syntax import (
    Binary,
    Call,
    Constant,
    Document,
    Member,
    Name,
    Node,
    RegexText,
    Sequence,
    Spot,
    Spread,
    Unary,
    syntax_error,
)

MAX_VALUES: Final = 300_000
"""Values worked out for one program: names may not multiply a small text into a large one."""
MAX_DEPTH: Final = 120
"""Nesting levels of values, names followed."""
_MAX_TEXT: Final = 1_000_000
_EXACT: Final = 2**53


def dotted_name(node: Node) -> str:
    """Return `a.b.c` for a chain of plain names, or nothing."""
    names: list[str] = []
    while isinstance(node, Member):
        if not isinstance(node.name, Constant) or not isinstance(node.name.value, str):
            return ""
        names.append(node.name.value)
        node = node.target
    return ".".join([node.text, *reversed(names)]) if isinstance(node, Name) else ""


@dataclass(slots=True)
class Constants:
    """Work out values. `names` are what the text gave a value to; `now` is the moment that counts as the present."""

    names: Mapping[str, Node]
    now: dt.datetime
    language: str = "javascript"
    worked_out: int = 0
    depth: int = 0
    following: set[str] = field(default_factory=set[str])

    def value(self, node: Node) -> Any:
        """Return the BSON value of a node.

        Raises: ProgramSyntaxError with its place where it has none.
        """
        self.worked_out += 1
        if self.worked_out > MAX_VALUES:
            raise syntax_error("the query is too large", node.at)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise syntax_error("nested too deeply", node.at)
        try:
            return _WORK[type(node)](self, node)
        finally:
            self.depth -= 1

    def constant(self, node: Constant) -> Any:
        return node.value

    def regex(self, node: RegexText) -> Any:
        return self.fit(node.at, lambda: read_regex(node.pattern, node.flags))

    def sequence(self, node: Sequence) -> list[Any]:
        return list(self.items(node.items))

    def items(self, nodes: tuple[Node, ...]) -> Iterator[Any]:
        """Yield values, those of spread arrays in their place."""
        for node in nodes:
            if not isinstance(node, Spread):
                yield self.value(node)
                continue
            spread = self.value(node.value)
            if not isinstance(spread, list):
                raise syntax_error("only an array can be spread here", node.at)
            yield from cast("list[Any]", spread)

    def document(self, node: Document) -> Any:
        found: dict[str, Any] = {}
        for key, value in node.entries:
            if key is None:
                found.update(self.spread_entries(value))
                continue
            name = self.key(key)
            if name in found:
                message = f"the key {name[:60]!r} occurs twice in one object, and only the last would count"
                raise syntax_error(message, key.at, "join the two under one key, or use $and")
            found[name] = self.value(value)
        return self.fit(node.at, lambda: decode_document(found))

    def spread_entries(self, node: Node) -> dict[str, Any]:
        value = self.value(node.value) if isinstance(node, Spread) else None
        if not isinstance(value, dict):
            raise syntax_error("only an object can be spread here", node.at)
        return cast("dict[str, Any]", value)

    def key(self, node: Node) -> str:
        name = self.value(node)
        if isinstance(name, str):
            return name
        if self.language == "javascript" and isinstance(name, int) and not isinstance(name, bool):
            return str(name)
        raise syntax_error("a key must be text", node.at)

    def spread(self, node: Spread) -> Any:
        raise syntax_error("nothing can be spread here", node.at)

    def name(self, node: Name) -> Any:
        if node.text not in self.names:
            return self.known_name(node.text, node.at)
        if node.text in self.following:
            raise syntax_error(f"{node.text} is defined by itself", node.at)
        self.following.add(node.text)
        try:
            return self.value(self.names[node.text])
        finally:
            self.following.discard(node.text)

    def known_name(self, text: str, at: Spot) -> Any:
        if text == "undefined":
            raise syntax_error("undefined is not a value that is stored: use null, or $exists", at)
        if set(text) & set("“”„‘’‚«»"):
            raise syntax_error("typographic quotes do not quote: write ' or \"", at)
        value = lookup(VALUES, text)
        if value is None and text != "None":
            raise syntax_error(f"{text[:60]} has no value here: write the value itself", at)
        return value

    def member(self, node: Member) -> Any:
        dotted = dotted_name(node)
        if not dotted:
            raise syntax_error("this is not a value: write the value itself", node.at)
        return self.known_name(dotted, node.at)

    def call(self, node: Call) -> Any:
        dotted = dotted_name(node.target)
        build = lookup(CONSTRUCTORS, dotted)
        if build is None:
            return self.method(node, dotted)
        given = Given(
            dotted,
            list(self.items(node.arguments)),
            {name: self.value(value) for name, value in node.keywords},
            node.is_new,
            self.now,
        )
        return self.fit(node.at, lambda: build(given))

    def method(self, node: Call, dotted: str) -> Any:
        """Work out the few calls that are constant: of dates, and the pairs of a dictionary."""
        if dotted == "list" and len(node.arguments) == 1 and isinstance(pairs := self.value(node.arguments[0]), list):
            return cast("list[Any]", pairs)
        if isinstance(node.target, Member) and isinstance(node.target.name, Constant):
            name = node.target.name.value
            if name == "items" and not node.arguments and isinstance(node.target.target, Document):
                return [[key, value] for key, value in self.value(node.target.target).items()]
            if name in ("getTime", "valueOf", "timestamp") and isinstance(node.target.target, Call | Name):
                value = self.value(node.target.target)
                if is_instant(value) and not node.arguments:
                    return milliseconds(value) / 1000 if name == "timestamp" else milliseconds(value)
        shown = f"{dotted[:60]}(...)" if dotted else "this call"
        hint = "write values with ISODate(...), ObjectId(...), NumberDecimal(...) and the like"
        raise syntax_error(f"{shown} is not a value that can be read", node.at, hint)

    def unary(self, node: Unary) -> Any:
        value = self.value(node.operand)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise syntax_error(f"'{node.operator}' needs a number", node.at)
        return _settle(-value if node.operator == "-" else value)

    def binary(self, node: Binary) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        return self.fit(node.at, lambda: combine(node.operator, left, right, self.language))

    def fit(self, at: Spot, build: Callable[[], Any]) -> Any:
        """Build a value, naming the place where it cannot be.

        Raises: ProgramSyntaxError.
        """
        try:
            return build()
        except (ValueError, TypeError, ArithmeticError) as error:
            raise syntax_error(str(error), at) from None


_WORK: Final[dict[type[Node], Callable[[Constants, Any], Any]]] = {
    Constant: Constants.constant,
    RegexText: Constants.regex,
    Sequence: Constants.sequence,
    Document: Constants.document,
    Spread: Constants.spread,
    Name: Constants.name,
    Member: Constants.member,
    Call: Constants.call,
    Unary: Constants.unary,
    Binary: Constants.binary,
}


def combine(operator: str, left: Any, right: Any, language: str) -> Any:
    """Work out arithmetic on two constants: numbers, dates, text.

    Raises: ValueError for what does not combine.
    """
    if isinstance(left, str) and isinstance(right, str) and operator == "+":
        if len(left) + len(right) > _MAX_TEXT:
            raise ValueError("the text is too long")
        return left + right
    if isinstance(left, Flags) and isinstance(right, Flags) and operator == "|":
        return Flags(left.letters + right.letters)
    if isinstance(right, dt.timedelta) and operator in "+-":
        return _moved(left, right if operator == "+" else -right)
    if language == "javascript" and operator == "-":
        left, right = _as_number(left), _as_number(right)
    if not _is_number(left) or not _is_number(right):
        raise ValueError(f"'{operator}' needs two numbers")
    return _arithmetic(operator, left, right, language)


def _moved(value: Any, by: dt.timedelta) -> Any:
    if isinstance(value, dt.timedelta):
        return value + by
    if not is_instant(value):
        raise ValueError("a span of time is added to a date")
    return instant(milliseconds(value) + by / dt.timedelta(milliseconds=1))


def _as_number(value: Any) -> Any:
    return milliseconds(value) if is_instant(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _arithmetic(operator: str, left: Any, right: Any, language: str) -> float:
    try:
        match operator:
            case "+":
                return _settle(left + right)
            case "-":
                return _settle(left - right)
            case "*":
                return _settle(left * right)
            case "/":
                return _divide(left, right, language)
            case "//":
                return _settle(left // right)
            case "%":
                return _remainder(left, right) if language == "javascript" else left % right
            case "**":
                return _whole(_settle(float(left) ** float(right)))
            case _:
                raise ValueError(f"'{operator}' cannot stand in a query")
    except ZeroDivisionError:
        raise ValueError("division by zero") from None
    except (OverflowError, TypeError):
        raise ValueError("the number is too large") from None


def _remainder(left: float, right: float) -> float:
    """Take the sign of the left side, as JavaScript does."""
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def _divide(left: float, right: float, language: str) -> float:
    quotient = left / right
    return quotient if language == "python" else _whole(quotient)


def _whole(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def _settle(value: Any) -> Any:
    """Keep whole results whole, as a shell shows them, and numbers within what can be stored."""
    if isinstance(value, complex):
        raise ValueError("the result is not a real number")
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    return value
