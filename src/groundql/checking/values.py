"""The value gate: literals in their stored form, on the right path, applied where the question insists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from groundql.checking.absence import look_for
from groundql.checking.nearest import nearest_names
from groundql.checking.wording import shown
from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Field, KeySpace, Witness
from groundql.core.finding import Code, Finding
from groundql.core.kind import NUMBERS, Kind
from groundql.core.path import ITEMS, Path
from groundql.core.program import Claims, Comparison, Place, Read, ReadStatus
from groundql.grounding.fence import fence_text, fence_value
from groundql.grounding.words import fold

EXACT: Final = frozenset({"$eq", "$in", "$all"})
NEGATED: Final = frozenset({"$ne", "$nin"})
"""Excluding what is not there changes nothing, unless it is there in another spelling."""
MOST_SHOWN: Final = 3
VALUE_CHARS: Final = 120
"""How much of a stored value is shown, behind the fence that keeps it from being read as anything but a value."""
Scalar: TypeAlias = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Doubt:
    """A finding about compared values, with the question that settles it.

    `look` is what a `$match` asks the container to find any of the values where they are compared; None where no
    dotted name reaches them. `is_proven` says that the value list is complete, so that nothing needs to be asked.
    """

    finding: Finding
    container: str
    look: Mapping[str, Any] | None
    is_proven: bool


def value_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Check every literal that a filter compares against complete lists, then every value the question insists on."""
    doubts = value_doubts(claims, grounding)
    return [*(d.finding for d in doubts if d.is_proven), *unused_findings(claims, grounding)]


def value_doubts(claims: Claims, grounding: Grounding) -> list[Doubt]:
    """Doubt every literal that a filter compares and that was not seen where it is compared."""
    return [d for c in claims.comparisons for d in _compared(c, grounding)]


def _compared(comparison: Comparison, grounding: Grounding) -> Iterable[Doubt]:
    read = comparison.read
    container = grounding.catalog.get(read.container)
    if comparison.operator not in EXACT | NEGATED or read.status is not ReadStatus.STORED:
        return
    if container is None or not read.path:
        return
    keys = _keys_field(container, read)
    field = keys or _value_field(container, read.path)
    values = list(_scalars_of(comparison.value))
    judged = [(v, _judge(v, comparison, field, container, grounding.witnesses)) for v in values]
    found = [(v, f) for v, f in judged if f is not None]
    # one stored member is enough for a list to match, and one branch for an $or
    proves = comparison_decides(comparison) and len(found) == len(values) and comparison.operator in EXACT
    for members, finding in _gathered(found, comparison, field):
        stands = finding if proves else replace(finding, blocking=False)
        is_proven = field is not None and field.complete
        yield Doubt(stands, container.name, look_for(read, members, of_keys=keys is not None), is_proven)


def _gathered(
    found: Sequence[tuple[Scalar, Finding]], comparison: Comparison, field: Field | None
) -> Iterable[tuple[tuple[Scalar, ...], Finding]]:
    """Say all members of a list that no document holds in one finding."""
    absent = tuple(value for value, finding in found if finding.code is Code.VALUE_ABSENT)
    is_list = len(absent) > 1 and field is not None
    yield from (((v,), f) for v, f in found if not (is_list and f.code is Code.VALUE_ABSENT))
    if is_list and field is not None:
        blocking = all(f.blocking for _, f in found if f.code is Code.VALUE_ABSENT)
        yield absent, _absent_members(absent, comparison, field, proven=blocking)


EITHER: Final = ("$or", "$nor", "$not", "$cond", "$switch", "$ifNull")


def comparison_decides(comparison: Comparison) -> bool:
    """Tell whether nothing can match where this comparison cannot: not one branch of several, not a mere label."""
    return comparison.is_filter and comparison.read.role == "match" and not is_either(comparison.place)


def is_either(place: Place) -> bool:
    """Tell whether a place lies in one branch of several."""
    return any(word in place.pointer for word in EITHER)


def _scalars_of(value: Any) -> Iterable[Scalar]:
    if isinstance(value, str | bool | int | float):
        yield value
    elif isinstance(value, list | tuple):
        yield from (v for v in value if isinstance(v, str | bool | int | float))  # pyright: ignore[reportUnknownVariableType]


