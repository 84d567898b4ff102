"""Text that people paste, to a program: shell syntax, EJSON, Python driver text.

The text is parsed, never run. Whatever is not a literal, a known constructor, constant arithmetic or a read method of
a collection is refused with its place. `new Date()` counts as the moment of reading; dates without a zone are in UTC.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from groundql.core.program import MqlProgram, Stage
from groundql.errors import ProgramSyntaxError
from groundql.languages import ejson
from groundql.languages.bounds import Refused, copy_plain
from groundql.languages.calls import Chain, Method
from groundql.languages.chain import find_chain, shows_named
from groundql.languages.commands import command_of, logged_command, looks_like_command
from groundql.languages.constants import Constants
from groundql.languages.excerpt import Excerpt, begins_as_code, blank_use_lines, excerpts
from groundql.languages.javascript import read_javascript, read_javascript_value
from groundql.languages.likeness import foreign_language, looks_like_python
from groundql.languages.methods import read_methods, read_stages
from groundql.languages.python_text import read_python
from groundql.languages.session import blank_session
from groundql.languages.syntax import (
    NOWHERE,
    Assign,
    Constant,
    Document,
    Name,
    Node,
    Run,
    Script,
    Spot,
    names,
    syntax_error,
)
from groundql.languages.syntax import Sequence as Items
from groundql.languages.typography import blank_hash_comments, straighten
from groundql.languages.writes import refuse_writes, refuse_written

MAX_CHARACTERS: Final = 2_000_000
_HINTS_AT_QUERY: Final = re.compile(r"[\[{(]|\bdb\b")
_NAMES_COLLECTION: Final = ("collection", "container", "aggregate", "from")
_FILTERS: Final = names("$and $or $nor $expr $text $where $comment $jsonSchema $alwaysTrue $alwaysFalse $sampleRate")
"""What a filter may begin with; any other dollar begins a stage."""
_WRITE_COMMANDS: Final = names("insert update delete findAndModify findandmodify drop mapReduce renameCollection")
_READABLE: Final = "write it in shell syntax, as Extended JSON, or as JavaScript or Python driver code"
_QUOTES: Final = "typographic quotes are read as plain ones"
_OUTPUT: Final = "what the shell printed is left out: only what was typed is read"
_NO_QUERY: Final = "there is no query in the text"
_FORMS: Final = (
    'a query looks like db.heroes.find({...}), db.heroes.aggregate([...]) or {"collection": ..., "pipeline": [...]}'
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A program as read from text, with notes on what was left out of it."""

    program: MqlProgram
    notes: tuple[str, ...] = ()


def parse_program(
    text: str, container: str | None = None, database: str | None = None, now: dt.datetime | None = None
) -> MqlProgram:
    """Read one query. `container` is the collection of a bare pipeline; `database` the only one it may name.

    Raises: ProgramSyntaxError with line and column, and what was expected.
    """
    return read_query(text, container, database, now).program


def read_query(
    text: str, container: str | None = None, database: str | None = None, now: dt.datetime | None = None
) -> Reading:
    """Read one query, with notes on the options that were left out.

    Raises: ProgramSyntaxError as `parse_program` does.
    """
    _check_text(text)
    text, had_output = blank_session(text)
    text, used = blank_use_lines(text)
    for name in used:
        _check_database(name, database)
    reader = _Excerpts(text, container, database, now or dt.datetime.now(dt.UTC))
    found = reader.first()
    left_out = [f"use {name} is left out: the database that is open is asked" for name in used if database is None]
    return replace(found, notes=(*found.notes, *left_out, *([_OUTPUT] if had_output else [])))


def parse_pipeline(value: object) -> tuple[Stage, ...]:
    """Read a pipeline: decoded JSON, in which EJSON markers become BSON values, or its text.

    Raises: ProgramSyntaxError naming the stage that does not fit.
    """
    if isinstance(value, str):
        return parse_program(value, container="-").stages
    stages: Any = [cast("Any", value)] if isinstance(value, Mapping) else value
    if not isinstance(stages, list | tuple):
        raise syntax_error(f"a pipeline is a list of stages, not {type(stages).__name__}")
    found: list[Any] = []
    for number, stage in enumerate(_plain(cast("Sequence[Any]", stages)), 1):
        try:
            found.append(ejson.decode(stage))
        except ValueError as error:
            raise syntax_error(f"stage {number}: {error}") from None
    return tuple(read_stages(found, NOWHERE))


def _plain(stages: Sequence[Any]) -> list[Any]:
    try:
        return copy_plain(stages)
    except Refused as refused:
        raise syntax_error(refused.message) from None


