"""Templates over maps and lists: keys, entries, items, records within lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.plain import draft, out, shown
from groundql.bench.construct.drafting.slots import Slots, column, human, quoted, texts_of
from groundql.core.catalog import Field
from groundql.core.kind import NUMBERS, Kind
from groundql.core.path import ENTRIES, ITEMS

MAP, EVENTS = "dynamic_key_object", "nested_event_stream"
_TEXT: Final = frozenset({Kind.STRING})


def _as_array(field: Field) -> dict[str, Any]:
    """Take a map apart; where it is missing, there are no entries."""
    nothing: dict[str, Any] = {}
    return {"$objectToArray": {"$ifNull": [f"${field.path.dotted}", nothing]}}


def _as_list(field: Field) -> dict[str, Any]:
    nothing: list[Any] = []
    return {"$ifNull": [f"${field.path.dotted}", nothing]}


def _entries(field: Field) -> list[Mapping[str, Any]]:
    return [
        {"$project": {"entry": {"$objectToArray": {"$ifNull": [f"${field.path.dotted}", {}]}}}},
        {"$unwind": "$entry"},
    ]


def key_counts(slots: Slots) -> Iterator[Draft]:
    """Count in how many documents each key of a map occurs."""
    for f in slots.maps:
        words = (
            f"Which six keys of {f.path.dotted} occur in the most {slots.noun}? Return key and count, highest "
            f"count first, "
            "equal counts by key.",
            f"The six most common keys of {f.path.dotted} among {slots.noun}, with counts, ties by key.",
        )
        yield draft("key_counts", slots, words, [
            *_entries(f),
            {"$group": {"_id": "$entry.k", "count": {"$sum": 1}}},
            {"$sort": {"count": -1, "_id": 1}},
            {"$limit": 6},
            out(key="$_id", count=1),
        ], MAP, ["dynamic_keys"])  # fmt: skip


def largest_maps(slots: Slots) -> Iterator[Draft]:
    """List the documents with the most entries in a map."""
    label, as_label, by = shown(slots)
    for f in slots.maps:
        words = (
            f"Which five {slots.noun} have the most entries in {f.path.dotted}? Return {as_label} and entries, "
            f"most first, "
            f"equal numbers by {as_label}.",
            f"Five {slots.noun} with the largest {f.path.dotted}: {label} and number of entries, ties by {as_label}.",
        )
        size = {"$size": _as_array(f)}
        yield draft("largest_maps", slots, words, [
            out(**{as_label: f"${by}", "entries": size}),
            {"$sort": {"entries": -1, as_label: 1}},
            {"$limit": 5},
        ], MAP, ["dynamic_keys"])  # fmt: skip


def has_key(slots: Slots) -> Iterator[Draft]:
    """Count the documents whose map has a key, and has it not."""
    for f in slots.maps:
        for key in _keys(f)[:2]:
            words = (
                f"How many {slots.noun} have the key {quoted(key)} in {f.path.dotted}? Return the number as count.",
                f"Number of {slots.noun} with {quoted(key)} among the keys of {f.path.dotted}?",
            )
            keys = {"$map": {"input": _as_array(f), "as": "e", "in": "$$e.k"}}
            yield draft("has_key", slots, words, [
                {"$match": {"$expr": {"$in": [key, keys]}}}, {"$count": "count"},
            ], MAP, ["dynamic_keys", "value_witnesses"])  # fmt: skip


def both_keys(slots: Slots) -> Iterator[Draft]:
    """Count the documents whose map has two keys at once."""
    for f in slots.maps:
        keys = _keys(f)[:2]
        if len(keys) < 2:
            continue
        names = {"$map": {"input": _as_array(f), "as": "e", "in": "$$e.k"}}
        words = (
            f"How many {slots.noun} have both keys {quoted(keys[0])} and {quoted(keys[1])} in {f.path.dotted}? "
            f"Return the "
            "number as count.",
            f"Number of {slots.noun} with {quoted(keys[0])} as well as {quoted(keys[1])} in {f.path.dotted}?",
        )
        yield draft("both_keys", slots, words, [
            {"$match": {"$expr": {"$setIsSubset": [keys, names]}}}, {"$count": "count"},
        ], MAP, ["dynamic_keys", "value_witnesses"])  # fmt: skip


def mean_by_key(slots: Slots) -> Iterator[Draft]:
    """Average a number that a map's entries hold, per key."""
    for f in slots.maps:
        for leaf in slots.entry_leaves(f, NUMBERS):
            inner = "" if leaf.path.last is ENTRIES else f".{leaf.path.name}"
            called = human(leaf.path) if inner else f"value in {f.path.dotted}"
            words = (
                f"For each key of {f.path.dotted} that at least three {slots.noun} have with a number, what is "
                f"the average "
                f"{called}? Return key and average for the ten keys with the highest average, highest first, "
                f"equal ones by key.",
                f"Ten keys of {f.path.dotted} with the highest average {called}, of those in three or more "
                f"{slots.noun}; "
                "ties by key.",
            )
            yield draft("mean_by_key", slots, words, [
                *_entries(f),
                {"$match": {f"entry.v{inner}": {"$type": "number"}}},
                {"$group": {"_id": "$entry.k", "average": {"$avg": f"$entry.v{inner}"}, "seen": {"$sum": 1}}},
                {"$match": {"seen": {"$gte": 3}}},
                {"$sort": {"average": -1, "_id": 1}},
                {"$limit": 10},
                out(key="$_id", average=1),
            ], MAP, ["dynamic_keys", "embedded_records"])  # fmt: skip


