"""The one path algebra: field steps, `[]` (items of an array), `<*>` (entries of a map).

Text form: `orders[].sku`, `scores_by_year.<*>.mean`, `tags[]`, `["a.b"][].c`. A field name that is not plain
(a dot, a bracket, a quote, a control character, an edge blank, `<*>` itself, or nothing at all) is written as a JSON
string in brackets, so every path has exactly one text form and parses back to itself. The root is the empty text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, TypeAlias

from groundql.errors import PathError


class Hop(Enum):
    """A step that is not a field name."""

    ITEMS = "[]"
    ENTRIES = "<*>"


ITEMS: Final = Hop.ITEMS
ENTRIES: Final = Hop.ENTRIES
Step: TypeAlias = str | Hop

_SPECIAL: Final = frozenset('.[]"\\')


def is_plain(name: str) -> bool:
    """Tell whether a field name can stand in a path's text without quotes."""
    return (
        bool(name)
        and name != "<*>"
        and name == name.strip()
        and not any(c in _SPECIAL or not c.isprintable() for c in name)
    )


@dataclass(frozen=True)
class Path:
    """A place in a document type: a tuple of field names and hops from the document's root."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, *steps: Step) -> Path:
        """Build a path from its steps."""
        return cls(steps)

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read the text form.

        Raises: PathError naming the position of the first character that does not fit.
        """
        return cls(tuple(_read(text)))

    @classmethod
    def from_dotted(cls, dotted: str) -> Path:
        """Read an engine's dotted field name, such as `a.b.c`, as field steps alone."""
        return cls(tuple(dotted.split(".")))

    @cached_property
    def _text(self) -> str:
        return "".join(_written(self.steps))

    @cached_property
    def _hash(self) -> int:
        return hash(self.steps)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Path({self._text!r})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self.steps == other.steps

    def __reduce__(self) -> tuple[type[Path], tuple[tuple[Step, ...]]]:
        # a cached hash must not travel: text hashes differ from process to process
        return Path, (self.steps,)

    def __lt__(self, other: Path) -> bool:
        """Order by depth-first text, so that a parent stands before its children."""
        return [_order(s) for s in self.steps] < [_order(s) for s in other.steps]

    def __len__(self) -> int:
        return len(self.steps)

    def __truediv__(self, step: Step) -> Path:
        return Path((*self.steps, step))

    def __add__(self, other: Path) -> Path:
        return Path(self.steps + other.steps)

    @property
    def parent(self) -> Path:
        """The path one step shorter; the root is its own parent."""
        return Path(self.steps[:-1])

    @property
    def last(self) -> Step | None:
        """The last step, or None at the root."""
        return self.steps[-1] if self.steps else None

    @property
    def name(self) -> str:
        """The last field name on the path, or the empty text."""
        return next((s for s in reversed(self.steps) if isinstance(s, str)), "")

    @property
    def fields(self) -> tuple[str, ...]:
        """The field names in order, hops left out."""
        return tuple(s for s in self.steps if isinstance(s, str))

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The hops in order, field names left out."""
        return tuple(s for s in self.steps if isinstance(s, Hop))

    @property
    def dotted(self) -> str:
        """The engine's dotted name with `[]` left out; only meaningful without `<*>`."""
        return ".".join(s if isinstance(s, str) else "*" for s in self.steps if s is not ITEMS)

    def ancestors(self) -> Iterator[Path]:
        """Yield every proper prefix, the root first."""
        return (Path(self.steps[:n]) for n in range(len(self.steps)))

    def starts_with(self, prefix: Path) -> bool:
        """Tell whether `prefix` is this path or one of its ancestors."""
        return self.steps[: len(prefix.steps)] == prefix.steps

    def covers(self, concrete: Path) -> bool:
        """Tell whether a path with real keys lies on this one: `<*>` stands for any field name."""
        return len(self.steps) == len(concrete.steps) and all(
            a == b or (a is ENTRIES and isinstance(b, str)) for a, b in zip(self.steps, concrete.steps, strict=True)
        )


ROOT: Final = Path()


def _written(steps: Iterable[Step]) -> Iterator[str]:
    first = True
    for step in steps:
        if step is ITEMS:
            yield "[]"
        elif isinstance(step, str) and not is_plain(step):
            yield f"[{json.dumps(step, ensure_ascii=False)}]"
        else:
            yield ("" if first else ".") + (step if isinstance(step, str) else step.value)
        first = False


def _order(step: Step) -> tuple[int, str]:
    return (0, step.value) if isinstance(step, Hop) else (1, step)


def _read(text: str) -> Iterator[Step]:
    at = 0
    while at < len(text):
        if text[at] == "[":
            step, at = _read_bracket(text, at)
        else:
            if at and text[at] != ".":
                raise PathError(f"in path {text!r}: expected '.' or '[' at position {at}")
            start = at + (1 if at else 0)
            if start < len(text) and text[start] == "[":
                raise PathError(f"in path {text!r}: '.' before '[' at position {at}")
            end = next((i for i in range(start, len(text)) if text[i] in ".["), len(text))
            step, at = _plain_step(text, start, end), end
        yield step


def _plain_step(text: str, start: int, end: int) -> Step:
    name = text[start:end]
    if name == ENTRIES.value:
        return ENTRIES
    if not is_plain(name):
        raise PathError(f'in path {text!r}: {name!r} at position {start} is not a plain name; write it as ["..."]')
    return name


def _read_bracket(text: str, at: int) -> tuple[Step, int]:
    if text.startswith("[]", at):
        return ITEMS, at + 2
    try:
        name, end = json.JSONDecoder().raw_decode(text, at + 1)
    except ValueError:
        raise PathError(f"in path {text!r}: '[' at position {at} opens neither [] nor [\"name\"]") from None
    if not isinstance(name, str) or text[end : end + 1] != "]":
        raise PathError(f"in path {text!r}: '[' at position {at} opens neither [] nor [\"name\"]")
    return name, end + 1
