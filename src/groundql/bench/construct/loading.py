"""Read a specification from YAML; what is wrong with it is told with file, line and a fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from groundql.bench.construct.spec import Collection, Source, Value, Variant, WorldSpec
from groundql.errors import LoadError

Way = tuple[str | int, ...]


def load_spec(path: Path) -> WorldSpec:
    """Read and check a specification.

    Raises: LoadError naming the file, the line and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, yaml.SafeLoader)
        data: Any = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise LoadError(f"{path}{line}: not YAML ({getattr(error, 'problem', error)})") from None
    try:
        spec = WorldSpec.model_validate(data)
    except ValidationError as error:
        raise _refused(path, node, error) from None
    for way, name in _dangling(spec):
        hint = _nearest(name, spec.sources) or f"its sources are: {', '.join(spec.sources) or 'none'}"
        raise LoadError(f"{path}, line {_line(node, way)}: there is no source {name!r}", hint=hint)
    return spec


def _refused(path: Path, node: yaml.Node | None, error: ValidationError) -> LoadError:
    first = error.errors()[0]
    way = tuple(step for step in first["loc"] if not str(step).startswith("function-"))
    said = first["msg"].removeprefix("Value error, ")
    name = ".".join(map(str, way)) or "the specification"
    hint = ""
    if first["type"] == "extra_forbidden":
        said, hint = "there is no such key here", _nearest(str(way[-1]), _known_keys())
    elif first["type"] == "missing":
        said, hint = "is missing", f"add {way[-1]}: ..."
    return LoadError(f"{path}, line {_line(node, way)}: {name}: {said}", hint=hint)


def _known_keys() -> Iterator[str]:
    for model in (WorldSpec, Source, Collection, Variant, Value):
        yield from (info.alias or name for name, info in model.model_fields.items())


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), 1)
    return f"did you mean {close[0]}?" if close else ""


def _line(node: yaml.Node | None, way: Way) -> int:
    """Find the line of a place, or of the nearest thing around it."""
    line = node.start_mark.line + 1 if node else 1
    for step in way:
        if isinstance(node, yaml.MappingNode):
            pairs = cast("list[tuple[yaml.ScalarNode, yaml.Node]]", node.value)
            found = next(((k, v) for k, v in pairs if k.value == str(step)), None)
            if found is None:
                return line
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            items = cast("Sequence[yaml.Node]", node.value)
            if step >= len(items):
                return line
            node = items[step]
            line = node.start_mark.line + 1
        else:
            return line
    return line


def _dangling(spec: WorldSpec) -> Iterator[tuple[Way, str]]:
    """Yield the places that name a source which is not there."""
    for name, collection in spec.collections.items():
        yield from ((w, s) for w, s in _in_collection(collection, ("collections", name)) if s not in spec.sources)


def _in_collection(collection: Collection, way: Way) -> Iterator[tuple[Way, str]]:
    if collection.source:
        yield (*way, "from"), collection.source
    yield from _in_fields(collection.fields, (*way, "fields"))
    for n, variant in enumerate(collection.variants):
        yield from _in_fields(variant.fields, (*way, "variants", n, "fields"))
    for n, other in enumerate(collection.also):
        yield from _in_collection(other, (*way, "also", n))


def _in_fields(fields: dict[str, Value], way: Way) -> Iterator[tuple[Way, str]]:
    for name, value in fields.items():
        here = (*way, name)
        if value.joined:
            kind = next(k for k in ("array", "map", "embed", "count") if getattr(value, k))
            yield (*here, kind), value.joined
        yield from _in_fields(value.fields, (*here, "fields"))
