"""The variant rule: what a program reads next to `kind: "car"` must be there in documents of that kind.

Nothing here is more than advisory: a variant lacks a field *nearly* always, and the odd document may be the one meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from groundql.checking.paths import SOFT_ROLES
from groundql.checking.values import MOST_SHOWN, comparison_decides, is_either
from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Variant
from groundql.core.finding import Code, Finding
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.core.program import Claims, Comparison, Place, Read, ReadStatus
from groundql.grounding.fence import fence_path, fence_value

CHOOSING: Final = frozenset({"$eq", "$in"})
VALUE_CHARS: Final = 60
NESTED: Final = re.compile(r"^(.*\[)\d+\]\.\$match\b")


def variant_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name what is read of the variants a filter chooses, and is (nearly) never there in them."""
    found: list[Finding] = []
    for comparison in claims.comparisons:
        container = grounding.catalog.get(comparison.read.container)
        if container is None or not container.variants or not _is_choice(comparison):
            continue
        found.extend(_lacking(comparison, container, claims))
    return found


def _is_choice(comparison: Comparison) -> bool:
    return (
        comparison.operator in CHOOSING
        and comparison.read.status is ReadStatus.STORED
        and comparison.read.path is not None
        and comparison_decides(comparison)
    )


def _lacking(comparison: Comparison, container: Container, claims: Claims) -> Iterable[Finding]:
    branches = [v for v in container.variants if v.path.steps and v.base + v.path == comparison.read.path]
    chosen = _chosen(comparison.value, branches)
    if not chosen:
        return
    seen: set[Path] = set()
    for read in claims.reads:
        lost = _lost(read, chosen)
        if lost is None or lost in seen or not _concerns(read, comparison, chosen[0].base, claims):
            continue
        seen.add(lost)
        yield _finding(read, lost, chosen, branches, container)


def _chosen(value: Any, branches: Sequence[Variant]) -> list[Variant]:
    """The variants a literal names; none where it also names a value of which nothing is known."""
    wanted = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
    found = [next((v for v in branches if _is_same(v.value, w)), None) for w in wanted]
    return [] if None in found else [v for v in found if v is not None]


def _is_same(stored: object, literal: object) -> bool:
    return stored == literal and isinstance(stored, bool) is isinstance(literal, bool)


def _lost(read: Read, chosen: Sequence[Variant]) -> Path | None:
    """The topmost path on the way of a read that every chosen variant lacks."""
    path = read.path
    if path is None or read.status is not ReadStatus.STORED or read.role in SOFT_ROLES or is_either(read.place):
        return None
    lost = [next((a for a in v.absent if path.starts_with(a)), None) for v in chosen]
    return None if None in lost else lost[0]


def _concerns(read: Read, comparison: Comparison, base: Path, claims: Claims) -> bool:
    """Whether what is read comes from the very objects that the comparison chose."""
    if read.container != comparison.read.container or not _is_downstream(read.place, comparison.place):
        return False
    if read.place.stage > comparison.place.stage and _joins_itself(read.container, claims):
        return False
    below = base.steps.count(ENTRIES)
    if read.keys[:below] != comparison.read.keys[:below]:
        return False
    return ITEMS not in base.steps or _is_same_item(read, comparison, base, claims)


def _is_downstream(later: Place, earlier: Place) -> bool:
    """Whether what stands at one place sees only what the match at another lets pass."""
    nested = NESTED.match(earlier.pointer)
    if nested is not None:
        return later.stage == earlier.stage and later.pointer.startswith(nested[1])
    return earlier.pointer.startswith("$match") and later.stage >= earlier.stage


def _joins_itself(container: str, claims: Claims) -> bool:
    """Whether documents of the container come in again by another way than the first stage."""
    return "$unionWith" in claims.operators or any(j.to_container == container for j in claims.joins)


def _is_same_item(read: Read, comparison: Comparison, base: Path, claims: Claims) -> bool:
    """Whether the array was unwound before, or one `$elemMatch` asks both: else another item may be meant."""
    if any(
        r.role == "unwind" and r.path == base.parent and r.place.stage < comparison.place.stage for r in claims.reads
    ):
        return True
    head, item, _ = comparison.place.pointer.rpartition("$elemMatch")
    return bool(item) and read.place.stage == comparison.place.stage and read.place.pointer.startswith(head + item)


def _finding(
    read: Read, lost: Path, chosen: Sequence[Variant], branches: Sequence[Variant], container: Container
) -> Finding:
    name = fence_path(chosen[0].base + chosen[0].path)
    having = [v for v in branches if lost not in v.absent and v not in chosen]
    return Finding(
        Code.VARIANT_LACKS,
        f"{fence_path(lost)!r} is (nearly) never there where {_named(chosen)}",
        read.place,
        path=read.text,
        evidence=f"{_share(chosen, container)}; {_fields(chosen, branches)}",
        nearest=tuple(f"{_named([v])} has it" for v in having[:MOST_SHOWN]) or (f"another {name} has it",),
        blocking=False,
    )


def _named(variants: Sequence[Variant]) -> str:
    """Write a choice as a person would: `kind is "car" or "bus"`."""
    values = [fence_value(v.value, VALUE_CHARS) for v in variants[:MOST_SHOWN]]
    more = [f"{len(variants) - MOST_SHOWN} more"] if len(variants) > MOST_SHOWN else []
    return f"{fence_path(variants[0].base + variants[0].path)} is {' or '.join([*values, *more])}"


def _share(chosen: Sequence[Variant], container: Container) -> str:
    share = sum(v.share for v in chosen)
    what = f"the items of {fence_path(chosen[0].base.parent)}" if chosen[0].base.steps else container.name
    return f"that is {share:.0%} of {what}" if share >= 0.01 else f"that is under 1% of {what}"


def _fields(chosen: Sequence[Variant], branches: Sequence[Variant]) -> str:
    """What the chosen variants do have that others lack."""
    own = dict.fromkeys(p for v in chosen for p in v.only)
    own |= dict.fromkeys(p for b in branches for p in b.absent if not any(p in v.absent for v in chosen))
    shown = [fence_path(p) for p in list(own)[:MOST_SHOWN]]
    return f"of what tells the variants apart it has {', '.join(shown)}" if shown else "it has only what all have"
