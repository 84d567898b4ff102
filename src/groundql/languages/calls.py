"""A query as calls on a collection, their arguments still to be worked out."""

from __future__ import annotations

from dataclasses import dataclass

from groundql.languages.syntax import Node, Spot


@dataclass(frozen=True, slots=True)
class Method:
    """One call in a chain, with its arguments still to be worked out."""

    name: str
    at: Spot
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A query as written: the collection and the calls on it. `database` is empty when none is named."""

    container: str
    methods: tuple[Method, ...]
    database: str
    at: Spot
    is_sibling: bool = False
    """Whether the database was named beside the one that `db` is."""
    through: frozenset[str] = frozenset()
    """The names, given to parts of it, that the query goes through."""
