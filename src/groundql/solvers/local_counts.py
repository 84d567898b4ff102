"""What a question counts: the documents of a container, those that have something, or the items within one document.

A small model writes a plain count of documents for all three. Code tells them apart by the question's words and the
stored data, and leaves a program alone where more than one thing could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, cast

from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Field
from groundql.core.kind import Kind
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.core.program import MqlProgram, Program
from groundql.errors import InputError
from groundql.grounding.numerals import numbers_of
from groundql.grounding.words import STOP_WORDS, stems
from groundql.languages.read import claims_of
from groundql.semantic.query import parse_query
from groundql.semantic.ref import Ref, field_at
from groundql.semantic.to_mql import compile_query

_COUNTED: Final = re.compile(r"\bhow many ([\w ]+)", re.IGNORECASE)
_OWNED: Final = re.compile(
    r"\bhow many [\w ]+? (?P<verb>do(?:es)? not have|don't have|have|has|with|without|lack)\s+(?P<no>no\s+)?"
    r"(?:(?:an?|any|the|some)\s+)?(?P<what>[\w :-]+?)(?:\s+fields?)?\s*[?.]?\s*$",
    re.IGNORECASE,
)
_DIFFERENT: Final = re.compile(r"\bhow many (?:different|distinct|unique|separate)\b", re.IGNORECASE)
_EACH: Final = re.compile(r"\b(?:each|every|per)\b", re.IGNORECASE)
IDENTIFYING_SHARE: Final = 0.95
"""A path whose values tell documents apart, a few namesakes allowed: asking for one of them is asking for one thing."""


def counted_words(question: str) -> tuple[str, ...]:
    """Return the words after "how many", in the form in which names are compared."""
    found = _COUNTED.search(question)
    return stems(found[1]) if found else ()


def counted_container(grounding: Grounding) -> str | None:
    """The container whose documents the question counts in so many words: "how many territories".

    None where its name is also that of a list in another container, of which the question names one document: "how
    many languages are spoken in Belgium".
    """
    said = counted_words(grounding.question.text)
    named = [c.name for c in grounding.catalog.containers if c.is_known and _begins(said, c.name)]
    found = max(named, key=len, default=None)
    return None if found is not None and holding_container(grounding, but=found) is not None else found


def holding_container(grounding: Grounding, but: str = "") -> str | None:
    """The one container of which the question names a document that holds what is counted as a list or a map.

    A name that is stored in the container `but`, which is named like the list, is no name of the others' documents.
    """
    own = {w.term for w in grounding.witnesses if w.container == but}
    found = {
        c.name
        for c in grounding.catalog.containers
        if c.is_known and c.name != but and counted_list(c, grounding) is not None
        for w in grounding.witnesses
        if w.container == c.name and not w.is_key and w.term not in own and is_identifying(c, w.path)
    }
    return found.pop() if len(found) == 1 else None


def counted_list(container: Container, grounding: Grounding) -> Ref | None:
    """The items or keys that the question counts, where one list or map of the container is named like them."""
    said = counted_words(grounding.question.text)
    found = [ref for field, ref in _lists(container) if _begins(said, field.path.fields[-1])]
    if _begins(said, container.name):
        words = {w for w in stems(grounding.question.text) if w not in STOP_WORDS}
        found = [ref for field, ref in _lists(container) if set(stems(field.path.fields[-1])) <= words]
    return found[0] if len(found) == 1 else None


def is_identifying(container: Container, path: Path) -> bool:
    """Tell whether a path's values tell the documents of a container apart."""
    found = container.get(path)
    if found is None or path.hops:
        return False
    return path == Path.of("_id") or (found.count > 1 and found.distinct >= IDENTIFYING_SHARE * found.count)


def counted_items(program: Program, grounding: Grounding) -> Program:
    """Count the items within one named document, where a count of documents or a listing of the items stands for it."""
    if not isinstance(program, MqlProgram) or (container := grounding.catalog.get(program.container)) is None:
        return program
    ref = counted_list(container, grounding)
    before = tuple(takewhile(lambda stage: "$match" in stage, program.stages))
    if (
        ref is None
        or not names_one_document(before, container)
        or not _only_reads(program, len(before), ref, grounding)
    ):
        return program
    if _restricts_items(before, container, ref, grounding):
        return program  # which of the items count is the model's to say
    query = {"container": container.name, "metrics": [{"op": "count", "path": str(ref)}]}
    return _counting(program, before, query, grounding)


def _restricts_items(
    matches: Sequence[Mapping[str, Any]], container: Container, ref: Ref, grounding: Grounding
) -> bool:
    """Tell whether the program or the question's own words, values and numbers pick among the items."""
    inside = any(Path(tuple(name.split("."))).starts_with(ref.path.parent) for s in matches for name in s["$match"])
    names = {stem for name in (container.name, *(f.path.dotted for f in container.fields)) for stem in stems(name)}
    said = str(matches)
    found = (w for w in grounding.witnesses if w.container == container.name and str(w.stored) not in said)
    named = any(
        (w.path / ENTRIES if w.is_key else w.path).starts_with(ref.path.parent) and not set(stems(w.term)) <= names
        for w in found
    )
    return inside or named or any(n.text not in said for n in numbers_of(grounding.question.text))


