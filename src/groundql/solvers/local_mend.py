"""What code can mend in a small model's compact query, from the question's wording and the stored data alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final, cast

from groundql.core.answer import Grounding
from groundql.core.catalog import Container, Witness
from groundql.core.path import ENTRIES, ITEMS
from groundql.errors import InputError
from groundql.grounding.names import as_name
from groundql.grounding.relevance import weigh
from groundql.grounding.terms import read_terms
from groundql.grounding.words import fold, is_plural, split_words, stem_text, stems
from groundql.semantic.query_schema import usable_refs
from groundql.semantic.ref import Ref, field_at, resolve_ref
from groundql.semantic.roles import MOST_CATEGORIES

_HOW_MANY: Final = re.compile(r"\s*(in |for |on |at |of )?how many\b", re.IGNORECASE)
_COUNTING: Final = re.compile(r"\b(how many|how often|count|number|total|many)\b", re.IGNORECASE)
_LEAVE_OUT: Final = re.compile(r"\b(leave out|leaving out|ignore|exclude|excluding)\b.*\bwithout\b", re.IGNORECASE)
_EACH: Final = re.compile(r"\b(each|every|per|by)\b", re.IGNORECASE)


def mend_query(query: Mapping[str, Any], grounding: Grounding) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Mend a query. Returns it with a note for each thing that was changed."""
    mended = {k: v for k, v in query.items() if v not in ([], None, False)}
    notes: list[str] = []
    container = grounding.catalog.get(str(mended.get("container")))
    if container is None:
        return mended, ()
    if _counts_rows(mended, grounding.question.text):
        for part in ("select", "order_by", "limit", "distinct"):
            mended.pop(part, None)
        mended["metrics"] = [{"op": "count"}]
    if (wanted := _value_asked_for(mended, container, grounding)) is not None:
        mended = {**{k: v for k, v in mended.items() if k != "metrics"}, "select": [wanted]}
        notes.append(f"the question asks for {wanted}, not for a count")
    asked = read_terms(grounding.question).limit
    if asked is not None and "limit" not in mended and "order_by" in mended:
        mended["limit"] = asked.number
        notes.append(f"limited to {asked.number} row(s): {asked.text!r}")
    filters = [_moved(f, container, grounding, notes) for f in cast("Sequence[Any]", mended.get("filters", ()))]
    filters += _left_out(mended, grounding)
    filters += _restrictions(mended, filters, container, grounding, notes)
    if filters:
        mended["filters"] = filters
    return mended, tuple(notes)


def _value_asked_for(query: Mapping[str, Any], container: Container, grounding: Grounding) -> str | None:
    """The value that a question names best, where a mere count was drafted for one that does not ask how many."""
    if query.get("metrics") != [{"op": "count"}] or "group_by" in query or _COUNTING.search(grounding.question.text):
        return None
    used = set(_texts(query.get("filters")))
    relevance = weigh(grounding)
    worth = {
        str(ref): sum(relevance.of(container.name, ref.path).values())
        for ref in usable_refs(container)
        if str(ref) not in used and not ref.hops
    }
    best = max(worth, key=lambda text: worth[text], default=None)
    return best if best is not None and worth[best] > 0 else None


def _restrictions(
    query: Mapping[str, Any], filters: Sequence[Any], container: Container, grounding: Grounding, notes: list[str]
) -> list[dict[str, Any]]:
    used = set(_texts([query.get("group_by"), query.get("select"), *filters]))
    added: list[dict[str, Any]] = []
    for path, value, term in unsaid_categories(used, container, grounding):
        added.append({"path": path, "op": "eq", "value": value})
        notes.append(f"{term!r} is taken as {path} = {value!r}")
    return added


def unsaid_categories(used: Set[str], container: Container, grounding: Grounding) -> Iterator[tuple[str, str, str]]:
    """Yield the path, value and word of each restriction that the question's words make and a draft lacks.

    That is a word that is a value of one category here. A word that also names a field, two words for one category, and
    what is `used` already, as a path or as a value, are left alone.
    """
    fields = {as_name(name) for f in container.fields for name in f.path.fields}
    found: dict[str, set[str]] = {}
    terms: dict[str, set[str]] = {}
    words: dict[str, str] = {}
    for witness in grounding.witnesses:
        if witness.container == container.name:
            terms.setdefault(witness.term, set()).add(f"{witness.path}{'=' if witness.is_key else ''}")
            if _is_category(witness, container) and not set(_forms(witness.term)) & fields:
                found.setdefault(str(witness.path), set()).add(str(witness.stored))
                words.setdefault(str(witness.stored), witness.term)
    for path, value, word in _things(container, grounding):
        if word not in terms and not any(stems(text) == stems(word) for text in used):
            terms.setdefault(word, set()).add(path)
            found.setdefault(path, set()).add(value)
            words.setdefault(value, word)
    for path, values in found.items():
        told = [w for w in grounding.witnesses if w.container == container.name and str(w.path) == path]
        alone = all(terms[w.term] == {path} for w in told)
        if len(values) == 1 and alone and path not in used and not values & used:
            value = next(iter(values))
            yield path, value, words[value]


