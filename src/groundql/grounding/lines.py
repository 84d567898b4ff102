"""One field, one line: kinds with shares, presence, values, ranges, keys. All stored text goes through the fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groundql.core.catalog import (
    Container,
    ContainerType,
    Counted,
    DateRange,
    Field,
    KeySpace,
    Lengths,
    NumberRange,
    StopReason,
)
from groundql.core.kind import NUMBERS, Kind
from groundql.core.path import Path
from groundql.grounding.fence import (
    clean,
    date_text,
    fence_key,
    fence_name,
    fence_path,
    fence_text,
    fence_value,
    number_text,
)


@dataclass(frozen=True, slots=True)
class Detail:
    """How much to say of a field.

    Units: `listed` values of a complete list shown, `examples` of an incomplete one, `keys` of a map; `width`
    characters of one value, `list_width` characters of a whole list. `is_roomy`: a line for every array and map passed.
    """

    listed: int
    examples: int
    keys: int
    width: int
    list_width: int
    variant_width: int
    join_width: int
    ranges: bool = True
    is_roomy: bool = False


RICH: Final = Detail(listed=16, examples=3, keys=12, width=40, list_width=200, variant_width=400, join_width=200)
LEAN: Final = Detail(listed=8, examples=2, keys=8, width=24, list_width=110, variant_width=120, join_width=110)
BARE: Final = Detail(
    listed=0, examples=0, keys=3, width=20, list_width=40, variant_width=80, join_width=60, ranges=False
)
WHOLE: Final = Detail(
    listed=24, examples=6, keys=24, width=60, list_width=400, variant_width=2000, join_width=2000, is_roomy=True
)
FULL: Final = Detail(
    listed=64, examples=12, keys=60, width=80, list_width=1600, variant_width=2000, join_width=2000, is_roomy=True
)
"""For `describe`, where a person asked for it: a container as a whole, and one path alone."""


def share_text(share: float) -> str:
    """Return a share as a percentage that never rounds to all or nothing."""
    if share >= 1:
        return "100%"
    if share > 0.995:
        return ">99%"
    return f"{share * 100:.0f}%" if share >= 0.01 else "<1%"


def kinds_text(field: Field) -> str:
    """Return the kinds of a field, most frequent first, with shares where there are several."""
    if not field.kinds:
        return "never set"
    if len(field.kinds) == 1:
        return str(field.kinds[0][0])
    if {kind for kind, _ in field.kinds} <= NUMBERS:
        return "number (" + ", ".join(f"{kind} {share_text(field.share(kind))}" for kind, _ in field.kinds) + ")"
    return ", ".join(f"{kind} {share_text(field.share(kind))}" for kind, _ in field.kinds)


def presence_text(field: Field) -> str:
    """Return how often a field is there, or nothing when it always is."""
    return "" if field.count >= field.parents else f"in {share_text(field.present_share)}"


def values_text(field: Field, detail: Detail) -> str:
    """Return a field's values: the whole list where it is short and complete, else a range and examples."""
    shown = [fence_value(v, detail.width) for v in field.values]
    different = dict.fromkeys(shown)  # 3 and 3.0 are one value to a query
    listed = " | ".join(different)
    if field.complete and shown and len(different) <= detail.listed and len(listed) <= detail.list_width:
        return listed if len(different) > 1 else _only_text(field, listed)
    parts = [_range_text(field)] if detail.ranges else []
    texts = [s for s, v in zip(shown, field.values, strict=True) if isinstance(v, str) or not any(parts)]
    if detail.examples and texts:
        parts.append("e.g. " + _within(texts[: detail.examples], ", ", detail.list_width))
    return " ".join(p for p in parts if p)


def _only_text(field: Field, value: str) -> str:
    """The only scalar at a path: "always" holds only where nothing else stands there."""
    others = [str(kind) for kind, _ in field.kinds if kind in (Kind.NULL, Kind.OBJECT, Kind.ARRAY)]
    return f"{value} where not {' or '.join(others)}" if others else f"always {value}"


def counted_text(count: int, counted: Counted, more: str = "+") -> str:
    """Return a count of different things as it can be believed: `12`, `about 9,000`, `12+`."""
    about = "about " if counted in (Counted.ABOUT, Counted.LEAST_ABOUT) else ""
    return f"{about}{count:,}{more if counted in (Counted.LEAST, Counted.LEAST_ABOUT) else ''}"


def keys_text(keys: KeySpace, detail: Detail) -> str:
    """Return what is known of a map's keys."""
    names = [fence_key(k, detail.width) for k in keys.examples[: detail.keys]]
    whole = keys.complete and len(names) == len(keys.examples) >= keys.distinct
    listed = _within(names, ", ", detail.list_width)
    if whole and listed.count(", ") == len(names) - 1:
        return f"map, all {keys.distinct} keys: {listed}" if keys.distinct != 1 else f"map, only key: {listed}"
    amount = counted_text(keys.distinct, Counted.EXACT if keys.complete else keys.counted)
    return f"map, {amount} keys ({keys.kind}), e.g. {listed}"


