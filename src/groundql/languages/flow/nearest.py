"""The right names closest to one that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from rapidfuzz import fuzz, process

from groundql.core.catalog import KeySpace
from groundql.core.kind import Kind
from groundql.languages.flow.types import Type, walk

_MOST_NAMES = 4000
_LEAST_LIKENESS = 60.0


def names_below(type_: Type) -> list[tuple[str, Type]]:
    """List what can be read in a type with its path text."""
    return list(islice(walk(type_), _MOST_NAMES))


def below(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Put a variable's name before the names that were found below it."""
    return tuple(f"{prefix}{'' if name.startswith('[') else '.'}{name}" for name in names) if prefix else names


def find_nearest(names: list[tuple[str, Type]], text: str, count: int = 3) -> tuple[str, ...]:
    """Return the closest names: the same last name elsewhere first, then the fewest edits."""
    leaf = _folded(_leaf(text))
    texts = [name for name, _ in names]
    same = [name for name in texts if _folded(_leaf(name)) == leaf and name != text]
    same.sort(key=lambda name: -fuzz.ratio(name, text))
    by_path = process.extract(text, texts, scorer=fuzz.ratio, limit=8, score_cutoff=_LEAST_LIKENESS)
    by_leaf = process.extract(leaf, [_folded(_leaf(n)) for n in texts], scorer=fuzz.ratio, limit=8, score_cutoff=75)
    close = {texts[index]: score for _, score, index in by_leaf}
    for name, score, _ in by_path:
        close[name] = max(close.get(name, 0.0), score)
    ranked = sorted(close, key=lambda name: (-close[name] - fuzz.ratio(name, text) / 10, len(name)))
    return tuple(islice(dict.fromkeys([*same, *(n for n in ranked if n != text)]), count))


def find_beside(names: list[tuple[str, Type]], resolved: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names at and below the part of a path that did resolve, parents first."""
    head = ".".join(resolved)
    if not head:
        return ()
    beside = (name for name, _ in names if f"{name.replace('[]', '')}.".startswith(f"{head}."))
    return tuple(sorted(islice(beside, 50), key=lambda name: (name.count("."), name)))


def few_names(type_: Type) -> tuple[str, ...]:
    """Return the names of documents that have only a few, where none is close."""
    return tuple(type_.fields)[:5] if len(type_.fields) <= 12 else ()


def with_keys(name: str, steps: tuple[str, ...]) -> str:
    """Put the map keys that a reference names into a name found for it."""
    parts = name.split(".")
    for index, (part, step) in enumerate(zip(parts, steps, strict=False)):
        if part.removesuffix("[]") == "<*>":
            parts[index] = part.replace("<*>", step)
        elif part.removesuffix("[]") != step:
            return name
    return ".".join(parts)


def find_copies(names: list[tuple[str, Type]], type_: Type, count: int = 2) -> tuple[str, ...]:
    """Return the names under which a value that was read elsewhere lives on."""
    wanted = set(type_.sources)
    return tuple(islice((name for name, part in names if wanted & set(part.sources)), count)) if wanted else ()


def find_keys(keys: KeySpace | None, name: str, count: int = 3) -> tuple[str, ...]:
    """Return the keys of a map closest to a name that is none of them."""
    examples = keys.examples if keys is not None else ()
    folded = _folded(name)
    same = [key for key in examples if _folded(key) == folded]
    close = process.extract(name, examples, scorer=fuzz.ratio, limit=count, score_cutoff=_LEAST_LIKENESS)
    return tuple(islice(dict.fromkeys([*same, *(key for key, _, _ in close)]), count))


def describe_kinds(kinds: Iterable[Kind]) -> str:
    """Write kinds as text, in a fixed order."""
    return ", ".join(sorted(kinds))


def _leaf(name: str) -> str:
    return name.rstrip("[]").rsplit(".", 1)[-1] if not name.endswith('"]') else name.rsplit('["', 1)[-1][:-2]


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "").replace("-", "")
