"""Nested values as indented text: on one line where it fits, one entry a line where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Style:
    """How a language writes keys and values. `indent` counts spaces."""

    key: Callable[[str], str]
    leaf: Callable[[Any], str]
    indent: int = 2
    padding: str = ""
    """What stands between a brace and what it holds on one line."""


def lay_out(value: Any, style: Style, column: int = 0, used: int = 0) -> str:
    """Write a value. `column` is the indentation of its last line, `used` what stands before it on its first."""
    flat = _flat(value, style, WIDTH - column - used)
    if flat is not None:
        return flat
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return _broken("{", [_entry(key, item, style, column) for key, item in mapping.items()], "}", style, column)
    items = cast("list[Any]", value)
    inner = column + style.indent
    return _broken("[", [lay_out(item, style, inner) for item in items], "]", style, column)


def lay_out_stages(stages: tuple[Any, ...], style: Style, column: int = 0) -> str:
    """Write a pipeline, each stage on a line of its own."""
    if not stages:
        return "[]"
    inner = column + style.indent
    return _broken("[", [lay_out(stage, style, inner) for stage in stages], "]", style, column)


def _entry(key: str, item: Any, style: Style, column: int) -> str:
    written = style.key(key) + ": "
    return written + lay_out(item, style, column + style.indent, len(written))


def _broken(opening: str, parts: list[str], closing: str, style: Style, column: int) -> str:
    inner = "\n" + " " * (column + style.indent)
    return opening + inner + ("," + inner).join(parts) + "\n" + " " * column + closing


def _flat(value: Any, style: Style, room: int) -> str | None:
    """Write a value on one line, or give up as soon as it does not fit; a scalar always fits."""
    if not isinstance(value, Mapping | list | tuple):
        return style.leaf(value)
    pieces: list[str] = []
    for piece in _pieces(value, style):
        pieces.append(piece)
        room -= len(piece)
        if room < 0 and value:
            return None
    return "".join(pieces)


def _pieces(value: Any, style: Style) -> Iterator[str]:
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        padding = style.padding if mapping else ""
        yield "{" + padding
        for number, (key, item) in enumerate(mapping.items()):
            yield (", " if number else "") + style.key(key) + ": "
            yield from _pieces(item, style)
        yield padding + "}"
    elif isinstance(value, list | tuple):
        yield "["
        for number, item in enumerate(cast("list[Any]", value)):
            if number:
                yield ", "
            yield from _pieces(item, style)
        yield "]"
    else:
        yield style.leaf(value)
