"""Programs, what they claim about the data, and the sealed form that a database will execute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from groundql.core.kind import EVERY, Kind
from groundql.core.path import Path

Stage: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MqlProgram:
    """An aggregation over one container. Shape: `stages` hold BSON values (dates, ObjectIds, regexes) as bson types."""

    container: str
    stages: tuple[Stage, ...]
    language: Literal["mql"] = "mql"


@dataclass(frozen=True, slots=True)
class SqlProgram:
    """One SQL statement in a dialect."""

    text: str
    dialect: str
    language: Literal["sql"] = "sql"


Program: TypeAlias = MqlProgram | SqlProgram


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a program something stands.

    `stage` counts root stages from 0 (-1: the program as a whole); `pointer` is the way down from there, such as
    `$lookup.pipeline[1].$match.status`; `operator` the root stage's operator.
    """

    stage: int
    operator: str = ""
    pointer: str = ""

    def __str__(self) -> str:
        if self.stage < 0:
            return "program"
        return f"stage {self.stage + 1} {self.operator}".rstrip() + (f" at {self.pointer}" if self.pointer else "")


class ReadStatus(StrEnum):
    """What a read turned out to be at the stage where it stands."""

    STORED = "stored"
    COMPUTED = "computed"
    ABSENT = "absent"
    """Neither stored nor computed: no such path in the documents that reach this stage."""
    DROPPED = "dropped"
    """It existed at an earlier stage; a `$group`, `$project` or the like removed it."""
    EARLY = "early"
    """A later stage computes it."""
    KEY_AS_FIELD = "key_as_field"
    """It names one key of a dynamic map that is not among the keys seen."""
    FIELD_AS_MAP = "field_as_map"
    """A record with fixed fields is taken apart as if it were a map."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Read:
    """One field that a program reads.

    `text` is the reference as written (`$a.b`, `a.b`, `$$this.c`); `path` the stored path it resolves to, `<*>` where a
    map's key is named (`key` then holds it); `kinds` what it can be at this stage; `role` how it is used: match, expr,
    sort, group, unwind, project, lookup, output.
    `nearest` names the closest right paths or names for a read that did not resolve.
    """

    place: Place
    text: str
    status: ReadStatus
    container: str = ""
    path: Path | None = None
    kinds: frozenset[Kind] = EVERY
    role: str = "expr"
    key: str = ""
    keys: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A literal compared with a field: a `$match` condition or an expression.

    `operator` is `$eq $ne $gt $gte $lt $lte $in $nin $regex $exists $type $size $all $elemMatch` or `=key` (the program
    names a map's key as a field step). `is_filter` is true where it decides which rows go on, not merely what is shown.
    """

    place: Place
    operator: str
    read: Read
    value: Any
    is_filter: bool = True


@dataclass(frozen=True, slots=True)
class JoinClaim:
    """A join that a program makes. `local` and `foreign` are None where they are computed or unknown."""

    place: Place
    container: str
    local: Read | None
    to_container: str
    foreign: Read | None
    via: str = "$lookup"


@dataclass(frozen=True, slots=True)
class Claims:
    """What a program says about the data, resolved against a catalog.

    `limits` are the root `$limit` values with their places; `outputs` the names of the final columns in order, or
    None where they cannot be known; `numbers` and `texts` every literal anywhere; `output_kinds` what each can be.
    `multiplies` lists the unwinds and joins that can repeat a root document.
    """

    containers: frozenset[str] = frozenset()
    reads: tuple[Read, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    joins: tuple[JoinClaim, ...] = ()
    limits: tuple[tuple[Place, int], ...] = ()
    outputs: tuple[str, ...] | None = None
    output_kinds: Mapping[str, frozenset[Kind]] | None = None
    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    operators: frozenset[str] = frozenset()
    unknown_operators: frozenset[str] = frozenset()
    multiplies: tuple[Read, ...] = ()
    is_ordered: bool = False

    def stored_reads(self) -> tuple[Read, ...]:
        """The reads that resolve to a stored path."""
        return tuple(r for r in self.reads if r.status is ReadStatus.STORED and r.path is not None)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A program that passed the safety check; only `languages.safety` builds one."""

    program: Program
