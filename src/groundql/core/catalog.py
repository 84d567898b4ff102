"""What was witnessed in a database: containers, their paths, and terms of a question found in the data."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from groundql.core.kind import Kind
from groundql.core.path import Path

Number: TypeAlias = int | float | decimal.Decimal
"""A finite stored number, exact: a Decimal only where no float is the same number."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The least and greatest finite number seen at a path; NaN and the infinities stand in `Field.non_finite`."""

    low: Number
    high: Number


@dataclass(frozen=True, slots=True)
class DateRange:
    """The earliest and latest date seen at a path, in UTC."""

    low: dt.datetime
    high: dt.datetime


@dataclass(frozen=True, slots=True)
class Lengths:
    """Array lengths seen at a path. Units: items."""

    low: int
    high: int
    mean: float


class Counted(StrEnum):
    """How far a count of different things can be believed."""

    EXACT = "exact"
    ABOUT = "about"
    """Everything was read, and there were too many to keep: a sketch's estimate."""
    LEAST = "at least"
    """Exact for the documents that were read; there are others."""
    LEAST_ABOUT = "at least about"

    @classmethod
    def of(cls, *, is_whole: bool, is_estimate: bool) -> Counted:
        """Name the trust in a count: of everything or of a part, counted or estimated."""
        if is_estimate:
            return cls.ABOUT if is_whole else cls.LEAST_ABOUT
        return cls.EXACT if is_whole else cls.LEAST


