"""The presence rule: asking whether a field is there that every document has."""

from __future__ import annotations

from typing import Final

from groundql.checking.values import is_either
from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Field
from groundql.core.counted import counted
from groundql.core.finding import Code, Finding
from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.core.program import Claims, Comparison, ReadStatus

OBJECT_ALONE: Final = frozenset({Kind.OBJECT})


def presence_findings(claims: Claims, grounding: Grounding) -> list[Finding]:
    """Name the `$exists` conditions that every document meets, or none."""
    found: list[Finding] = []
    valued = {c.read.text for c in claims.comparisons if c.operator == "$ne" and c.value is None}
    for comparison in claims.comparisons:
        if comparison.operator != "$exists" or comparison.read.status is not ReadStatus.STORED:
            continue
        container, path = grounding.catalog.get(comparison.read.container), comparison.read.path
        field = container.get(path) if container is not None and path else None
        if field is None or not _decides(comparison) or Kind.MISSING in comparison.read.kinds:
            continue
        if container is not None and _is_everywhere(field, container) and comparison.read.text not in valued:
            found.append(_finding(comparison, field))
    return found


def _decides(comparison: Comparison) -> bool:
    return comparison.is_filter and not is_either(comparison.place)


def _is_everywhere(field: Field, container: Container) -> bool:
    """Whether each document has the path, from its root down, and every document was read."""
    if not container.is_exhaustive or field.path.hops:
        return False
    return Kind.MISSING not in field.kind_set and all(
        _is_record(container, p) for p in field.path.ancestors() if p.steps
    )


def _is_record(container: Container, path: Path) -> bool:
    field = container.get(path)
    return field is not None and field.kind_set == OBJECT_ALONE


def _finding(comparison: Comparison, field: Field) -> Finding:
    text, nulls = comparison.read.text, field.share(Kind.NULL)
    keeps = bool(comparison.value)
    code = Code.CONTRADICTION if not keeps else Code.NULLS_KEPT if nulls else Code.NO_EFFECT
    nearest = f'{{"{text}": {{"$ne": null}}}} for those with a value' if keeps else f'{{"{text}": null}}'
    return Finding(
        code,
        f"every document has {text!r}, so this {'keeps every row' if keeps else 'leaves no row'}",
        comparison.place,
        path=text,
        evidence=f"there in all of {counted(field.count, 'document')}"
        + (f", null in {_share(nulls)}" if nulls else ""),
        nearest=(nearest,) if nulls else (),
        blocking=False,
    )


def _share(share: float) -> str:
    return f"{share:.0%} of them" if share >= 0.01 else "under 1% of them"
