"""The one module that tells the languages apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from groundql.core.catalog import Catalog
from groundql.core.program import Claims, MqlProgram, Program, SqlProgram
from groundql.errors import InputError
from groundql.languages import writing
from groundql.languages.flow import analyse
from groundql.languages.mongosh import read_query

Form: TypeAlias = Literal["shell", "ejson", "python", "javascript"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A program as read from text, with notes on what was left out of it."""

    program: Program
    notes: tuple[str, ...] = ()


def parse(text: str, dialect: str, container: str | None = None, database: str | None = None) -> Parsed:
    """Read what a person pasted. `container` is a bare pipeline's; `database` the only one the text may name.

    Raises: ProgramSyntaxError with the place; InputError for a dialect that cannot be read yet.
    """
    if dialect != "mongodb":
        raise InputError(f"cannot read {dialect} programs", hint="MongoDB is the database this version speaks to")
    reading = read_query(text, container, database)
    return Parsed(reading.program, reading.notes)


def claims_of(program: Program, catalog: Catalog) -> Claims:
    """Say what a program reads and compares, resolved against the catalog."""
    match program:
        case MqlProgram():
            return analyse(program, catalog)
        case SqlProgram():
            raise InputError("SQL programs cannot be analysed yet")
        case _:
            assert_never(program)


def write(program: Program, form: Form = "shell") -> str:
    """Write a program for people (shell), for machines (EJSON), or as driver code."""
    if isinstance(program, SqlProgram):
        return program.text
    match form:
        case "shell":
            return writing.to_shell(program)
        case "ejson":
            return writing.to_ejson(program)
        case "python":
            return writing.to_python(program)
        case "javascript":
            return writing.to_javascript(program)
        case _:
            assert_never(form)
