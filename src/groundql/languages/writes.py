"""A pasted script in which anything writes is refused whole: reading the query beside a write would hide the write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groundql.languages.chain import Method
from groundql.languages.methods import WRITES, unsupported
from groundql.languages.syntax import Call, Constant, Member, Name, Node, Statement, walk

_DATABASES: Final = frozenset({"db", "database", "client", "connection", "conn"})
"""What people call a database or its client; a method of anything else, an array's say, is not a write."""


def refuse_writes(statements: Iterable[Statement]) -> None:
    """Refuse a script that writes to a database, wherever the call stands.

    Raises: ProgramSyntaxError with the place of the call.
    """
    for call in (node for statement in statements for node in walk(statement) if isinstance(node, Call)):
        name = call.target.name if isinstance(call.target, Member) else None
        if isinstance(name, Constant) and name.value in WRITES and _is_on_a_database(call):
            raise unsupported(Method(str(name.value), call.target.at, (), ()))


def _is_on_a_database(node: Node) -> bool:
    while isinstance(node, Call | Member):
        node = node.target
    return isinstance(node, Name) and node.text in _DATABASES
