"""A pasted script in which anything writes is refused whole: reading the query beside a write would hide the write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from groundql.languages.calls import Method
from groundql.languages.commands import RUNS, command_in_call
from groundql.languages.methods import WRITES, unsupported
from groundql.languages.syntax import Assign, Call, Constant, Member, Name, Node, Spot, Statement, walk

_DATABASES: Final = frozenset(
    {"db", "database", "client", "connection", "conn", "mongo", "mongo_client", "mongoClient"}
)
"""What people call a database or its client; a method of anything else, an array's say, is not a write."""
_WRITTEN: Final = re.compile(
    r"^[^\n'\"`#*/]*?(?<![\w.$])db(?:\s*\.\s*[\w$]+|\s*\[[^\]\n]*\]|\s*\.\s*getCollection\([^)\n]*\))*\s*\.\s*(\w+)\s*\(",
    re.MULTILINE,
)
"""A call on a database in text that was not parsed; one within quotes or a comment is only spoken of."""


def refuse_writes(statements: Iterable[Statement]) -> None:
    """Refuse a script that writes to a database, wherever the call stands.

    Raises: ProgramSyntaxError with the place of the call.
    """
    statements = list(statements)
    names = {s.name: s.value for s in statements if isinstance(s, Assign)}
    for call in (node for statement in statements for node in walk(statement) if isinstance(node, Call)):
        name = call.target.name if isinstance(call.target, Member) else None
        if not isinstance(name, Constant) or not _is_on_a_database(call, names):
            continue
        if name.value in WRITES:
            raise unsupported(Method(str(name.value), call.target.at, (), ()))
        command = command_in_call(call, names) if name.value in RUNS else None
        if command is not None and not command.is_read:
            raise command.refusal()


def refuse_written(text: str, line: int = 0) -> None:
    """Refuse text beside a query in which a line of code writes. Units: `line` lines stand before the text.

    Raises: ProgramSyntaxError with the place of the call.
    """
    for found in _WRITTEN.finditer(text):
        if found[1] in WRITES:
            start = found.start(1)
            at = Spot(text.count("\n", 0, start) + 1 + line, start - text.rfind("\n", 0, start))
            raise unsupported(Method(found[1], at, (), ()))


def _is_on_a_database(node: Node, names: Mapping[str, Node]) -> bool:
    followed: set[str] = set()
    while True:
        while isinstance(node, Call | Member):
            node = node.target
        if not isinstance(node, Name) or node.text in _DATABASES:
            return isinstance(node, Name)
        if node.text not in names or node.text in followed:
            return False
        followed.add(node.text)
        node = names[node.text]