def _things(container: Container, grounding: Grounding) -> Iterator[tuple[str, str, str]]:
    """Yield the path, value and word of each plural in the question that says what kind of document is meant.

    A field may have the same name: "the cities" are documents of the kind city, "each city" is a field of documents.
    """
    plurals = {w for w in split_words(grounding.question.text) if is_plural(w) and stems(w) != stems(container.name)}
    for field in container.fields:
        if field.path.steps and not field.path.hops and field.complete and 1 < field.distinct <= MOST_CATEGORIES:
            for value in field.values:
                if isinstance(value, str):
                    yield from ((str(field.path), value, w) for w in plurals if stems(value) == stems(w))


def _is_category(witness: Witness, container: Container) -> bool:
    found = field_at(container, witness.path)
    few = found is not None and found.distinct <= MOST_CATEGORIES and not witness.path.hops
    return not witness.is_key and isinstance(witness.stored, str) and (few or witness.hard)


def _forms(term: str) -> tuple[str, str]:
    return as_name(term), stem_text(as_name(term))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in cast("Mapping[str, Any]", value).values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in cast("Sequence[Any]", value):
            yield from _texts(part)


def _left_out(query: Mapping[str, Any], grounding: Grounding) -> list[dict[str, Any]]:
    """Groups of what lacks the key go, where the question says so: "leave out entries without the tag"."""
    if not leaves_out_missing(grounding.question.text):
        return []
    return [{"path": path, "op": "exists"} for path in query.get("group_by", ()) if isinstance(path, str)]


def leaves_out_missing(question: str) -> bool:
    """Tell whether a question says to leave out what lacks something."""
    return bool(_LEAVE_OUT.search(question))


def _counts_rows(query: Mapping[str, Any], question: str) -> bool:
    """Tell whether a listing was drafted for a question that asks how many there are."""
    listing = "metrics" not in query and "group_by" not in query
    return listing and bool(_HOW_MANY.match(question)) and not _EACH.search(question)


def _moved(found: Any, container: Container, grounding: Grounding, notes: list[str]) -> Any:
    """Take a comparison with a text that is not stored there to the one place where the question's word is."""
    if not isinstance(found, Mapping):
        return found
    data = cast("Mapping[str, Any]", found)
    value, op = data.get("value"), data.get("op", "eq")
    if not isinstance(value, str) or op not in ("eq", "contains", "starts_with"):
        return data
    try:
        ref = resolve_ref(str(data.get("path")), container)
    except InputError:
        return data
    here = [w for w in grounding.witnesses if w.container == container.name and fold(str(w.stored)) == fold(value)]
    at_path = [w for w in here if _reads(w, ref)]
    if at_path:
        return {**data, "op": "eq", "value": at_path[0].stored} if op != "eq" or value != at_path[0].stored else data
    if not _is_surely_absent(value, ref, container):
        return data
    places = {(str(w.path), w.is_key, str(w.stored)) for w in here}
    if len(places) != 1:
        return data
    witness = here[0]
    notes.append(f"{value!r} is not stored at {ref}; it is at {container.name} {witness.path}")
    if witness.is_key:
        return {"path": str(witness.path / str(witness.stored)), "op": "exists"}
    return {"path": str(witness.path), "op": "eq", "value": witness.stored}


def _reads(witness: Witness, ref: Ref) -> bool:
    if witness.is_key:
        return ref.is_key and ref.path == witness.path / ENTRIES
    return not ref.is_key and (witness.path.covers(ref.path) or (witness.path / ITEMS).covers(ref.path))


def _is_surely_absent(value: str, ref: Ref, container: Container) -> bool:
    found = field_at(container, ref.path)
    if found is None or not container.is_exhaustive or not found.complete:
        return False
    return fold(value) not in {fold(str(v)) for v in found.values}
