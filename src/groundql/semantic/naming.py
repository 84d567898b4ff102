"""Plain names for output columns."""

from __future__ import annotations

from collections.abc import Sequence

from groundql.semantic.ref import Ref


def name_after(ref: Ref) -> str:
    """Name a reference after its last field; a map's key after the map."""
    name = _clean(ref.path.name) or "value"
    return f"{name}_key" if ref.is_key else name


def pick_names(wanted: Sequence[tuple[Ref | None, str]]) -> list[str]:
    """Give each column a name of its own: the asked one, else the last field names, as many as tell them apart.

    Shape: one name for each (reference, asked name or "").
    """
    taken: set[str] = set()
    names: list[str] = []
    short = [asked or (name_after(ref) if ref else "value") for ref, asked in wanted]
    for (ref, asked), name in zip(wanted, short, strict=True):
        if not asked and ref is not None and short.count(name) > 1:
            name = _longer(ref, name)
        names.append(_free(name, taken))
        taken.add(names[-1])
    return names


def _longer(ref: Ref, name: str) -> str:
    parts = [_clean(f) for f in ref.path.fields]
    return "_".join([*[p for p in parts[:-1] if p][-1:], name])


def _free(name: str, taken: set[str]) -> str:
    free, n = name, 2
    while free in taken:
        free, n = f"{name}_{n}", n + 1
    return free


def _clean(name: str) -> str:
    return "".join("_" if c in ".\0" else c for c in name).lstrip("$")
