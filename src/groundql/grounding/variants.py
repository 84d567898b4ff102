"""Finding the branches of a polymorphic container: a field whose value says which other fields are there.

Each field of few values (`shapes`) is tried as the discriminator. It explains a sibling that is sometimes missing
when, given its value, the sibling is there nearly always or nearly never. A value seen fewer than three times explains
nothing, since any field would look explained by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from groundql.core.catalog import Variant
from groundql.core.path import Path
from groundql.grounding.shapes import Branch, Form, Name, Shapes

LEAST_SUPPORT: Final = 3
UNEXPLAINED: Final = 0.1
"""A sibling counts as explained when knowing the value leaves at most this share of the errors of not knowing it."""
NEARLY: Final = 0.05
CHANCE: Final = 0.001


@dataclass(frozen=True, slots=True)
class Tag:
    """A field of the root with few values, by its dotted name, and how often each value was seen.

    `discriminates` says that it tells variants apart already.
    """

    name: str
    counts: Mapping[Any, int]
    discriminates: bool


def find_tags(shapes: Shapes, known: Mapping[Path, object]) -> list[Tag]:
    """List the fields that may tell variants apart: those that do first, then those of fewest values."""
    shapes = shapes.joined(None)
    shapes.settle()
    best = _best(shapes, {name: Path(name) for name in shapes.names if Path(name) in known})
    found = [
        Tag(".".join(name), {value: branch.count for value, branch in branches.items()}, name == best)
        for name, branches in shapes.branches.items()
        if Path(name) in known and branches and not any("." in step or step.startswith("$") for step in name)
    ]
    return sorted(found, key=lambda tag: (not tag.discriminates, len(tag.counts), tag.name))


def find_variants(shapes: Shapes, base: Path, known: Mapping[Path, object]) -> tuple[Variant, ...]:
    """Find the branches of the objects at a place; empty when nothing tells them apart.

    Shape: a discriminator's value per variant; where no field tells but the names fall into sets that exclude one
    another, `path` is the root (the shape itself) and `value` None. `known` holds the paths that are fields: names
    below a map are no names.
    """
    forms = {name: Path((*base.steps, *name)) for group in shapes.groups.values() for name in group.names}
    exclusive = _clusters(shapes, {n: p for n, p in forms.items() if p in known}) if not shapes.names else ()
    shapes = shapes.joined(None)
    shapes.settle()
    names = {name: Path((*base.steps, *name)) for name in shapes.names}
    names = {name: path for name, path in names.items() if path in known}
    best = _best(shapes, names)
    if best is None:
        return tuple(_cluster_variants(exclusive, base, shapes.count))
    return tuple(_branch_variants(shapes, best, base, names))


def _best(shapes: Shapes, names: Mapping[Name, Path]) -> Name | None:
    ranked = [
        (-gain, _plainness(branches), len(branches), len(tag), tag)
        for tag, branches in shapes.branches.items()
        if tag in names and (gain := _gain(shapes, tag, branches, names)) > 0
    ]
    return min(ranked)[-1] if ranked else None


def _plainness(values: Iterable[Any]) -> int:
    # Of fields that explain equally much, a name is the likelier discriminator than a number.
    return max(0 if isinstance(value, str) else 1 if isinstance(value, bool) else 2 for value in values)


def _gain(shapes: Shapes, tag: Name, branches: Mapping[Any, Branch], names: Mapping[Name, Path]) -> int:
    """Count the presences that a field's values explain; 0 when too few or too doubtful."""
    total, tagged = shapes.count, sum(b.count for b in branches.values())
    if len(branches) < 2 or tagged < 0.8 * total or total < LEAST_SUPPORT * len(branches):
        return 0
    gains: list[int] = []
    for name in names:
        present = shapes.names[name]
        plain = min(present, total - present)
        if name == tag or name[: len(tag)] == tag or plain < LEAST_SUPPORT or _is_below_other(name, shapes, total):
            continue
        left = _errors(name, branches, present * 2 > total) + min(total - tagged, plain)
        if left <= UNEXPLAINED * plain:
            gains.append(plain - left)
    needed = 1 if total >= 20 else 2
    return max(0, sum(gains) - len(branches)) if len(gains) >= needed else 0