def _texts_of(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (v for v in value if isinstance(v, str))  # pyright: ignore[reportUnknownVariableType]


def compared_field(container: Container, read: Read) -> Field | None:
    """The field whose stored values, or keys, a literal is compared with."""
    if not read.path:
        return None
    return _keys_field(container, read) or _value_field(container, read.path)


def _keys_field(container: Container, read: Read) -> Field | None:
    """A map whose keys are compared, as a field that stores its keys as text."""
    field = container.get(read.path) if read.path else None
    if field is None or field.keys is None or read.kinds != frozenset({Kind.STRING}):
        return None
    return replace(field, values=field.keys.examples, distinct=field.keys.distinct, complete=_all_shown(field.keys))


def _all_shown(keys: KeySpace) -> bool:
    return keys.complete and len(keys.examples) >= keys.distinct


def _value_field(container: Container, path: Path) -> Field | None:
    """The field whose values an engine compares: an array's items stand for the array."""
    field = container.get(path)
    while field is not None and not field.values and container.get(path / ITEMS) is not None:
        path = path / ITEMS
        field = container.get(path)
    return field


def _judge(
    value: Scalar, comparison: Comparison, field: Field | None, container: Container, witnesses: Sequence[Witness]
) -> Finding | None:
    is_negated = comparison.operator in NEGATED
    if not isinstance(value, str):
        return None if is_negated else _judge_plain(value, comparison, field, container)
    stored = _stored_here(field, container, witnesses)
    if value in stored:
        return None
    same = sorted(s for s in stored if fold(s) == fold(value))
    if same:
        return _stored_form(value, same, comparison)
    if is_negated:
        return None
    if field is None or not field.complete:
        return _elsewhere(value, comparison, witnesses, proven=False)
    found = _elsewhere(value, comparison, witnesses, proven=container.is_exhaustive)
    return found or _absent(value, field, comparison, proven=container.is_exhaustive)


def _judge_plain(value: float, comparison: Comparison, field: Field | None, container: Container) -> Finding | None:
    """A number or a boolean, against a complete list; numbers are equal across their types."""
    if field is None or not field.complete or not _is_listed(field, value):
        return None
    stored = [v for v in field.values if isinstance(v, int | float) and isinstance(v, bool) is isinstance(value, bool)]
    if value in stored:
        return None
    return _absent(value, field, comparison, proven=container.is_exhaustive)


def _is_listed(field: Field, value: Scalar) -> bool:
    """Whether the complete list could hold such a value at all; other kinds are the kind gate's."""
    kinds = {kind for kind, _ in field.kinds}
    return (
        bool(kinds & ({Kind.BOOL} if isinstance(value, bool) else NUMBERS - {Kind.DECIMAL}))
        and Kind.DECIMAL not in kinds
    )


def _stored_here(field: Field | None, container: Container, witnesses: Sequence[Witness]) -> frozenset[str]:
    if field is None:
        return frozenset()
    here = {v for v in field.values if isinstance(v, str)}
    here.update(
        w.stored
        for w in witnesses
        if w.container == container.name and w.path == field.path and isinstance(w.stored, str)
    )
    return frozenset(here)


def _stored_form(value: str, same: Sequence[str], comparison: Comparison) -> Finding:
    return Finding(
        Code.STORED_FORM,
        f"{shown(value)} is not how {comparison.read.text!r} stores it",
        comparison.place,
        path=comparison.read.text,
        evidence="stored in another spelling",
        nearest=tuple(fence_text(s, VALUE_CHARS) for s in same[:MOST_SHOWN]),
        blocking=comparison.is_filter,
    )


def _elsewhere(value: str, comparison: Comparison, witnesses: Sequence[Witness], *, proven: bool) -> Finding | None:
    where = [w for w in witnesses if isinstance(w.stored, str) and fold(w.stored) == fold(value)]
    if not where or any(w.path == comparison.read.path and w.container == comparison.read.container for w in where):
        return None
    places = tuple(describe_witness(w) for w in where[:MOST_SHOWN])
    return Finding(
        Code.VALUE_ELSEWHERE,
        f"{shown(value)} was not found at {comparison.read.text!r} in {comparison.read.container}",
        comparison.place,
        path=comparison.read.text,
        evidence="it is stored elsewhere",
        nearest=places,
        blocking=proven and comparison.is_filter,
    )


def _absent(value: Scalar, field: Field, comparison: Comparison, *, proven: bool) -> Finding:
    values = [fence_value(v, VALUE_CHARS) for v in field.values]
    return Finding(
        Code.VALUE_ABSENT,
        f"no document holds {shown(value)} at {comparison.read.text!r}",
        comparison.place,
        path=comparison.read.text,
        evidence=f"all {len(values)} stored values are known",
        nearest=nearest_names(str(value), values) or tuple(values[:MOST_SHOWN]),
        blocking=proven and comparison.is_filter,
    )


def _absent_members(absent: Sequence[Scalar], comparison: Comparison, field: Field, *, proven: bool) -> Finding:
    """Name the members of a list that no document holds, each with the stored value nearest to it."""
    named, more = absent[:MOST_SHOWN], len(absent) - MOST_SHOWN
    texts = [shown(v) for v in named] + ([f"{more} more"] if more > 0 else [])
    values = [fence_value(v, VALUE_CHARS) for v in field.values]
    near = dict.fromkeys(n for v in named for n in nearest_names(str(v), values, 1))
    return Finding(
        Code.VALUE_ABSENT,
        f"no document holds {', '.join(texts[:-1])} or {texts[-1]} at {comparison.read.text!r}",
        comparison.place,
        path=comparison.read.text,
        evidence=f"all {len(values)} stored values are known",
        nearest=tuple(near) or tuple(values[:MOST_SHOWN]),
        blocking=proven,
    )


def describe_witness(witness: Witness) -> str:
    """Say where and how a term is stored, in a few words."""
    kind = "key of" if witness.is_key else "value at"
    return f"{fence_value(witness.stored, VALUE_CHARS)} {kind} {witness.container}.{witness.path}"


def unused_findings(claims: Claims, grounding: Grounding) -> Iterable[Finding]:
    """Name the values that the question insists on and the program never compares."""
    terms: dict[str, list[Witness]] = {}
    for witness in grounding.witnesses:
        if isinstance(witness.stored, str):
            terms.setdefault(witness.term, []).append(witness)
    applied, mentioned = _applied(claims), frozenset(fold(t) for t in claims.texts)
    for term, witnesses in terms.items():
        # the question insists on the term, not on one place of it: a soft witness (a key, say) serves as well
        if any(w.hard for w in witnesses) and not any(_is_applied(w, applied) for w in witnesses):
            yield _unused_finding(term, [w for w in witnesses if w.hard], mentioned)


def _applied(claims: Claims) -> frozenset[str]:
    texts = {read.key for read in claims.reads if read.key}
    for comparison in claims.comparisons:
        texts.update(_texts_of(comparison.value))
        pattern = getattr(comparison.value, "pattern", None)
        if isinstance(pattern, str):
            texts.add(pattern)
        texts.add(comparison.read.key)
    return frozenset(fold(t) for t in texts if t)


def _is_applied(witness: Witness, applied: frozenset[str]) -> bool:
    wanted = fold(str(witness.stored))
    return (
        wanted in applied
        or any(wanted in a or (len(a) > 2 and a in wanted) for a in applied)
        or _as_regex(wanted, applied)
    )


def _as_regex(wanted: str, applied: frozenset[str]) -> bool:
    return any(re.sub(r"[\\^$.*?()\[\]{}+|]", "", a) == wanted for a in applied)


def _unused_finding(term: str, witnesses: Sequence[Witness], mentioned: frozenset[str]) -> Finding:
    only_said = any(fold(str(w.stored)) in mentioned for w in witnesses)
    what = "is only mentioned, never compared with anything" if only_said else "is never used"
    return Finding(
        Code.VALUE_UNUSED,
        f"the question names {term!r}, which {what} in the program",
        evidence="the question's own words, found in the data",
        nearest=tuple(describe_witness(w) for w in witnesses[:MOST_SHOWN]),
        blocking=False,
    )
