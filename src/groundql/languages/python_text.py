"""Python driver text to the syntax tree, by Python's own parser and an allow-list of its nodes; nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from groundql.languages.syntax import (
    MAX_NESTING,
    Assign,
    Binary,
    Call,
    Constant,
    Document,
    Member,
    Name,
    Node,
    Run,
    Script,
    Sequence,
    Spot,
    Spread,
    Statement,
    Unary,
    syntax_error,
)

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**", ast.BitOr: "|",
    ast.FloorDiv: "//",
}  # fmt: skip
_SIGNS: Final[dict[type[ast.AST], str]] = {ast.USub: "-", ast.UAdd: "+"}
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_SHOWING: Final = frozenset({"print", "pprint", "display"})


def read_python(text: str) -> Script:
    """Parse text as Python statements.

    Raises: ProgramSyntaxError with the place of the first thing that does not parse or is not allowed.
    """
    # what was copied from within a function or after a prompt is indented: it needs a block around it
    block = "if True:\n" if text.lstrip("\n")[:1] in (" ", "\t") else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in the text is the text's affair
            module = ast.parse(block + text)
    except SyntaxError as error:
        at = Spot(max(1, (error.lineno or 1) - bool(block)), error.offset or 1)
        message = re.sub(r"on line (\d+)", lambda n: f"on line {int(n[1]) - bool(block)}", error.msg)
        raise syntax_error(f"as Python: {message}", at, _fix(message)) from None
    except (ValueError, RecursionError, MemoryError):
        raise syntax_error("the text is not readable as Python") from None
    body = module.body
    if block:
        ast.increment_lineno(module, -1)
        body = [part for outer in body for part in (outer.body if isinstance(outer, ast.If) else [outer])]
    reader = _Reader(text.split("\n"))
    return Script(tuple(s for part in body for s in reader.statement(part)), "python")


def _fix(message: str) -> str:
    """Say how to mend what Python's parser found, where its own words do not."""
    closed = re.match(r"'(.)' was never closed", message)
    if closed:
        return f"add the {_CLOSERS[closed[1]]!r} that belongs to it"
    return "end the text with the quote it begins with" if message.startswith("unterminated string") else ""