def _check_text(text: str) -> None:
    if not text.strip():
        raise syntax_error("the text is empty", NOWHERE, _FORMS)
    if len(text) > MAX_CHARACTERS:
        raise syntax_error(f"the text is longer than {MAX_CHARACTERS:,} characters")
    if "\0" in text:
        raise syntax_error("the text holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise syntax_error("the text holds half of a surrogate pair")


_OF_THE_SERVER: Final = frozenset({"admin", "config", "local"})
"""Never the name that somebody's files go by."""


def _check_database(name: str, database: str | None, at: Spot = NOWHERE) -> None:
    if name != database and (database is not None or name in _OF_THE_SERVER):
        message = f"the query is about the database {name}, and this is {database or 'another'}"
        raise syntax_error(message, at, f"connect to {name} instead, or take the name out")


@dataclass(slots=True)
class _Excerpts:
    """The parts of a text that may be the query, tried one after another."""

    text: str
    container: str | None
    database: str | None
    now: dt.datetime
    errors: list[ProgramSyntaxError] = field(default_factory=list[ProgramSyntaxError])

    def first(self) -> Reading:
        """Return the first that can be read.

        Raises: ProgramSyntaxError with what is wrong in the part that is most likely the query.
        """
        for excerpt in excerpts(self.text) if _HINTS_AT_QUERY.search(self.text) else ():
            found = self.read(excerpt)
            if found is not None:
                return found
        if name := foreign_language(self.text):
            raise syntax_error(f"this looks like {name} code, which is not read", NOWHERE, _READABLE)
        if self.errors and begins_as_code(self.text):
            raise self.errors[0]
        # The attempt that got furthest says best what is wrong.
        raise max(self.errors, key=lambda e: (e.line, e.column), default=syntax_error(_NO_QUERY, NOWHERE, _FORMS))

    def read(self, excerpt: Excerpt) -> Reading | None:
        straight, had_quotes = straighten(excerpt.text)
        try:
            script = _parse(straight.rstrip(" \t\r\n,;"))
        except ProgramSyntaxError as error:
            self.errors.append(_shifted(error, excerpt))
            return None
        try:
            found = _Query(script, self.container, self.database, self.now).read()
        except ProgramSyntaxError as error:
            shifted = _shifted(error, excerpt)
            if not self.is_for_want_of_the_rest(error, excerpt):
                raise (self.in_another_language(shifted) or shifted) from None
            self.errors.append(shifted)
            return None
        self.refuse_writes_beside(excerpt)
        return replace(found, notes=(*found.notes, _QUOTES)) if had_quotes else found

    def is_for_want_of_the_rest(self, error: ProgramSyntaxError, excerpt: Excerpt) -> bool:
        """Tell whether a part could not be read only because what was cut off before or after it belongs to it."""
        if excerpt.is_whole or not self.errors:
            return _NO_QUERY in str(error) and not excerpt.is_whole
        name = re.search(r"(\S+) has no value here", str(error))
        given = name is not None and re.search(rf"^[ \t]*(?:\w+[ \t]+)?{re.escape(name[1])}[ \t]*=", self.text, re.M)
        return _NO_QUERY in str(error) or bool(given)

    def in_another_language(self, error: ProgramSyntaxError) -> ProgramSyntaxError | None:
        name = foreign_language(self.text) if _NO_QUERY in str(error) or "has no value" in str(error) else ""
        return syntax_error(f"this looks like {name} code, which is not read", NOWHERE, _READABLE) if name else None

    def refuse_writes_beside(self, excerpt: Excerpt) -> None:
        if not excerpt.is_whole:
            start = self.text.find(excerpt.text)
            refuse_written(self.text[:start])
            refuse_written(self.text[start + len(excerpt.text) :], self.text.count("\n", 0, start + len(excerpt.text)))


def _shifted(error: ProgramSyntaxError, excerpt: Excerpt) -> ProgramSyntaxError:
    """Move the place of an error from an excerpt to the whole text."""
    if not error.line or not (excerpt.line or excerpt.column):
        return error
    message = re.sub(r"\Aline \d+, column \d+: ", "", str(error))
    line, column = error.line, error.column
    moved = column + excerpt.column if line == 1 else column
    where = f"line {line + excerpt.line}, column {moved}: "
    return ProgramSyntaxError(where + message, line=line + excerpt.line, column=moved, hint=error.hint)


# --- parsing ----------------------------------------------------------------------------------------------------------


def _parse(text: str) -> Script:
    """Parse as the language that the text is in; where neither fits, the error is the one of the likelier."""
    try:
        script = _parse_shell(text)
    except ProgramSyntaxError as error:
        return _parse_otherwise(text, error)
    if script.may_be_python:
        with suppress(ProgramSyntaxError):
            return read_python(text)
    return script


def _parse_otherwise(text: str, error: ProgramSyntaxError) -> Script:
    """Parse text that is no JavaScript, for the `error` it came with."""
    is_python = looks_like_python(text)
    if not is_python and (without := blank_hash_comments(text)) != text:
        with suppress(ProgramSyntaxError):
            return _parse_shell(without)
    try:
        return read_python(text)
    except ProgramSyntaxError as other:
        is_further = (other.line, other.column) > (error.line, error.column)
        raise (other if is_python or (is_python is None and is_further) else error) from None


def _parse_shell(text: str) -> Script:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return read_javascript_value(text)
        except ProgramSyntaxError:
            if text.lstrip()[0] == "{":
                raise
    return read_javascript(text)


# --- the query --------------------------------------------------------------------------------------------------------


class _Query:
    """The one query of a script."""

    def __init__(self, script: Script, container: str | None, database: str | None, now: dt.datetime) -> None:
        self.statements = script.statements
        names = {s.name: s.value for s in script.statements if isinstance(s, Assign)}
        self.constants = Constants(names, now, script.language)
        self.container = container
        self.database = database

    def read(self) -> Reading:
        refuse_writes(self.statements)
        chains = self.chains()
        if len(chains) > 1:
            raise syntax_error("there is more than one query: give one at a time", chains[1].at)
        if not chains:
            return self.bare()
        return self.query(chains[0])

    def query(self, chain: Chain, notes: Sequence[str] = ()) -> Reading:
        if chain.database:
            self.check_database(chain)
        stages, left_out = read_methods(chain, self.constants)
        return self.reading(chain.container, list(stages), (*notes, *left_out))

    def check_database(self, chain: Chain) -> None:
        if self.database is None and chain.is_sibling:
            message = f"the query goes to the database {chain.database}, beside the one that is open"
            hint = "take the database's name out: db.COLLECTION.find(...) reads the one that is open"
            raise syntax_error(message, chain.at, hint)
        _check_database(chain.database, self.database, chain.at)

    def chains(self) -> list[Chain]:
        """Find the queries: those that stand by themselves, or else those that were given a name."""
        run = [self.shown(s.value) for s in self.statements if isinstance(s, Run)]
        found = list({chain.at: chain for chain in run if chain is not None}.values())  # shown twice, it is one query
        if found:
            return found
        named = {s.name: self.chain(s.value) for s in self.statements if isinstance(s, Assign)}
        through = frozenset[str]().union(*(chain.through for chain in named.values() if chain is not None))
        # `cursor = coll.find()` and `docs = cursor.toArray()` are one query
        return [chain for name, chain in named.items() if chain is not None and name not in through]

    def shown(self, node: Node) -> Chain | None:
        try:
            return self.chain(node)
        except ProgramSyntaxError:
            if shows_named(node, self.constants):
                return None  # the query is where the name is given
            raise

    def chain(self, node: Node) -> Chain | None:
        return find_chain(node, self.constants)

    def bare(self) -> Reading:
        """Read a pipeline without a call around it, or an object that names its collection."""
        values = [s.value for s in self.statements if isinstance(s.value, Items | Document)]
        if len(values) != 1:
            at = self.statements[0].at if self.statements else NOWHERE
            raise syntax_error(_NO_QUERY, at, _FORMS)
        value = values[0]
        return self.bare_object(value) if isinstance(value, Document) else self.pipeline(value, self.container)

    def bare_object(self, node: Document) -> Reading:
        """Read an object: a command, a log entry with one in it, a pipeline with its collection, a stage, a filter."""
        logged = logged_command(node)
        command = looks_like_command(logged or node, None if logged else self.container)
        if command is not None:
            return self.query(command.chain(), ["the command of a log entry is read"] if logged else ())
        entries = {key.value: value for key, value in node.entries if isinstance(key, Constant)}
        first = next(iter(entries), None)
        if isinstance(entries.get("pipeline"), Items | Name):
            return self.pipeline(entries["pipeline"], self.named_container(entries) or self.container)
        if isinstance(first, str) and first.startswith("$") and len(entries) == 1 and first not in _FILTERS:
            return self.pipeline(Items(node.at, (node,)), self.container)
        if not self.container:
            found = command_of(node)
            if found is not None and found.name in _WRITE_COMMANDS:
                raise found.refusal()
            raise syntax_error("a filter by itself does not say which collection it reads", node.at, _FORMS)
        notes = (f"the object is read as the filter of a find on {self.container}",)
        return self.query(Chain(self.container, (Method("find", node.at, (node,), ()),), "", node.at), notes)

    def named_container(self, entries: Mapping[Any, Node]) -> str:
        named = next((entries[name] for name in _NAMES_COLLECTION if name in entries), None)
        value = self.constants.value(named) if named is not None else ""
        if not isinstance(value, str):
            raise syntax_error("a collection's name is text", named.at if named is not None else NOWHERE)
        return value

    def pipeline(self, node: Node, container: str | None) -> Reading:
        stages = self.constants.value(node)
        if not isinstance(stages, list):
            raise syntax_error("a pipeline is a list of stages", node.at)
        if not container:
            raise syntax_error("a pipeline by itself does not say which collection it reads", node.at, _FORMS)
        return self.reading(container, read_stages(cast("list[Any]", stages), node.at), ())

    def reading(self, container: str, stages: list[Any], notes: Sequence[str]) -> Reading:
        return Reading(MqlProgram(container, tuple(_plain(stages))), tuple(notes))
