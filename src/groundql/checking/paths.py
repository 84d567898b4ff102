"""The path gate: every read must be stored, or computed before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from groundql.core.answer import Grounding
from groundql.core.catalog import Container
from groundql.core.finding import Code, Finding
from groundql.core.program import Claims, Read, ReadStatus

CODES: Final[Mapping[ReadStatus, Code]] = {
    ReadStatus.ABSENT: Code.UNKNOWN_PATH,
    ReadStatus.DROPPED: Code.DROPPED_PATH,
    ReadStatus.EARLY: Code.EARLY_PATH,
    ReadStatus.KEY_AS_FIELD: Code.KEY_AS_FIELD,
    ReadStatus.FIELD_AS_MAP: Code.FIELD_AS_MAP,
}
SOFT_ROLES: Final = frozenset({"exists", "unset"})
"""Reads whose absence the program itself provides for."""


def path_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Turn each read that does not resolve into a finding, once per text and stage."""
    seen: set[tuple[int, str, ReadStatus]] = set()
    found: list[Finding] = []
    for read in claims.reads:
        mark = (read.place.stage, read.text, read.status)
        if read.status in CODES and mark not in seen:
            seen.add(mark)
            found.append(_finding(read, claims, grounding.catalog.get(read.container)))
    return found


def _finding(read: Read, claims: Claims, container: Container | None) -> Finding:
    return Finding(
        CODES[read.status],
        _message(read),
        read.place,
        path=read.text,
        evidence=_evidence(read, container),
        nearest=read.nearest,
        blocking=_blocks(read, claims),
    )


def _message(read: Read) -> str:
    name = read.text
    match read.status:
        case ReadStatus.DROPPED:
            return f"{name!r} no longer exists at this stage: an earlier stage left it out"
        case ReadStatus.EARLY:
            return f"{name!r} is used before the stage that computes it"
        case ReadStatus.KEY_AS_FIELD:
            return f"{name!r} names a key that the map {str(read.path.parent if read.path else '')!r} does not hold"
        case ReadStatus.FIELD_AS_MAP:
            return f"{name!r} is a record with fixed fields, not a map of keys"
        case _:
            where = f" in {read.container}" if read.container else ""
            return f"there is no path {name!r}{where}"


def _evidence(read: Read, container: Container | None) -> str:
    if read.note:
        return read.note
    if container is None or read.status is not ReadStatus.ABSENT:
        return ""
    sampling = container.sampling
    of = container.info.documents
    return f"not seen in {sampling.documents} of {of if of is not None else 'all'} documents"


def _blocks(read: Read, claims: Claims) -> bool:
    if read.role in SOFT_ROLES or read.status is ReadStatus.FIELD_AS_MAP:
        return False
    # keeping a name before it is computed keeps nothing, and the later stage computes it all the same
    if read.status is ReadStatus.EARLY and read.role == "project":
        return False
    return not (read.role == "sort" and _other_sort_key_stands(read, claims.reads))


def _other_sort_key_stands(read: Read, reads: Sequence[Read]) -> bool:
    """A tie-break that does not exist changes no order that a person asked for, so it is only worth a remark."""
    fine = (ReadStatus.STORED, ReadStatus.COMPUTED, ReadStatus.UNKNOWN)
    return any(r.role == "sort" and r.place.stage == read.place.stage and r.status in fine for r in reads)
