"""Shell text and JSON to the syntax tree, by tree-sitter's JavaScript grammar and an allow-list of its nodes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import tree_sitter_javascript
from tree_sitter import Language, Parser
from tree_sitter import Node as Tree

from groundql.languages.javascript_literals import number, unescape
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
    RegexText,
    Run,
    Script,
    Sequence,
    Spot,
    Spread,
    Statement,
    Unary,
    names,
    syntax_error,
)

_SKIPPED: Final = frozenset({"comment", "empty_statement", "import_statement", "hash_bang_line", "html_comment"})
_FUNCTIONS: Final = names("""
    arrow_function function_expression function_declaration generator_function method_definition class
    class_declaration generator_function_declaration
""")
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}
_VALUES: Final = names("object array string number identifier true false null call_expression new_expression regex")
_PYTHON_NAMES: Final = names("True False None re datetime timedelta dt bson uuid")
_SHOWING: Final = names("print printjson tojson console.log console.table JSON.stringify EJSON.stringify")
_CHANGES: Final = names("""
    assignment_expression augmented_assignment_expression update_expression
    yield_expression import
""")
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "**"})


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_javascript.language()))


def read_javascript(text: str) -> Script:
    """Parse text as JavaScript statements.

    Raises: ProgramSyntaxError with the place of the first thing that does not parse or is not allowed.
    """
    return _read(text, "")


def read_javascript_value(text: str) -> Script:
    """Parse text that is one object or array, which as a statement would be a block.

    Raises: ProgramSyntaxError as `read_javascript` does.
    """
    return _read(text, "(")


def _read(text: str, before: str) -> Script:
    after = "\n)" if before else ""
    source = _Source((before + text + after).encode("utf-8", "replace"), len(before))
    tree = _parser().parse(source.data)
    root = tree.root_node
    if root.has_error:
        raise _explain(root, source)
    reader = _Reader(source)
    statements = tuple(reader.statements(root))
    return Script(statements, "javascript", reader.has_python_names and not reader.has_bare_keys)


@dataclass(slots=True)
class _Source:
    data: bytes
    shift: int
    """Columns put before the first line."""
    line_starts: list[int] = field(default_factory=list[int])
    continued: list[int] = field(default_factory=list[int])
    """Where bytes stand that only continue a character."""

    def __post_init__(self) -> None:
        self.line_starts = [0, *(match.end() for match in re.finditer(rb"\n", self.data))]
        self.continued = [match.start() for match in re.finditer(rb"[\x80-\xbf]", self.data)]

    def spot(self, offset: int) -> Spot:
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        inside = bisect_left(self.continued, offset) - bisect_left(self.continued, start)
        column = offset - start - inside + 1
        return Spot(line, max(1, column - self.shift) if line == 1 else column)

    def text(self, tree: Tree) -> str:
        return self.data[tree.start_byte : tree.end_byte].decode("utf-8", "replace")


# --- what does not parse ----------------------------------------------------------------------------------------------


def _explain(root: Tree, source: _Source) -> Exception:
    return _unbalanced(root, source) or _first_error(root, source)


def _walk(root: Tree) -> Iterator[Tree]:
    """Yield every node in the order of the text, without recursion."""
    waiting = [root]
    while waiting:
        tree = waiting.pop()
        yield tree
        waiting.extend(reversed(tree.children))


def _unbalanced(root: Tree, source: _Source) -> Exception | None:
    open_ones: list[tuple[str, Spot]] = []
    for tree in _walk(root):
        if tree.child_count or tree.is_missing or tree.type not in "()[]{}" or len(tree.type) != 1:
            continue
        at = source.spot(tree.start_byte)
        if tree.type not in _CLOSING:
            open_ones.append((tree.type, at))
        elif not open_ones:
            return syntax_error(f"'{tree.type}' closes nothing", at)
        else:
            opened, opened_at = open_ones.pop()
            if opened != _CLOSING[tree.type]:
                wanted = {"(": ")", "[": "]", "{": "}"}[opened]
                place = f"line {opened_at.line}, column {opened_at.column}"
                return syntax_error(f"expected '{wanted}' to close the '{opened}' of {place}, found '{tree.type}'", at)
    if not open_ones:
        return None
    opened, at = open_ones[-1]
    return syntax_error(f"'{opened}' is never closed", at)


def _first_error(root: Tree, source: _Source) -> Exception:
    for tree in _walk(root):
        if tree.is_missing:
            wanted = "a value" if tree.type == "identifier" else f"'{tree.type}'"
            return syntax_error(f"expected {wanted}", source.spot(tree.start_byte))
        if tree.is_error:
            found, after = tree.children[-1] if tree.children else tree, tree.next_sibling
            if found.type in _VALUES and after is not None:
                shown = source.text(after).split("\n")[0][:40]
                return syntax_error(
                    f"expected ',' or a closing bracket before {shown!r}", source.spot(after.start_byte)
                )
            text = source.text(found).strip().split("\n")[0][:40] or source.text(tree).strip()[:40]
            return syntax_error(
                f"did not expect {text!r}" if text else "the text ends too early", source.spot(found.start_byte)
            )
    return syntax_error("the text does not parse")


# --- what does --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    source: _Source
    depth: int = 0
    has_bare_keys: bool = False
    has_python_names: bool = False

    def at(self, tree: Tree) -> Spot:
        return self.source.spot(tree.start_byte)

    def statements(self, root: Tree) -> Iterator[Statement]:
        for tree in root.named_children:
            if tree.type in _SKIPPED:
                continue
            yield from self.statement(tree)

    def statement(self, tree: Tree) -> Iterator[Statement]:
        match tree.type:
            case "lexical_declaration" | "variable_declaration":
                yield from self.declaration(tree)
            case "expression_statement":
                yield from self.expression_statement(_children(tree)[0])
            case "for_in_statement" if self.only_shows(_field(tree, "body")):
                yield Run(self.at(tree), self.node(_field(tree, "right")))
            case "while_statement" if self.only_shows(_field(tree, "body")):
                yield Run(self.at(tree), self.node(_children(_field(tree, "condition"))[0]))
            case "export_statement":
                raise syntax_error("export is not part of a query", self.at(tree))
            case kind if kind in _FUNCTIONS:
                raise syntax_error("functions are not read: a query is data", self.at(tree))
            case kind:
                raise syntax_error(
                    f"{_readable(kind)} is not read: give one query and the values it uses", self.at(tree)
                )

    def only_shows(self, tree: Tree) -> bool:
        """Tell whether a loop's body or a function only prints, so that leaving it out loses nothing."""
        calls = [part for part in _walk(tree) if part.type in ("call_expression", "new_expression")]
        shown = [part for part in calls if self.source.text(part.children[0]) in _SHOWING]
        others = [self.source.text(part.children[0]) for part in calls if part not in shown]
        is_bare = not any(part.type in _CHANGES for part in _walk(tree))
        return bool(shown) and is_bare and all(re.fullmatch(r"[\w$.]+\.next", other) for other in others)

    def declaration(self, tree: Tree) -> Iterator[Statement]:
        for part in _children(tree):
            name, value = part.child_by_field_name("name"), part.child_by_field_name("value")
            if name is None or value is None:
                continue
            if name.type != "identifier":
                # `const { MongoClient } = require("mongodb")`: whatever it names is not data.
                continue
            yield Assign(self.at(part), self.source.text(name), self.node(value))

    def expression_statement(self, tree: Tree) -> Iterator[Statement]:
        if tree.type == "assignment_expression":
            left, right = _field(tree, "left"), _field(tree, "right")
            if left.type != "identifier":
                raise syntax_error("only a plain name can be given a value", self.at(left))
            yield Assign(self.at(tree), self.source.text(left), self.node(right))
        else:
            yield Run(self.at(tree), self.node(tree))

    def node(self, tree: Tree) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise syntax_error("nested too deeply", self.at(tree))
        try:
            read = _NODES.get(tree.type)
            if read is not None:
                return read(self, tree)
            if tree.type in _FUNCTIONS:
                if self.only_shows(tree):
                    return Name(self.at(tree), "print")  # `d => print(d)` does what `print` does
                raise syntax_error("functions are not read: a query is data", self.at(tree))
            raise syntax_error(f"{_readable(tree.type)} cannot stand in a query", self.at(tree))
        finally:
            self.depth -= 1

    def keyword(self, tree: Tree) -> Node:
        return Constant(self.at(tree), {"true": True, "false": False, "null": None}[tree.type])

    def number(self, tree: Tree) -> Node:
        return Constant(self.at(tree), number(self.source.text(tree), self.at(tree)))

    def string(self, tree: Tree) -> Node:
        return Constant(self.at(tree), unescape(self.source.text(tree)[1:-1], self.at(tree)))

    def template(self, tree: Tree) -> Node:
        if any(part.type == "template_substitution" for part in tree.children):
            raise syntax_error("a template string with ${...} is not read: write the text out", self.at(tree))
        return self.string(tree)

    def regex(self, tree: Tree) -> Node:
        flags = tree.child_by_field_name("flags")
        pattern = self.source.text(_field(tree, "pattern"))
        return RegexText(self.at(tree), pattern.replace("\\/", "/"), self.source.text(flags) if flags else "")

    def array(self, tree: Tree) -> Node:
        return Sequence(self.at(tree), tuple(self.node(item) for item in _children(tree)))

    def document(self, tree: Tree) -> Node:
        return Document(self.at(tree), tuple(self.entry(part) for part in _children(tree)))

    def entry(self, tree: Tree) -> tuple[Node | None, Node]:
        if tree.type == "pair":
            return self.key(_field(tree, "key")), self.node(_field(tree, "value"))
        if tree.type == "shorthand_property_identifier":
            text = self.source.text(tree)
            return Constant(self.at(tree), text), Name(self.at(tree), text)
        return None, self.node(tree)

    def key(self, tree: Tree) -> Node:
        if tree.type == "property_identifier":
            self.has_bare_keys = True
            return Constant(self.at(tree), unescape(self.source.text(tree), self.at(tree)))
        if tree.type == "computed_property_name":
            return self.node(_children(tree)[0])
        return self.node(tree)

    def spread(self, tree: Tree) -> Node:
        return Spread(self.at(tree), self.node(_children(tree)[0]))

    def name(self, tree: Tree) -> Node:
        text = self.source.text(tree)
        self.has_python_names |= text in _PYTHON_NAMES
        return Name(self.at(tree), text)

    def member(self, tree: Tree) -> Node:
        name = _field(tree, "property")
        return Member(self.at(name), self.node(_field(tree, "object")), Constant(self.at(name), self.source.text(name)))

    def subscript(self, tree: Tree) -> Node:
        index = _field(tree, "index")
        return Member(self.at(index), self.node(_field(tree, "object")), self.node(index))

    def call(self, tree: Tree) -> Node:
        is_new = tree.type == "new_expression"
        target = _field(tree, "constructor" if is_new else "function")
        given = tree.child_by_field_name("arguments")
        if given is not None and given.type != "arguments":
            raise syntax_error("a tagged template is not read", self.at(given))
        parts = _children(given) if given else []
        return Call(self.at(tree), self.node(target), tuple(self.node(part) for part in parts), (), is_new)

    def inner(self, tree: Tree) -> Node:
        return self.node(_children(tree)[0])

    def unary(self, tree: Tree) -> Node:
        operator = self.source.text(_field(tree, "operator"))
        if operator not in ("-", "+"):
            raise syntax_error(f"'{operator}' cannot stand in a query", self.at(tree))
        return Unary(self.at(tree), operator, self.node(_field(tree, "argument")))

    def binary(self, tree: Tree) -> Node:
        operator = self.source.text(_field(tree, "operator"))
        if operator not in _ARITHMETIC:
            raise syntax_error(f"'{operator}' cannot stand in a query", self.at(tree))
        return Binary(self.at(tree), operator, self.node(_field(tree, "left")), self.node(_field(tree, "right")))


_NODES: Final[dict[str, Callable[[_Reader, Tree], Node]]] = {
    "true": _Reader.keyword,
    "false": _Reader.keyword,
    "null": _Reader.keyword,
    "undefined": _Reader.name,
    "number": _Reader.number,
    "string": _Reader.string,
    "template_string": _Reader.template,
    "regex": _Reader.regex,
    "array": _Reader.array,
    "object": _Reader.document,
    "spread_element": _Reader.spread,
    "identifier": _Reader.name,
    "member_expression": _Reader.member,
    "subscript_expression": _Reader.subscript,
    "call_expression": _Reader.call,
    "new_expression": _Reader.call,
    "parenthesized_expression": _Reader.inner,
    "await_expression": _Reader.inner,
    "unary_expression": _Reader.unary,
    "binary_expression": _Reader.binary,
}


def _children(tree: Tree) -> list[Tree]:
    return [child for child in tree.named_children if child.type != "comment"]


def _field(tree: Tree, name: str) -> Tree:
    child = tree.child_by_field_name(name)
    assert child is not None  # the grammar promises it in a tree without errors
    return child


def _readable(kind: str) -> str:
    return "a " + kind.replace("_", " ")
