"""Which cases fall to which machine: by a hash of the case, so that every machine agrees without talking."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from groundql.bench.case import Case, CaseId
from groundql.errors import InputError


class Shard(NamedTuple):
    """One part of a run. `number` counts from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_shard(text: str) -> Shard:
    """Read `1/2` and the like.

    Raises: InputError.
    """
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text.strip())
    shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise InputError(f"{text!r} is not a shard", hint="write 1/2 for the first of two, and 2/2 for the second")
    return shard


def shard_of(case: CaseId, parts: int) -> int:
    """Return the part, from 1, that a case falls to."""
    digest = hashlib.sha256(f"{case.database}\0{case.record_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts + 1


def cases_of(cases: Iterable[Case], shard: Shard) -> tuple[Case, ...]:
    """Keep the cases that fall to a shard, in their order."""
    return tuple(case for case in cases if shard_of(case.id, shard.of) == shard.number)
