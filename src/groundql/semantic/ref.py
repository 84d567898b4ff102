"""References of a query: a path, or the key of a map's entry; resolved against a container's witnessed paths.

Text form: that of `Path`, and `MAP.<key>` for the key of an entry of the map at `MAP`. `scores.<*>` is the entry's
value, `scores.<key>` its key. A field that is really named `<key>` is written `["<key>"]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz, process

from groundql.core.catalog import Container, Field
from groundql.core.kind import NOTHING, Kind
from groundql.core.path import ENTRIES, ITEMS, Hop, Path, Step
from groundql.errors import InputError, PathError

KEY: Final = "<key>"
NEAREST: Final = 3
NEAR_ENOUGH: Final = 45.0


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that a query reads. Shape: with `is_key`, `path` ends in `<*>` and the entry's key is meant."""

    path: Path
    is_key: bool = False

    def __str__(self) -> str:
        if self.is_key:
            return str(self.path)[: -len(ENTRIES.value)] + KEY
        if self.path.last == KEY:
            return f'{self.path.parent}["{KEY}"]'
        return str(self.path)

    @property
    def hops(self) -> tuple[Path, ...]:
        """The prefixes of the path that end in a hop, outermost first."""
        steps = self.path.steps
        return tuple(Path(steps[: n + 1]) for n, step in enumerate(steps) if isinstance(step, Hop))


def parse_ref(text: str) -> Ref:
    """Read the text form, without looking at any data.

    Raises: PathError.
    """
    if text == KEY or text.endswith("." + KEY):
        return Ref(Path.parse(text[: -len(KEY)] + ENTRIES.value), is_key=True)
    return Ref(Path.parse(text))


def field_at(container: Container, path: Path) -> Field | None:
    """Find what was witnessed at a path, which may name a map's key where the catalog has `<*>`."""
    return container.get(path) or next((f for f in container.fields if f.path.covers(path)), None)


def kinds_at(container: Container, ref: Ref) -> frozenset[Kind]:
    """The kinds of the values that a reference can read; every kind where nothing was witnessed."""
    if ref.is_key:
        return frozenset({Kind.STRING})
    found = field_at(container, ref.path)
    return found.kind_set if found else frozenset(Kind)


def is_always_there(container: Container, ref: Ref) -> bool:
    """Tell whether a value other than null is certain: every document was seen, and every one has it."""
    if ref.path == Path.of("_id") or ref.is_key:
        return True
    found = field_at(container, ref.path)
    if not found or not container.is_exhaustive or found.kind_set & NOTHING or found.path != ref.path:
        return False
    above = (container.get(p) for p in ref.path.ancestors() if p.steps)
    return all(f is not None and not f.kind_set - {Kind.OBJECT, Kind.ARRAY} for f in above)


def resolve_ref(text: str, container: Container, *, is_leaf: bool = True) -> Ref:
    """Read a reference and settle it on the container's paths, hops added where they are implied.

    With `is_leaf`, an array stands for its items, a map for its keys, and a map's entry that is no scalar for its key.

    Raises: InputError naming the nearest paths.
    """
    try:
        ref = parse_ref(text)
    except PathError as error:
        raise unknown_path(text, container) from error
    path = _settle(ref.path, container)
    if path is None:
        raise unknown_path(text, container)
    path = _through_arrays(path, container)
    if ref.is_key or not is_leaf:
        return Ref(path, ref.is_key and path.last is ENTRIES)
    while _stands_for_items(container, path):
        path = path / ITEMS
    if (found := field_at(container, path)) and found.is_map and _holds_only_objects(container, path):
        return Ref(path / ENTRIES, is_key=True)
    return Ref(path, path.last is ENTRIES and _holds_only_objects(container, path))


def _stands_for_items(container: Container, path: Path) -> bool:
    """Tell whether an array's items are meant; items that are now and then arrays themselves are left whole."""
    found = field_at(container, path)
    if found is None or Kind.ARRAY not in found.kind_set or field_at(container, path / ITEMS) is None:
        return False
    return path.last is not ITEMS or not found.kind_set - NOTHING - {Kind.ARRAY}


def unknown_path(text: str, container: Container) -> InputError:
    """Say that a container has no such path, with the nearest that it has."""
    near = nearest_paths(text, container)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return InputError(f"unknown path {text!r} in {container.name}{hint}")


def nearest_paths(text: str, container: Container) -> tuple[str, ...]:
    """Rank the container's references by likeness to a wrong one, best first."""
    known = [str(ref) for ref in refs_of(container)]
    found = process.extract(text, known, scorer=fuzz.WRatio, limit=NEAREST, score_cutoff=NEAR_ENOUGH)
    return tuple(match for match, _, _ in found)


def refs_of(container: Container) -> Iterator[Ref]:
    """Yield every reference that the container's paths allow: its paths, and the key of each map."""
    for found in container.fields:
        if found.path.steps:
            if found.path.last is ENTRIES:
                yield Ref(found.path, is_key=True)
            yield Ref(found.path)


def _settle(path: Path, container: Container) -> Path | None:
    """Return the witnessed path that is meant: itself, or the one that needs the fewest guesses.

    A guess is a hop that was left out, or a map's key that was not seen; two equally near paths are no answer.
    """
    if not path.steps:
        return None
    if container.get(path) is not None:
        return path
    fits: dict[Path, tuple[int, int, int]] = {}
    for found in container.fields:
        for steps in _fit(found.path.steps, path.steps):
            fitted = Path(steps)
            guesses = _unseen_keys(container, found.path, fitted)
            if guesses is not None:
                price = (guesses, len(fitted.hops) - len(path.hops), len(fitted))
                fits[fitted] = min(price, fits.get(fitted, price))
    best = min(fits.values(), default=None)
    nearest = [p for p, price in fits.items() if price == best]
    return nearest[0] if len(nearest) == 1 else None


def _unseen_keys(container: Container, general: Path, concrete: Path) -> int | None:
    """Count the map keys that were not seen; None when one of them certainly does not exist."""
    unseen = 0
    for n, (step, named) in enumerate(zip(general.steps, concrete.steps, strict=True)):
        if step is ENTRIES and isinstance(named, str):
            above = container.get(Path(general.steps[:n]))
            space = above.keys if above else None
            if space is None or named not in space.examples:
                if space is not None and space.complete:
                    return None
                unseen += 1
    return unseen


def _fit(known: tuple[Step, ...], asked: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Lay asked steps along a known path: hops may be left out, and a name may stand for a map's entry."""
    if not known:
        if not asked:
            yield ()
        return
    step, rest = known[0], known[1:]
    if asked and asked[0] == step:
        yield from ((step, *tail) for tail in _fit(rest, asked[1:]))
        return
    if isinstance(step, Hop):
        yield from ((step, *tail) for tail in _fit(rest, asked))
    if step is ENTRIES and asked and isinstance(asked[0], str):
        yield from ((asked[0], *tail) for tail in _fit(rest, asked[1:]))


def _through_arrays(path: Path, container: Container) -> Path:
    """Write `a[].b` for `a.b` where `a` holds arrays as well as objects, so that one path reads both."""
    for n in range(1, len(path.steps)):
        head, tail = Path(path.steps[:n]), Path(path.steps[n:])
        found = field_at(container, head)
        if found and Kind.ARRAY in found.kind_set and path.steps[n] is not ITEMS:
            through = head / ITEMS + tail
            if field_at(container, through):
                return _through_arrays(through, container)
    return path


def _holds_only_objects(container: Container, path: Path) -> bool:
    found = field_at(container, path)
    return found is not None and not found.kind_set - NOTHING - {Kind.OBJECT}
