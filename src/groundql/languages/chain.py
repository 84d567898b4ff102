"""From a syntax tree to one query: which collection, and which methods are called on it in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from groundql.languages.calls import Chain, Method
from groundql.languages.commands import RUNS, command_in_call
from groundql.languages.constants import Constants, dotted_name
from groundql.languages.syntax import Call, Constant, Member, Name, Node, names, syntax_error

_SHOWS: Final = names("""
    print printjson pprint pprint.pprint list tojson console.log console.table console.dir JSON.stringify
    EJSON.stringify dumps json_util.dumps json.dumps DataFrame pd.DataFrame pandas.DataFrame
""")
_CLIENTS: Final = names("""client mongo mongo_client mongoClient conn connection""")
_CONNECTS: Final = names("""
    MongoClient AsyncMongoClient pymongo.MongoClient pymongo.AsyncMongoClient MongoClient.connect Mongo
    AsyncIOMotorClient
""")
_GET_COLLECTION: Final = frozenset({"getCollection", "collection", "get_collection"})
_GET_DATABASE: Final = frozenset({"getSiblingDB", "getSisterDB", "get_database", "getDB", "db", "get_default_database"})
_OF_REPLY: Final = frozenset({"cursor", "firstBatch", "n", "values"})
"""What people take out of a command's reply: its rows."""
_ONLY_READS: Final = "only reads of a collection are accepted: aggregate, find, findOne, countDocuments, distinct"


def find_chain(node: Node, constants: Constants) -> Chain | None:
    """Return the query that an expression is, or None when it does not start at a database.

    Raises: ProgramSyntaxError when it does, and is no read of a collection.
    """
    root, steps, through = _flatten(_unwrap(node), constants.names)
    if root is None or not steps:
        return None
    chain = _read_steps(root, steps, constants)
    return chain and replace(chain, through=through)


def shows_named(node: Node, constants: Constants) -> bool:
    """Tell whether an expression only shows something of a value that has a name: `print(docs.length)`."""
    inner = _unwrap(node)
    while isinstance(inner, Call | Member):
        inner = inner.target
    return _unwrap(node) is not node and isinstance(inner, Name) and inner.text in constants.names


def _unwrap(node: Node) -> Node:
    while isinstance(node, Call) and len(node.arguments) >= 1 and dotted_name(node.target) in _SHOWS:
        node = node.arguments[0]
    return node


def _flatten(node: Node, names: Mapping[str, Node]) -> tuple[str | None, list[Member | Call], frozenset[str]]:
    """Take a chain apart, through the names given to parts of it; the root is `db`, `client` or None.

    Returns: the root, the steps from it, and the names followed.
    """
    steps: list[Member | Call] = []
    followed: set[str] = set()
    while True:
        if isinstance(node, Call):
            if dotted_name(node.target) in _CONNECTS:
                return "client", steps[::-1], frozenset(followed)
            if dotted_name(node.target) == "connect":  # a shell's, which gives a database
                return "db", steps[::-1], frozenset(followed)
            if dotted_name(node.target) in _SHOWS and node.arguments:
                node = node.arguments[0]
                continue
            steps.append(node)
            node = node.target
        elif isinstance(node, Member):
            steps.append(node)
            node = node.target
        elif isinstance(node, Name) and node.text in names and node.text not in followed:
            followed.add(node.text)
            node = names[node.text]
        elif isinstance(node, Name):
            return _root(node.text), steps[::-1], frozenset(followed)
        else:
            return None, [], frozenset()


def _root(name: str) -> str | None:
    return "db" if name == "db" else "client" if name in _CLIENTS else None


def _read_steps(root: str, steps: list[Member | Call], constants: Constants) -> Chain | None:
    names: list[str] = []
    database = ""
    needs_database = root == "client"
    index = 0
    while index < len(steps):
        step = steps[index]
        if not isinstance(step, Member):
            raise syntax_error("a collection is no function", step.at, _ONLY_READS)
        name = _text(step, constants)
        call = steps[index + 1] if index + 1 < len(steps) else None
        if not isinstance(call, Call):
            if needs_database:
                database, needs_database = name, False
            else:
                names.append(name)
            index += 1
        elif not names and name in _GET_DATABASE:
            database, needs_database = _argument(call, constants), False
            index += 2
        elif not names and name in _GET_COLLECTION:
            names, index = [_argument(call, constants)], index + 2
        elif not names:
            if needs_database:
                return None  # client.close() and the like
            if name in RUNS:
                return _run_command(call, steps[index + 2 :], database, constants)
            raise syntax_error(f"db.{name}() is no read of a collection", step.at, _ONLY_READS)
        else:
            methods = _methods(steps[index:], constants)
            return Chain(".".join(names), methods, database, step.at, bool(database) and root == "db")
    return None


def _run_command(call: Call, rest: list[Member | Call], database: str, constants: Constants) -> Chain:
    command = command_in_call(call, constants.names)
    if command is None:
        raise syntax_error("a command is an object whose first key is its name", call.at, _ONLY_READS)
    for step in rest:
        if isinstance(step, Call) or _text(step, constants) not in _OF_REPLY:
            raise syntax_error("what is done with a command's reply is not read", step.at)
    found = command.chain()
    return Chain(found.container, found.methods, found.database or database, found.at, bool(database))


def _text(member: Member, constants: Constants) -> str:
    name = constants.value(member.name)
    if not isinstance(name, str):
        raise syntax_error("a collection's name is text", member.at)
    return name


def _argument(call: Call, constants: Constants) -> str:
    values = list(constants.items(call.arguments[:1]))
    if not values:
        return ""
    if not isinstance(values[0], str):
        raise syntax_error("a name is text", call.arguments[0].at)
    return values[0]


def _methods(steps: list[Member | Call], constants: Constants) -> tuple[Method, ...]:
    methods: list[Method] = []
    for member, call in zip(steps[::2], [*steps[1::2], None], strict=False):
        if not isinstance(member, Member):
            raise syntax_error("a result is no function", member.at)
        if not isinstance(member.name, Constant) or not isinstance(member.name.value, str):
            raise syntax_error("a single item of a result is not read: use limit", member.at)
        if not isinstance(call, Call):
            raise syntax_error(f".{member.name.value} of a result is not read", member.at)
        methods.append(Method(member.name.value, member.at, call.arguments, call.keywords))
    return tuple(methods)