class KeyKind(StrEnum):
    """What the keys of a map look like."""

    NUMBER = "number"
    YEAR = "year"
    DATE = "date"
    CODE = "code"
    ID = "id"
    WORD = "word"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The keys of a dynamic map.

    `examples` are real keys, most frequent first; `complete` says whether they are all of them.
    Units: `distinct` counts different keys, and `counted` says how well; `mean` keys per map.
    """

    kind: KeyKind
    examples: tuple[str, ...]
    distinct: int
    complete: bool
    mean: float = 0.0
    counted: Counted = Counted.LEAST


@dataclass(frozen=True, slots=True)
class Field:
    """One path of a container, as witnessed.

    Shape: `kinds` holds (kind, count) for the values seen at this path, most frequent first; `Kind.MISSING` is not
    among them. At `a[]` the values are the items, at `m.<*>` the entries.
    Units: `count` values seen here; `parents` objects seen that could have held it; `documents` sampled documents in
    which the path occurs at least once. `present_share` is count / parents, 0 to 1.
    `values` are stored values, most frequent first; `complete` says that they are all the distinct scalar values.
    `distinct` counts different scalar values, null left out, and `counted` says how well.
    `non_finite` holds (name, count) for NaN, Infinity and -Infinity, which `numbers` leaves out.
    `folded` marks a place below which a recursive or very deep shape was not walked further.
    `declared` and `comment` come from an engine with a catalog, or stay empty.
    """

    path: Path
    kinds: tuple[tuple[Kind, int], ...]
    count: int
    parents: int
    documents: int
    lengths: Lengths | None = None
    numbers: NumberRange | None = None
    dates: DateRange | None = None
    keys: KeySpace | None = None
    values: tuple[object, ...] = ()
    distinct: int = 0
    complete: bool = False
    folded: bool = False
    declared: str = ""
    comment: str = ""
    counted: Counted = Counted.LEAST
    non_finite: tuple[tuple[str, int], ...] = ()

    @property
    def present_share(self) -> float:
        """The share of the objects that could hold this path and do, 0 to 1."""
        return self.count / self.parents if self.parents else 0.0

    @property
    def kind_set(self) -> frozenset[Kind]:
        """The kinds seen, `missing` included where some parent lacks the path."""
        seen = frozenset(kind for kind, _ in self.kinds)
        return seen | {Kind.MISSING} if self.count < self.parents else seen

    def share(self, kind: Kind) -> float:
        """The share of the values here that are of a kind; for `missing`, of the parents that lack it."""
        if kind is Kind.MISSING:
            return 1.0 - self.present_share
        return dict(self.kinds).get(kind, 0) / self.count if self.count else 0.0

    @property
    def is_map(self) -> bool:
        """Whether objects here are maps whose keys are data."""
        return self.keys is not None


@dataclass(frozen=True, slots=True)
class Variant:
    """One branch of a polymorphic container: what a discriminator's value says about the fields.

    `path` is the discriminator below `base` (the root, or an array's items), `value` its stored value; an empty `path`
    with the value None says that the shape alone tells the branches apart. `only` are the paths found in (nearly) no
    other branch, `absent` those found in other branches but (nearly) never here.
    Units: `share` of the objects at `base` that are of this variant, 0 to 1.
    """

    base: Path
    path: Path
    value: object
    share: float
    only: tuple[Path, ...] = ()
    absent: tuple[Path, ...] = ()


class StopReason(StrEnum):
    """Why sampling ended."""

    EXHAUSTED = "every document seen"
    SATURATED = "nothing new turned up"
    DOCUMENTS = "document budget reached"
    BYTES = "byte budget reached"
    TIME = "time budget reached"
    SERVER = "inferred on the server"
    FAILED = "could not be read"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the documents behind a container's fields were chosen.

    Units: `unseen_share` is the estimated chance, 0 to 1, that the next document shows a path not seen yet.
    """

    documents: int
    stop: StopReason
    unseen_share: float = 0.0
    read_bytes: int = 0
    elapsed_s: float = 0.0


class ContainerType(StrEnum):
    """What a container is."""

    COLLECTION = "collection"
    VIEW = "view"
    TIME_SERIES = "timeseries"
    CAPPED = "capped"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class ContainerInfo:
    """What a database says of a container by itself, before any document is read.

    Units: `documents` is the engine's count or estimate, None when it cannot say; `mean_bytes` per document.
    """

    name: str
    type: ContainerType = ContainerType.COLLECTION
    documents: int | None = None
    mean_bytes: int | None = None
    indexes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Container:
    """A collection, view or table with its witnessed fields, ordered by path.

    `error` is not empty for a container that could not be read: its fields are unknown, which is not "none".
    """

    info: ContainerInfo
    fields: tuple[Field, ...]
    sampling: Sampling
    variants: tuple[Variant, ...] = ()
    error: str = ""

    @property
    def name(self) -> str:
        """The container's name."""
        return self.info.name

    @property
    def is_known(self) -> bool:
        """Whether its fields were witnessed at all."""
        return not self.error

    @property
    def is_exhaustive(self) -> bool:
        """Whether every document was looked at, so that an absent path does not exist."""
        return self.sampling.stop is StopReason.EXHAUSTED

    @cached_property
    def by_path(self) -> Mapping[Path, Field]:
        """The fields by their paths."""
        return {f.path: f for f in self.fields}

    @cached_property
    def _children(self) -> Mapping[Path, tuple[Field, ...]]:
        found: dict[Path, list[Field]] = {}
        for f in self.fields:
            found.setdefault(f.path.parent, []).append(f)
        return {path: tuple(fields) for path, fields in found.items()}

    def children(self, path: Path) -> tuple[Field, ...]:
        """The fields one step below a path."""
        return tuple(f for f in self._children.get(path, ()) if f.path != path)

    def get(self, path: Path) -> Field | None:
        """The field at a path, or None."""
        return self.by_path.get(path)


@dataclass(frozen=True, slots=True)
class Edge:
    """A witnessed reference: values at one path (its keys, when `is_key`) that occur at another.

    Units: `hit_share` of the distinct values looked up that were found, 0 to 1; `fan_out` mean matches per value.
    """

    container: str
    path: Path
    to_container: str
    to_path: Path
    hit_share: float
    fan_out: float
    is_key: bool = False


@dataclass(frozen=True)
class Catalog:
    """Everything witnessed in one database."""

    database: str
    containers: tuple[Container, ...]
    fingerprint: str = ""
    edges: tuple[Edge, ...] = ()
    server: str = ""
    created: dt.datetime | None = field(default=None, compare=False)

    @cached_property
    def by_name(self) -> Mapping[str, Container]:
        """The containers by their names."""
        return {c.name: c for c in self.containers}

    def get(self, name: str) -> Container | None:
        """The container of a name, or None."""
        return self.by_name.get(name)

    def fields(self) -> Iterator[tuple[Container, Field]]:
        """Yield every field with its container."""
        return ((c, f) for c in self.containers for f in c.fields)


@dataclass(frozen=True, slots=True)
class Witness:
    """A term of the question found in the stored data.

    `stored` is the exact stored form (a key's text when `is_key`); `path` is where the value lies, or for a key the
    map that holds it. `hard` means the question insists on it: a program that ignores it is wrong. `distance` is the
    edit distance between term and stored form after folding, 0 for the same word.
    Units: `count` occurrences seen; `places` how many paths hold it in all, of which this is one.
    """

    term: str
    container: str
    path: Path
    stored: object
    is_key: bool = False
    hard: bool = False
    distance: int = 0
    count: int = 0
    places: int = 1
