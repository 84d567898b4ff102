"""From a database to a grounder: the stored grounding where the data is unchanged, else a new one, built and kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog
from groundql.core.ports import Database, Description
from groundql.errors import GroundingError
from groundql.grounding.codec import StoredGrounding
from groundql.grounding.edges import find_edges
from groundql.grounding.fingerprint import fingerprint_of
from groundql.grounding.index import ValueIndex
from groundql.grounding.profile import Profile, StoredValues
from groundql.grounding.sample import Progress, SamplePolicy, profile_database
from groundql.grounding.store import GroundingStore
from groundql.grounding.terms import read_terms
from groundql.grounding.values import find_witnesses

Listen = Callable[[Progress], None]


@dataclass(frozen=True)
class CatalogGrounder:
    """Turn questions into groundings on one database.

    `values` are the stored values behind the index; `notes` say what a person should know of how this came about;
    `reused` that the grounding was on disk already. Without a database, terms are looked up in the index alone.
    """

    catalog: Catalog
    index: ValueIndex
    database: Database | None = None
    values: tuple[StoredValues, ...] = ()
    notes: tuple[str, ...] = ()
    reused: bool = False

    async def ground(self, question: Question, /) -> Grounding:
        """Return the catalog, with the question's terms looked up in the data and its dates resolved.

        Raises: InputError when the question's time zone is unknown.
        """
        witnesses, missing = await find_witnesses(question, self.catalog, self.index, self.database)
        return Grounding(question, self.catalog, witnesses, missing, read_terms(question).relative_dates)


async def open_grounding(
    database: Database,
    store: GroundingStore | None,
    policy: SamplePolicy,
    refresh: bool = False,
    listen: Listen | None = None,
) -> CatalogGrounder:
    """Return a grounder for a database, from the store where its data is unchanged, else newly built and kept.

    A store that is None, damaged or cannot be written never keeps a grounding from being built.
    Raises: the `DatabaseError` family when the database itself cannot be described.
    """
    description = await database.describe()
    fingerprint = await fingerprint_of(description, database)
    notes: list[str] = []
    if store is None:
        return _grounder(await _build(database, description, fingerprint, policy, listen), database, notes)
    if not refresh and (found := _load(store, fingerprint, notes)) is not None:
        return _grounder(found, database, notes, reused=True)
    async with store.hold(fingerprint):
        if not refresh and (found := _load(store, fingerprint, [])) is not None:  # another process was faster
            return _grounder(found, database, notes, reused=True)
        built = await _build(database, description, fingerprint, policy, listen)
        if not any(c.is_known for c in built.catalog.containers):
            return _grounder(built, database, notes)  # nothing was read: try again next time
        try:
            store.save(built)
        except GroundingError as error:
            notes.append(str(error))
    return _grounder(built, database, notes)


def assemble(
    description: Description, profiles: tuple[Profile, ...], fingerprint: str = "", created: dt.datetime | None = None
) -> StoredGrounding:
    """Put the profiles of a database together, ordered by name, so that the same data gives the same catalog."""
    ordered = sorted(profiles, key=lambda p: p.container.name)
    containers = tuple(p.container for p in ordered)
    values = tuple(v for p in ordered for v in p.values)
    server = f"{description.engine} {description.version}".strip()
    edges = find_edges(containers, values)
    return StoredGrounding(Catalog(description.database, containers, fingerprint, edges, server, created), values)


async def _build(
    database: Database, description: Description, fingerprint: str, policy: SamplePolicy, listen: Listen | None
) -> StoredGrounding:
    _, profiles = await profile_database(database, policy, listen, [c.name for c in description.containers])
    return assemble(description, profiles, fingerprint, dt.datetime.now(dt.UTC))


def _load(store: GroundingStore, fingerprint: str, notes: list[str]) -> StoredGrounding | None:
    try:
        return store.load(fingerprint)
    except GroundingError as error:
        notes.append(f"{error}; it is built anew")
        return None


def _grounder(stored: StoredGrounding, database: Database, notes: list[str], reused: bool = False) -> CatalogGrounder:
    index = ValueIndex.build(stored.values)
    return CatalogGrounder(stored.catalog, index, database, stored.values, tuple(notes), reused)
