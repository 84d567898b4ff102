"""Database commands that read (`{find: ...}`, `{aggregate: ...}`), as the calls of a collection they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from groundql.languages.calls import Chain, Method
from groundql.languages.syntax import Call, Constant, Document, Name, Node, Spot, names, syntax_error

RUNS: Final = names("runCommand command adminCommand runCommandWithCheck")
"""Methods of a database that run a command."""
_METHODS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "find": ("find", ("filter",)),
    "aggregate": ("aggregate", ("pipeline",)),
    "count": ("countDocuments", ("query",)),
    "distinct": ("distinct", ("key", "query")),
}
"""The method that each command is, and its arguments by position."""
_ENVELOPE: Final = names("""
    lsid txnNumber autocommit startTransaction apiVersion apiStrict apiDeprecationErrors cursor ntoreturn
""")
"""What a driver adds to a command by itself; it says nothing about rows."""
_ONLY_READS: Final = "only these commands are read: find, aggregate, count, distinct"
_ABOUT_SERVERS: Final = names("""
    ping hello isMaster ismaster buildInfo buildinfo serverStatus hostInfo connectionStatus getParameter dbStats
    collStats listCollections listDatabases listIndexes currentOp top validate getLog replSetGetStatus getMore
""")


@dataclass(frozen=True, slots=True)
class Command:
    """A command as written: its name, what it is about, and its options in order."""

    name: str
    subject: Node
    options: Mapping[str, Node]
    at: Spot

    @property
    def is_read(self) -> bool:
        """Whether it is one of the commands that are read, or the explanation of one."""
        return self.name in _METHODS or self.name == "explain"

    @property
    def names_collection(self) -> bool:
        """Whether it reads like a command and not like a filter on fields of these names."""
        subject = self.subject
        if self.name == "explain":
            return isinstance(subject, Document)
        return self.name in _METHODS and isinstance(subject, Constant) and isinstance(subject.value, str)

    def has_own_options(self) -> bool:
        """Tell whether an option stands beside the name that only this command has."""
        own = {*_METHODS.get(self.name, ("", ()))[1], "projection", "sort", "cursor", "$db", "verbosity"}
        return bool(own & set(self.options))

    def chain(self) -> Chain:
        """Return the calls that the command stands for.

        Raises: ProgramSyntaxError for a command that is not read.
        """
        if self.name == "explain" and isinstance(self.subject, Document):
            inner = command_of(self.subject)
            if inner is not None:
                found = inner.chain()
                methods = (*found.methods, Method("explain", self.at, (), ()))
                return Chain(found.container, methods, found.database, self.at)
        if not self.is_read:
            raise self.refusal()
        return self._call()

    def refusal(self) -> Exception:
        """Return the error for a command that is not read: it may write, or it is about the server."""
        shown = self.name[:60]
        if self.name in _ABOUT_SERVERS:
            return syntax_error(f"the command {shown} reads no documents of a collection", self.at, _ONLY_READS)
        message = f"the command {shown} may write or run code, and only reads are accepted"
        return syntax_error(message, self.at, _ONLY_READS)

    def _call(self) -> Chain:
        if not self.names_collection:
            raise syntax_error(f"the command {self.name} names no collection", self.at, _ONLY_READS)
        method, positions = _METHODS[self.name]
        given = {n: v for n, v in self.options.items() if n not in _ENVELOPE and not n.startswith("$")}
        arguments = tuple(given.pop(n, Constant(self.at, None)) for n in positions)
        if self.name == "aggregate" and "pipeline" not in self.options:
            raise syntax_error("the command aggregate has no pipeline", self.at)
        container = cast("str", cast("Constant", self.subject).value)
        database = self.options.get("$db")
        named = database.value if isinstance(database, Constant) and isinstance(database.value, str) else ""
        return Chain(container, (Method(method, self.at, arguments, tuple(given.items())),), named, self.at)


def command_of(document: Document) -> Command | None:
    """Return an object as a command, whose name is its first key; None where it can be none."""
    entries = [(key.value, value) for key, value in document.entries if isinstance(key, Constant)]
    if len(entries) != len(document.entries) or not entries:
        return None
    (name, subject), *rest = entries
    if not isinstance(name, str) or name.startswith("$"):
        return None
    return Command(name, subject, {str(key): value for key, value in rest}, document.at)


def command_in_call(call: Call, names: Mapping[str, Node]) -> Command | None:
    """Return what `db.runCommand(...)` runs, an object or a name with options; None where it cannot be told."""
    first = call.arguments[0] if call.arguments else None
    if isinstance(first, Name):
        first = names.get(first.text)
    if isinstance(first, Document):
        return command_of(first)
    if not isinstance(first, Constant) or not isinstance(first.value, str):
        return None
    subject = call.arguments[1] if len(call.arguments) > 1 else Constant(first.at, 1)
    return Command(first.value, subject, dict(call.keywords), first.at)


def logged_command(document: Document) -> Document | None:
    """Return the command inside an entry of a profile or a slow-query log, if there is one."""
    entries = {key.value: value for key, value in document.entries if isinstance(key, Constant)}
    inner = entries.get("attr", document)
    if isinstance(inner, Document):
        found = next((v for k, v in inner.entries if isinstance(k, Constant) and k.value == "command"), None)
        if isinstance(found, Document) and ("ns" in entries or "attr" in entries):
            return found
    return None


def looks_like_command(document: Document, container: str | None) -> Command | None:
    """Return a bare object as a command that is read, or None where it is rather a filter on `container`."""
    command = command_of(document)
    if command is None or not command.names_collection:
        return None
    if container is None or command.has_own_options() or not command.options:
        subject = command.subject
        is_other = isinstance(subject, Constant) and subject.value != container
        return None if container and not command.options and is_other else command
    return None