def entries_with_text(slots: Slots) -> Iterator[Draft]:
    """Count a map's entries by a text that they hold."""
    for f in slots.maps:
        for leaf in slots.entry_leaves(f, _TEXT):
            if leaf.path.last is ENTRIES or not leaf.complete or not 2 <= leaf.distinct <= 30:
                continue
            as_ = column(leaf.path)
            words = (
                f"Over all {slots.noun}, how many entries of {f.path.dotted} have each {human(leaf.path)}? Leave "
                f"out entries "
                f"without one. Return {as_} and count, highest count first, equal counts by {as_}.",
                f"Count entries of {f.path.dotted} by {human(leaf.path)}, most first, ties by {as_}.",
            )
            yield draft("entries_with_text", slots, words, [
                *_entries(f),
                {"$match": {f"entry.v.{leaf.path.name}": {"$type": "string"}}},
                {"$group": {"_id": f"$entry.v.{leaf.path.name}", "count": {"$sum": 1}}},
                {"$sort": {"count": -1, "_id": 1}},
                out(**{as_: "$_id", "count": 1}),
            ], MAP, ["dynamic_keys", "embedded_records"])  # fmt: skip


def item_counts(slots: Slots) -> Iterator[Draft]:
    """Count in how many documents each item of a list occurs."""
    for f in slots.lists:
        words = (
            f"Which eight items of {f.path.dotted} occur in the most {slots.noun}? Count a document once per "
            f"item. Return "
            "item and count, highest count first, equal counts by item.",
            f"The eight commonest items of {f.path.dotted} by number of {slots.noun}, ties by item.",
        )
        yield draft("item_counts", slots, words, [
            out(item={"$setUnion": [_as_list(f), []]}),
            {"$unwind": "$item"},
            {"$group": {"_id": "$item", "count": {"$sum": 1}}},
            {"$sort": {"count": -1, "_id": 1}},
            {"$limit": 8},
            out(item="$_id", count=1),
        ], EVENTS, ["nested_arrays"])  # fmt: skip


def longest_lists(slots: Slots) -> Iterator[Draft]:
    """List the documents with the longest lists."""
    label, as_label, by = shown(slots)
    for f in slots.lists:
        words = (
            f"Which five {slots.noun} have the most items in {f.path.dotted}? Return {as_label} and items, most "
            f"first, equal "
            f"numbers by {as_label}.",
            f"Five {slots.noun} with the longest {f.path.dotted}: {label} and number of items, ties by {as_label}.",
        )
        yield draft("longest_lists", slots, words, [
            out(**{as_label: f"${by}", "items": {"$size": _as_list(f)}}),
            {"$sort": {"items": -1, as_label: 1}},
            {"$limit": 5},
        ], EVENTS, ["nested_arrays"])  # fmt: skip


def shared_items(slots: Slots) -> Iterator[Draft]:
    """Count the documents whose list holds two items at once."""
    for f in slots.lists:
        items = slots.container.get(f.path / ITEMS)
        known = texts_of(items)[:2] if items else []
        if len(known) < 2:
            continue
        held = {"$size": {"$setIntersection": [_as_list(f), known]}}
        words = (
            f"How many {slots.noun} have both {quoted(known[0])} and {quoted(known[1])} in {f.path.dotted}, and "
            f"how many "
            "have just one of the two? Return the numbers as both and one.",
            f"{slots.noun.capitalize()} with {quoted(known[0])} and {quoted(known[1])} in {f.path.dotted}: both, "
            f"and only one?",
        )
        yield draft("shared_items", slots, words, [
            out(held=held),
            {"$group": {"_id": None, "both": {"$sum": {"$cond": [{"$eq": ["$held", 2]}, 1, 0]}},
                        "one": {"$sum": {"$cond": [{"$eq": ["$held", 1]}, 1, 0]}}}},
            out(both=1, one=1),
        ], EVENTS, ["nested_arrays", "value_witnesses"])  # fmt: skip


def records_in_lists(slots: Slots) -> Iterator[Draft]:
    """Count the records within lists by a text of theirs."""
    for f, leaf in slots.item_leaves():
        as_ = column(leaf.path)
        words = (
            f"Over all {slots.noun}, how many records in {f.path.dotted} have each {human(leaf.path)}? Leave out "
            f"records "
            f"without one. Return {as_} and count for the ten most frequent, highest count first, equal counts "
            f"by {as_}.",
            f"Ten most frequent {human(leaf.path)} among the records in {f.path.dotted} of {slots.noun}, ties by "
            f"{as_}.",
        )
        yield draft("records_in_lists", slots, words, [
            {"$unwind": f"${f.path.dotted}"},
            {"$match": {f"{f.path.dotted}.{leaf.path.name}": {"$type": "string"}}},
            {"$group": {"_id": f"${f.path.dotted}.{leaf.path.name}", "count": {"$sum": 1}}},
            {"$sort": {"count": -1, "_id": 1}},
            {"$limit": 10},
            out(**{as_: "$_id", "count": 1}),
        ], EVENTS, ["nested_arrays", "embedded_records"])  # fmt: skip


def _keys(field: Field) -> list[str]:
    examples = field.keys.examples if field.keys else ()
    return [key for key in examples if key.isprintable() and 0 < len(key) <= 40 and "$" not in key]