@dataclass(slots=True)
class _Reader:
    lines: list[str]
    depth: int = 0

    def at(self, tree: ast.stmt | ast.expr) -> Spot:
        line = self.lines[tree.lineno - 1] if tree.lineno <= len(self.lines) else ""
        before = line.encode("utf-8", "replace")[: tree.col_offset]
        return Spot(tree.lineno, len(before.decode("utf-8", "replace")) + 1)

    def statement(self, tree: ast.stmt) -> Iterator[Statement]:
        match tree:
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                return
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield Assign(self.at(tree), name, self.node(tree.value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield Assign(self.at(tree), name, self.node(value))
            case ast.Expr():
                yield Run(self.at(tree), self.node(tree.value))
            case ast.For() | ast.AsyncFor() if all(_only_shows(part) for part in tree.body) and not tree.orelse:
                yield Run(self.at(tree), self.node(tree.iter))
            case ast.With() | ast.AsyncWith():
                yield from self.opened(tree)
            case _:
                kind = type(tree).__name__
                raise syntax_error(f"{kind} is not read: give one query and the values it uses", self.at(tree))

    def opened(self, tree: ast.With | ast.AsyncWith) -> Iterator[Statement]:
        """Read what a block gives names to, and what is in it: it only opens and closes a client."""
        for item in tree.items:
            if isinstance(item.optional_vars, ast.Name):
                yield Assign(self.at(tree), item.optional_vars.id, self.node(item.context_expr))
        for part in tree.body:
            yield from self.statement(part)

    def node(self, tree: ast.expr) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise syntax_error("nested too deeply", self.at(tree))
        try:
            if _only_repeats(tree):
                return self.node(cast("ast.ListComp", tree).generators[0].iter)
            read = _NODES.get(type(tree))
            if read is None:
                kind = type(tree).__name__
                hint = "a query is data" if kind in ("Lambda", "ListComp", "DictComp") else ""
                raise syntax_error(f"{kind} cannot stand in a query", self.at(tree), hint)
            return read(self, tree)
        finally:
            self.depth -= 1

    def constant(self, tree: Any) -> Node:
        if tree.value is Ellipsis or isinstance(tree.value, complex):
            raise syntax_error(f"{tree.value!r} is not a value that is stored", self.at(tree))
        return Constant(self.at(tree), tree.value)

    def sequence(self, tree: Any) -> Node:
        return Sequence(self.at(tree), tuple(self.node(item) for item in tree.elts))

    def document(self, tree: Any) -> Node:
        pairs = zip(tree.keys, tree.values, strict=True)
        return Document(self.at(tree), tuple(self.entry(key, value) for key, value in pairs))

    def entry(self, key: ast.expr | None, value: ast.expr) -> tuple[Node | None, Node]:
        if key is None:
            return None, Spread(self.at(value), self.node(value))
        return self.node(key), self.node(value)

    def starred(self, tree: Any) -> Node:
        return Spread(self.at(tree), self.node(tree.value))

    def name(self, tree: Any) -> Node:
        return Name(self.at(tree), tree.id)

    def attribute(self, tree: Any) -> Node:
        at = self.at(tree)
        at = Spot(tree.end_lineno, max(1, tree.end_col_offset - len(tree.attr) + 1)) if tree.end_lineno else at
        return Member(at, self.node(tree.value), Constant(at, tree.attr))

    def subscript(self, tree: Any) -> Node:
        return Member(self.at(tree), self.node(tree.value), self.node(tree.slice))

    def call(self, tree: Any) -> Node:
        if any(keyword.arg is None for keyword in tree.keywords):
            raise syntax_error("**options cannot stand in a query: write them out", self.at(tree))
        keywords = tuple((keyword.arg, self.node(keyword.value)) for keyword in tree.keywords)
        return Call(self.at(tree), self.node(tree.func), tuple(self.node(a) for a in tree.args), keywords)

    def awaited(self, tree: Any) -> Node:
        return self.node(tree.value)

    def unary(self, tree: Any) -> Node:
        operator = _SIGNS.get(cast("type[ast.AST]", type(tree.op)))
        if operator is None:
            raise syntax_error(f"{type(tree.op).__name__} cannot stand in a query", self.at(tree))
        return Unary(self.at(tree), operator, self.node(tree.operand))

    def binary(self, tree: Any) -> Node:
        operator = _OPERATORS.get(cast("type[ast.AST]", type(tree.op)))
        if operator is None:
            raise syntax_error(f"{type(tree.op).__name__} cannot stand in a query", self.at(tree))
        return Binary(self.at(tree), operator, self.node(tree.left), self.node(tree.right))


_NODES: Final[dict[type[ast.expr], Callable[[_Reader, Any], Node]]] = {
    ast.Constant: _Reader.constant,
    ast.List: _Reader.sequence,
    ast.Tuple: _Reader.sequence,
    ast.Dict: _Reader.document,
    ast.Starred: _Reader.starred,
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.Call: _Reader.call,
    ast.Await: _Reader.awaited,
    ast.UnaryOp: _Reader.unary,
    ast.BinOp: _Reader.binary,
}


def _only_repeats(tree: ast.expr) -> bool:
    """Tell whether a comprehension is the list of what it goes through: `[d for d in cursor]`."""
    match tree:
        case ast.ListComp(elt=ast.Name(id=item), generators=[ast.comprehension(target=ast.Name(id=name), ifs=[])]):
            return item == name
        case _:
            return False


def _only_shows(tree: ast.stmt) -> bool:
    """Tell whether a statement in a loop only prints, so that leaving it out loses nothing."""
    match tree:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _SHOWING
        case _:
            return isinstance(tree, ast.Pass)