def _only_reads(program: MqlProgram, start: int, ref: Ref, grounding: Grounding) -> bool:
    """Tell whether the stages from `start` on merely show or count documents, or what lies at a reference."""
    for stage in program.stages[start:]:
        shown = {"$project", "$sort", "$unwind", "$count"} & stage.keys()
        if not shown and list(_accumulated(stage)) not in ([], [{"$sum": 1}]):
            return False
    reads = claims_of(program, grounding.catalog).stored_reads()
    return all(r.path is None or r.path.starts_with(ref.path.parent) for r in reads if r.place.stage >= start)


def _accumulated(stage: Mapping[str, Any]) -> Iterator[Any]:
    """What a `$group` puts together; of any other stage one thing that is no count."""
    group = stage.get("$group")
    parts = cast("Mapping[str, Any]", group) if isinstance(group, Mapping) else {"": None}
    yield from (value for name, value in parts.items() if name != "_id")


def owned_field(program: Program, grounding: Grounding) -> Program:
    """Restrict a count of everything to what has, or lacks, the one field that the question says it has or lacks."""
    if not isinstance(program, MqlProgram) or (container := grounding.catalog.get(program.container)) is None:
        return program
    asked = _OWNED.search(grounding.question.text)
    if plain_count(program) != () or asked is None or not _begins(counted_words(asked[0]), container.name):
        return program
    said = stems(asked["what"])
    found = [f for f in container.fields if f.path.steps and not f.path.hops and _is_called(f, said)]
    if len(found) != 1:
        return program
    lacks = bool(asked["no"]) or asked["verb"].casefold() not in ("have", "has", "with")
    there = {"path": str(found[0].path), "op": "missing" if lacks else "exists"}
    query = {"container": container.name, "filters": [there], "metrics": [{"op": "count"}]}
    return _counting(program, (), query, grounding)


def counted_values(program: Program, grounding: Grounding) -> Program:
    """Count the groups, those without a value left out, where the question asks how many different values there are."""
    text = grounding.question.text
    if not isinstance(program, MqlProgram) or not _DIFFERENT.search(text) or _EACH.search(text):
        return program
    at = next((n for n, stage in enumerate(program.stages) if "$group" in stage), None)
    if at is None or any(not {"$project", "$sort", "$count"} & stage.keys() for stage in program.stages[at + 1 :]):
        return program
    key = cast("Mapping[str, Any]", program.stages[at]["$group"]).get("_id")
    if not isinstance(key, str) or not key.startswith("$") or key.startswith("$$"):
        return program
    groups = ({"$group": {"_id": key}}, {"$match": {"_id": {"$ne": None}}}, {"$count": "count"})
    return replace(program, stages=(*program.stages[:at], *groups))


def plain_count(program: MqlProgram) -> tuple[Mapping[str, Any], ...] | None:
    """Return the `$match` stages before a plain count of documents; None for any other program."""
    stages = [stage for stage in program.stages if not {"$project", "$sort"} & stage.keys()]
    before = tuple(stage for stage in stages if "$match" in stage)
    rest = [stage for stage in stages if "$match" not in stage]
    if len(rest) != 1 or stages[-1] is not rest[0]:
        return None
    return before if "$count" in rest[0] or _counts_all(rest[0].get("$group")) else None


def names_one_document(matches: Sequence[Mapping[str, Any]], container: Container) -> bool:
    """Tell whether `$match` stages ask for one value of a path that tells documents apart."""
    return any(
        isinstance(value, str) and is_identifying(container, Path(tuple(name.split("."))))
        for stage in matches
        for name, value in cast("Mapping[str, Any]", stage["$match"]).items()
        if not name.startswith("$")
    )


def _counts_all(group: object) -> bool:
    if not isinstance(group, Mapping):
        return False
    parts = dict(cast("Mapping[str, Any]", group))
    key = parts.pop("_id", None)
    sums = list(parts.values())
    return not (isinstance(key, str) and key.startswith("$")) and not isinstance(key, Mapping) and sums == [{"$sum": 1}]


def _counting(
    program: MqlProgram, before: tuple[Mapping[str, Any], ...], query: Mapping[str, Any], grounding: Grounding
) -> Program:
    try:
        compiled = compile_query(parse_query(query, grounding.catalog), grounding.catalog)
    except InputError:
        return program
    return replace(program, stages=(*before, *compiled.stages))


def _lists(container: Container) -> Iterator[tuple[Field, Ref]]:
    """The arrays and maps that a document holds itself, each with the reference to what it holds."""
    for field in container.fields:
        if not field.path.steps or field.path.hops:
            continue
        if field.is_map:
            yield field, Ref(field.path / ENTRIES, is_key=True)
        elif Kind.ARRAY in field.kind_set and field_at(container, field.path / ITEMS) is not None:
            yield field, Ref(field.path / ITEMS)


def _begins(said: tuple[str, ...], name: str) -> bool:
    words = stems(name)
    return bool(words) and said[: len(words)] == words


def _is_called(field: Field, said: tuple[str, ...]) -> bool:
    fields = field.path.fields
    return bool(said) and any(stems(" ".join(fields[-n:])) == said for n in range(1, len(fields) + 1))