def lengths_text(lengths: Lengths | None) -> str:
    """Return an array's lengths."""
    if lengths is None:
        return "array"
    if lengths.low == lengths.high:
        return f"array of {lengths.low}"
    return f"array of {lengths.low}..{lengths.high}"


def field_notes(field: Field, detail: Detail) -> tuple[str, ...]:
    """Return what is said of a field beside its path and kinds."""
    unique = "unique" if _is_unique(field) else ""
    folded = "recursive or very deep, not walked further" if field.folded else ""
    declared = f"declared {clean(field.declared, 30)}" if field.declared else ""
    comment = f"comment {fence_text(field.comment, 60)}" if field.comment else ""
    return tuple(
        note for note in (presence_text(field), values_text(field, detail), unique, folded, declared, comment) if note
    )


def _is_unique(field: Field) -> bool:
    is_known = not field.complete and field.counted in (Counted.EXACT, Counted.LEAST)
    return is_known and field.distinct == field.count > 20 and field.path.name != "_id"


def container_head(container: Container) -> str:
    """Return the line that introduces a container: name, type, size, how much of it was read."""
    info, sampling = container.info, container.sampling
    name = fence_name(info.name)
    kind = "" if info.type is ContainerType.COLLECTION else f"{info.type}, "
    if container.error:
        return f"## {name}: {kind}unknown, could not be read ({clean(container.error, 100)}); its fields are not known"
    total = info.documents if info.documents is not None else None
    if sampling.stop is StopReason.EXHAUSTED:
        size = f"{sampling.documents:,} documents, all read" if sampling.documents else "empty"
    elif sampling.stop is StopReason.SERVER:
        size = f"{total:,} documents, inferred on the server" if total is not None else "inferred on the server"
    else:
        of = f" of {total:,}" if total is not None else ""
        size = f"inferred from {sampling.documents:,}{of} documents"
    return f"## {name}: {kind}{size}"


def variant_lines(container: Container, detail: Detail) -> tuple[str, ...]:
    """Return what each discriminator's value says about the fields, one line a value.

    With little room only the documents' own variants are told, and what is absent only where nothing else tells it.
    """
    lines: list[str] = []
    width = detail.variant_width
    tight = width < RICH.variant_width
    for variant in container.variants:
        if tight and variant.base.steps:
            continue
        place = _relative(variant.base, variant.path)
        only = _paths_within(variant.only, variant.base, width // 2)
        absent = "" if tight and only else _paths_within(variant.absent, variant.base, width // 2)
        said = "; ".join(p for p in (f"only here: {only}" if only else "", f"absent: {absent}" if absent else "") if p)
        # without a discriminator the shape itself is the variant
        named = f"where {place} = {fence_value(variant.value)}" if variant.path.steps else "one shape"
        lines.append(f"{named} ({share_text(variant.share)})" + (f": {said}" if said else ""))
    return tuple(lines)


def path_text(path: Path) -> str:
    """Return a path as card text."""
    return fence_path(path)


def relative_text(path: Path, base: Path) -> str:
    """Return a path as seen from an ancestor."""
    return path_text(Path(path.steps[len(base) :])) if path.starts_with(base) else path_text(path)


def _relative(base: Path, path: Path) -> str:
    """A discriminator's full path: below a base it is given as a whole or as seen from there."""
    return path_text(path if path.starts_with(base) else base + path)


def _paths_within(paths: Sequence[Path], base: Path, width: int) -> str:
    tops = [p for p in paths if not any(p != q and p.starts_with(q) for q in paths)]
    return _within([relative_text(p, base) for p in tops], ", ", width, "paths")


def _within(texts: Sequence[str], joint: str, width: int, noun: str = "") -> str:
    """Join texts up to a width, saying how many were left out when a noun is given; the first is always kept."""
    kept = 0
    used = 0
    for text in texts:
        used += len(text) + len(joint)
        if used > width and kept:
            break
        kept += 1
    left = len(texts) - kept
    return joint.join(texts[:kept]) + (f" and {left} more {noun}" if left and noun else "")


def _range_text(field: Field) -> str:
    if field.dates is not None and any(k is Kind.DATE for k, _ in field.kinds):
        return _date_range(field.dates)
    return _number_range(field.numbers, field.non_finite)


def _number_range(numbers: NumberRange | None, non_finite: Sequence[tuple[str, int]]) -> str:
    odd = ", ".join(f"{name} ({count:,})" for name, count in non_finite)
    if numbers is None:
        return odd
    low, high = number_text(numbers.low), number_text(numbers.high)
    finite = low if low == high else f"{low}..{high}"
    return f"{finite}, also {odd}" if odd else finite


def _date_range(dates: DateRange) -> str:
    low, high = date_text(dates.low), date_text(dates.high)
    return low if low == high else f"{low}..{high}"