def _is_below_other(name: Name, shapes: Shapes, total: int) -> bool:
    """Tell whether a nested name is missing only because its parent is."""
    return len(name) > 1 and shapes.names[name[:1]] < total and shapes.names[name] == shapes.names[name[:1]]


def _errors(name: Name, branches: Mapping[Any, Branch], mostly: bool) -> int:
    errors = 0
    for branch in branches.values():
        there = branch.names[name]
        if branch.count >= LEAST_SUPPORT:
            errors += min(there, branch.count - there)
        else:
            errors += branch.count - there if mostly else there
    return errors


def _branch_variants(shapes: Shapes, tag: Name, base: Path, names: Mapping[Name, Path]) -> Iterable[Variant]:
    branches = shapes.branches[tag]
    for value, branch in sorted(branches.items(), key=lambda b: (-b[1].count, type(b[0]).__name__, str(b[0]))):
        only = [path for name, path in names.items() if _is_only(name, branch, shapes)]
        absent = [path for name, path in names.items() if _is_absent(name, branch, branches)]
        if only or absent:
            yield Variant(base, Path(tag), value, branch.count / shapes.count, _topmost(only), _topmost(absent))


def _is_only(name: Name, branch: Branch, shapes: Shapes) -> bool:
    here, total = branch.names[name], shapes.names[name]
    if not here or branch.count == shapes.count:
        return False
    elsewhere = (total - here) / (shapes.count - branch.count)
    by_chance = (branch.count / shapes.count) ** here
    return elsewhere <= NEARLY * (here / branch.count) and (by_chance <= CHANCE or here >= 0.9 * branch.count)


def _is_absent(name: Name, branch: Branch, branches: Mapping[Any, Branch]) -> bool:
    if branch.names[name] > NEARLY * branch.count:
        return False
    return any(b.count >= LEAST_SUPPORT and b.names[name] >= 0.5 * b.count for b in branches.values())


def _topmost(paths: Iterable[Path]) -> tuple[Path, ...]:
    found = sorted(paths)
    return tuple(p for p in found if not any(p != q and p.starts_with(q) for q in found))


def _clusters(shapes: Shapes, names: Mapping[Name, Path]) -> tuple[tuple[int, tuple[Path, ...]], ...]:
    """Find sets of two or more names each that come together, exclude one another, and cover the objects."""
    total = sum(group.count for group in shapes.groups.values())
    where: dict[Name, set[Form]] = {}
    for form, group in shapes.groups.items():
        for name in group.names:
            if name in names and len(name) == 1:
                where.setdefault(name, set()).add(form)
    tied: dict[frozenset[Form], list[Path]] = {}
    for name, forms in where.items():
        if len(forms) < len(shapes.groups):
            tied.setdefault(frozenset(forms), []).append(names[name])
    blocks = [(sum(shapes.groups[f].count for f in fs), fs, ps) for fs, ps in tied.items() if len(ps) > 1]
    blocks.sort(key=lambda b: (-b[0], sorted(b[2])))
    chosen: list[tuple[int, tuple[Path, ...]]] = []
    taken: set[Form] = set()
    for count, forms, paths in blocks:
        if count >= LEAST_SUPPORT and not forms & taken:
            taken |= forms
            chosen.append((count, tuple(sorted(paths))))
    covered = sum(count for count, _ in chosen)
    return tuple(chosen) if len(chosen) > 1 and covered >= 0.98 * total else ()


def _cluster_variants(clusters: tuple[tuple[int, tuple[Path, ...]], ...], base: Path, total: int) -> Iterable[Variant]:
    for count, paths in clusters:
        absent = (path for _, others in clusters if others != paths for path in others)
        yield Variant(base, Path(), None, count / total, paths, tuple(sorted(absent)))
