"""The evidence of an answer: what was read, how often it is there, how rows became few, and what to watch."""

from __future__ import annotations

from collections.abc import Iterable

from groundql.checking.funnel import measure_funnel
from groundql.core.answer import Candidate, Evidence, Grounding, PathEvidence
from groundql.core.catalog import Catalog, Field, Witness
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, Path, Step
from groundql.core.ports import Env
from groundql.core.program import Claims, Read
from groundql.databases.known_limits import EMBEDDED_ENGINE, KNOWN_LIMITS
from groundql.grounding.words import fold

LOW_PRESENCE: float = 0.5


async def explain(candidate: Candidate, grounding: Grounding, env: Env) -> Evidence:
    """Gather the evidence for one executed candidate."""
    claims, catalog = candidate.claims, grounding.catalog
    return Evidence(
        witnesses=tuple(w for w in grounding.witnesses if is_used(w, claims)),
        paths=tuple(_paths(claims, catalog)),
        funnel=await measure_funnel(candidate, grounding, env),
        dates=grounding.dates,
        assumptions=candidate.assumptions,
        warnings=tuple(_warnings(candidate, grounding)),
    )


async def unexplained(candidate: Candidate, grounding: Grounding, env: Env) -> Evidence:
    """Give no evidence but what was found: a baseline is measured, not vouched for."""
    return Evidence(assumptions=candidate.assumptions, warnings=tuple(str(f) for f in candidate.findings))


def is_used(witness: Witness, claims: Claims) -> bool:
    """Tell whether a program uses a witnessed value, as literal or map key, at the place where it was found."""
    reads = claims.stored_reads()
    return _is_said(witness, claims) and (not reads or any(_is_there(witness, read) for read in reads))


def _is_said(witness: Witness, claims: Claims) -> bool:
    written = {*claims.texts, *(r.key for r in claims.reads if r.key)}
    stored = fold(str(witness.stored))
    said = {fold(t) for t in written}
    number = witness.stored
    if isinstance(number, int | float) and not isinstance(number, bool) and float(number) in claims.numbers:
        return True
    if stored in said:  # another spelling of the same word is another value
        return str(witness.stored) in written
    return any(stored in text for text in said if len(stored) > 2)


def _is_there(witness: Witness, read: Read) -> bool:
    """Tell whether a read is of the witnessed place; a query may name an array for its items, and a map for a key."""
    if read.container != witness.container or read.path is None:
        return False
    here, there = _without_items(read.path), _without_items(witness.path)
    if not witness.is_key or here == there:
        return here == there
    return here[: len(there) + 1] == (*there, ENTRIES) and read.key in ("", str(witness.stored))


def _without_items(path: Path) -> tuple[Step, ...]:
    return tuple(step for step in path.steps if step is not ITEMS)


def _fields(claims: Claims, catalog: Catalog) -> Iterable[tuple[str, Field]]:
    seen: set[tuple[str, str]] = set()
    for read in claims.stored_reads():
        container = catalog.get(read.container)
        field = container.get(read.path) if container and read.path else None
        mark = (read.container, str(read.path))
        if field is not None and mark not in seen:
            seen.add(mark)
            yield read.container, field


def _paths(claims: Claims, catalog: Catalog) -> Iterable[PathEvidence]:
    for container, field in _fields(claims, catalog):
        yield PathEvidence(container, str(field.path), kinds_text(field), field.present_share)


def kinds_text(field: Field) -> str:
    """The kinds at a path with their shares, the only one bare: `string`, or `string 97%, null 3%`."""
    if len(field.kinds) == 1:
        return field.kinds[0][0].value
    return ", ".join(f"{kind.value} {share_text(count / field.count)}" for kind, count in field.kinds)


def share_text(share: float) -> str:
    """A share as a percentage that never says 0 or 100 when it is not."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 < share < 1:
        return ">99%"
    return f"{share:.0%}"


def _warnings(candidate: Candidate, grounding: Grounding) -> Iterable[str]:
    rows, claims, catalog = candidate.rows, candidate.claims, grounding.catalog
    if rows is not None and rows.truncated:
        cut = rows.truncated_by or "rows"
        yield f"Only the first {len(rows.records)} rows are shown: the limit on {cut} was reached."
    yield from (f"{term!r} was looked for in the stored data and not found." for term in grounding.missing_terms)
    for container, field in _fields(claims, catalog):
        yield from _thin(f"{container}.{field.path}", field)
    for name in sorted(claims.containers):
        container = catalog.get(name)
        if container is not None and not container.is_exhaustive and container.is_known:
            read, of = container.sampling.documents, container.info.documents
            yield f"The paths of {name} were inferred from {read} of {of} documents ({container.sampling.stop.value})."
    if catalog.server.startswith(EMBEDDED_ENGINE):
        yield from (text for operator, text in KNOWN_LIMITS.items() if operator in claims.operators)
    yield from (str(finding) for finding in candidate.findings)


def _thin(where: str, field: Field) -> Iterable[str]:
    if field.present_share < LOW_PRESENCE:
        yield f"{where} is present in only {share_text(field.present_share)} of the places that could hold it."
    elif field.share(Kind.NULL) > LOW_PRESENCE:
        yield f"{where} is null in {share_text(field.share(Kind.NULL))} of the places that hold it."
