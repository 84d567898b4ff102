"""Templates over plain fields: counts, extremes, means, bands, presence, kinds, dates; each draws from fields that fit.

Every question names its output columns, its order, and what decides between rows of equal rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.slots import Slots, column, human, quoted, texts_of, with_article

Stages: TypeAlias = Sequence[Mapping[str, Any]]
POLYMORPHIC, PRESENCE, BAG = "polymorphic_collection", "missing_vs_present", "attribute_bag"


def draft(
    name: str, slots: Slots, words: tuple[str, str], stages: Stages, flex: str = BAG, exercises: Sequence[str] = ()
) -> Draft:
    """Make one draft; every question of a template states its output, which is an exercise in itself."""
    stressors = tuple(dict.fromkeys(("result_contracts", *exercises)))
    return Draft(name, *words, slots.container.name, stages, flex, stressors)


def shown(slots: Slots) -> tuple[str, str, str]:
    """How the field that tells documents apart is called in words, as a column, and in a program."""
    path = slots.shown.path
    return human(path), column(path), path.dotted


def out(**columns: Any) -> dict[str, Any]:
    """Keep these columns and nothing else."""
    return {"$project": {"_id": 0, **columns}}


def count_by_category(slots: Slots) -> Iterator[Draft]:
    """Count documents per value of a field."""
    for f in slots.categories:
        name, as_ = human(f.path), column(f.path)
        words = (
            f"How many {slots.noun} are there for each {name}? Leave out those without one. Return {as_} and count, "
            f"highest count first, equal counts by {as_}.",
            f"Count the {slots.noun} by {name}, biggest groups first, ties by {as_}; skip those without one.",
        )
        yield draft("count_by_category", slots, words, [
            {"$match": {f.path.dotted: {"$type": "string"}}},
            {"$group": {"_id": f"${f.path.dotted}", "count": {"$sum": 1}}},
            {"$sort": {"count": -1, "_id": 1}},
            out(**{as_: "$_id", "count": 1}),
        ])  # fmt: skip


def count_value(slots: Slots) -> Iterator[Draft]:
    """Count the documents with one value."""
    for f in slots.categories:
        for value in texts_of(f)[:2]:
            name = human(f.path)
            words = (
                f"How many {slots.noun} have the {name} {quoted(value)}? Return the number as count.",
                f"Number of {slots.noun} whose {name} is {quoted(value)}?",
            )
            yield draft("count_value", slots, words, [{"$match": {f.path.dotted: value}}, {"$count": "count"}],
                         exercises=["value_witnesses"])  # fmt: skip


def extreme_documents(slots: Slots) -> Iterator[Draft]:
    """List the documents with the highest, or lowest, numbers."""
    label, as_label, by = shown(slots)
    for f in slots.numbers:
        for size, way, word in ((7, -1, "highest"), (6, 1, "lowest")):
            as_ = column(f.path)
            words = (
                f"Which {size} {slots.noun} have the {word} {human(f.path)}? Return {as_label} and {as_}, {word} "
                f"first, "
                f"equal ones by {as_label}.",
                f"Show the {size} {slots.noun} with the {word} {human(f.path)}, with {label} and {as_}, ties by "
                f"{as_label}.",
            )
            yield draft("extreme_documents", slots, words, [
                {"$match": {f.path.dotted: {"$type": "number"}}},
                {"$sort": {f.path.dotted: way, by: 1}},
                {"$limit": size},
                out(**{as_label: f"${by}", as_: f"${f.path.dotted}"}),
            ])  # fmt: skip


def mean_by_category(slots: Slots) -> Iterator[Draft]:
    """Average a number per value of a field."""
    for c in slots.categories:
        for f in slots.numbers:
            as_, mean = column(c.path), f"average_{column(f.path)}"
            words = (
                f"What is the average {human(f.path)} of the {slots.noun} for each {human(c.path)}? Leave out "
                f"those without "
                f"{human(c.path)} or {human(f.path)}. Return {as_} and {mean}, highest average first, equal ones "
                f"by {as_}.",
                f"Average {human(f.path)} per {human(c.path)} for {slots.noun} that have both, highest first, "
                f"ties by {as_}.",
            )
            yield draft("mean_by_category", slots, words, [
                {"$match": {c.path.dotted: {"$type": "string"}, f.path.dotted: {"$type": "number"}}},
                {"$group": {"_id": f"${c.path.dotted}", mean: {"$avg": f"${f.path.dotted}"}}},
                {"$sort": {mean: -1, "_id": 1}},
                out(**{as_: "$_id", mean: 1}),
            ])  # fmt: skip


def span_by_category(slots: Slots) -> Iterator[Draft]:
    """Give the least and the greatest number per value of a field."""
    for c in slots.categories:
        for f in slots.numbers:
            as_ = column(c.path)
            words = (
                f"For each {human(c.path)} of the {slots.noun}, what are the lowest and the highest "
                f"{human(f.path)}? Leave "
                f"out those without one of the two. Return {as_}, lowest and highest, sorted by {as_}.",
                f"Lowest and highest {human(f.path)} per {human(c.path)} of {slots.noun} that have both, by {as_}.",
            )
            yield draft("span_by_category", slots, words, [
                {"$match": {c.path.dotted: {"$type": "string"}, f.path.dotted: {"$type": "number"}}},
                {"$group": {"_id": f"${c.path.dotted}", "lowest": {"$min": f"${f.path.dotted}"},
                            "highest": {"$max": f"${f.path.dotted}"}}},
                {"$sort": {"_id": 1}},
                out(**{as_: "$_id", "lowest": 1, "highest": 1}),
            ])  # fmt: skip


def best_of_each(slots: Slots) -> Iterator[Draft]:
    """Give the document with the greatest number for each value of a field."""
    _, as_label, by = shown(slots)
    for c in slots.categories:
        for f in slots.numbers:
            as_ = column(c.path)
            words = (
                f"For each {human(c.path)}, which of the {slots.noun} has the highest {human(f.path)}? Leave out those "
                f"without one of the two; of equal ones take the first by {as_label}. Return {as_}, {as_label} and "
                f"{column(f.path)}, sorted by {as_}.",
                f"Top of the {slots.noun} by {human(f.path)} within each {human(c.path)}, sorted by {as_}; ties "
                f"go to the "
                f"first {as_label}.",
            )
            yield draft("best_of_each", slots, words, [
                {"$match": {c.path.dotted: {"$type": "string"}, f.path.dotted: {"$type": "number"}}},
                {"$sort": {f.path.dotted: -1, by: 1}},
                {"$group": {"_id": f"${c.path.dotted}", "best": {"$first": f"${by}"},
                            "number": {"$first": f"${f.path.dotted}"}}},
                {"$sort": {"_id": 1}},
                out(**{as_: "$_id", as_label: "$best", column(f.path): "$number"}),
            ])  # fmt: skip


def bands(slots: Slots) -> Iterator[Draft]:
    """Sort documents into named bands of a number."""
    for f in slots.numbers:
        known = sorted(v for v in f.values if isinstance(v, int | float) and not isinstance(v, bool))
        if len(known) < 4 or known[len(known) // 4] == known[3 * len(known) // 4]:
            continue
        low, high = known[len(known) // 4], known[3 * len(known) // 4]
        path = f.path.dotted
        words = (
            f"Call the {human(f.path)} of the {slots.noun} low when it is below {low}, high when it is at least "
            f"{high}, and "
            f"middle in between. How many {slots.noun} are in each band? Leave out those without a "
            f"{human(f.path)}. Return "
            "band and count, sorted by band.",
            f"Count {slots.noun} by {human(f.path)}: low under {low}, high from {high} up, middle else; sorted "
            f"by band.",
        )
        branches = [{"case": {"$lt": [f"${path}", low]}, "then": "low"},
                    {"case": {"$gte": [f"${path}", high]}, "then": "high"}]  # fmt: skip
        yield draft("bands", slots, words, [
            {"$match": {path: {"$type": "number"}}},
            {"$group": {"_id": {"$switch": {"branches": branches, "default": "middle"}}, "count": {"$sum": 1}}},
            {"$sort": {"_id": 1}},
            out(band="$_id", count=1),
        ])  # fmt: skip


def present_and_missing(slots: Slots) -> Iterator[Draft]:
    """Count documents with and without a field."""
    for f in slots.sparse:
        path = f"${f.path.dotted}"
        words = (
            f"How many {slots.noun} have {with_article(human(f.path))} at all, null included, and how many "
            f"lack the field? "
            f"Return the "
            "two numbers as present and missing.",
            f"{slots.noun.capitalize()} with and without {with_article(human(f.path))} field, as present and missing?",
        )
        there = {"$eq": [{"$type": path}, "missing"]}
        yield draft("present_and_missing", slots, words, [
            {"$group": {"_id": None, "present": {"$sum": {"$cond": [there, 0, 1]}},
                        "missing": {"$sum": {"$cond": [there, 1, 0]}}}},
            out(present=1, missing=1),
        ], PRESENCE, ["optional_sparse_paths"])  # fmt: skip


def missing_by_category(slots: Slots) -> Iterator[Draft]:
    """Count the documents without a field per value of another."""
    for c in slots.categories:
        for f in slots.sparse:
            if f.path == c.path:
                continue
            as_ = column(c.path)
            words = (
                f"For each {human(c.path)}, how many {slots.noun} lack the field {f.path.dotted}? Leave out "
                f"those without "
                f"{with_article(human(c.path))}. Return {as_} and missing, highest number first, equal numbers "
                f"by {as_}.",
                f"Per {human(c.path)}, number of {slots.noun} without {f.path.dotted}, most first, ties by {as_}.",
            )
            yield draft("missing_by_category", slots, words, [
                {"$match": {f.path.dotted: {"$exists": False}, c.path.dotted: {"$type": "string"}}},
                {"$group": {"_id": f"${c.path.dotted}", "missing": {"$sum": 1}}},
                {"$sort": {"missing": -1, "_id": 1}},
                out(**{as_: "$_id", "missing": 1}),
            ], PRESENCE, ["optional_sparse_paths"])  # fmt: skip


def kinds_of_value(slots: Slots) -> Iterator[Draft]:
    """Count documents by whether a field holds a list or one value."""
    for f in slots.mixed:
        path = f"${f.path.dotted}"
        words = (
            f"In how many {slots.noun} is {f.path.dotted} a list, and in how many is it one value that is "
            f"neither a list nor "
            "null? Return the numbers as list and single.",
            f"How often is {f.path.dotted} of the {slots.noun} a list, how often a single value? As list and single.",
        )
        single = {"$in": [{"$type": path}, ["array", "missing", "null"]]}
        yield draft("kinds_of_value", slots, words, [
            {"$group": {"_id": None, "list": {"$sum": {"$cond": [{"$isArray": path}, 1, 0]}},
                        "single": {"$sum": {"$cond": [single, 0, 1]}}}},
            out(list=1, single=1),
        ], POLYMORPHIC, ["polymorphic_shapes"])  # fmt: skip


def variant_fields(slots: Slots) -> Iterator[Draft]:
    """Count, per branch of a polymorphic collection, the documents with a field that only some branches have."""
    for variant in slots.container.variants:
        if variant.base.steps or not variant.path.steps or not isinstance(variant.value, str):
            continue
        for path in variant.only:
            if len(path) != 1:
                continue
            as_ = column(variant.path)
            words = (
                f"How many of the {slots.noun} with {with_article(path.dotted)} are there for each "
                f"{human(variant.path)}? "
                f"Return {as_} "
                f"and count, highest count first, equal counts by {as_}.",
                f"Which {human(variant.path)} of {slots.noun} have {with_article(path.dotted)}, and how many "
                f"each? Most "
                f"first, ties by {as_}.",
            )
            yield draft("variant_fields", slots, words, [
                {"$match": {path.dotted: {"$exists": True}}},
                {"$group": {"_id": f"${variant.path.dotted}", "count": {"$sum": 1}}},
                {"$sort": {"count": -1, "_id": 1}},
                out(**{as_: "$_id", "count": 1}),
            ], POLYMORPHIC, ["polymorphic_shapes"])  # fmt: skip


def date_range(slots: Slots) -> Iterator[Draft]:
    """Count documents between two years."""
    for f in slots.dates:
        if f.dates is None or f.dates.high.year - f.dates.low.year < 3:
            continue
        middle = (f.dates.low.year + f.dates.high.year) // 2
        bounds = {"$gte": {"$dateFromString": {"dateString": f"{middle - 1}-01-01"}},
                  "$lt": {"$dateFromString": {"dateString": f"{middle + 1}-01-01"}}}  # fmt: skip
        path = f"${f.path.dotted}"
        words = (
            f"How many {slots.noun} have {with_article(human(f.path))} in the years {middle - 1} to {middle}, "
            f"both included? "
            f"Return the "
            "number as count.",
            f"Number of {slots.noun} whose {human(f.path)} lies in {middle - 1} or {middle}?",
        )
        tests = [{op: [path, bound]} for op, bound in bounds.items()]
        yield draft("date_range", slots, words, [{"$match": {"$expr": {"$and": tests}}}, {"$count": "count"}])


def count_by_year(slots: Slots) -> Iterator[Draft]:
    """Count documents per year of a date."""
    for f in slots.dates:
        words = (
            f"How many {slots.noun} are there for each year of {human(f.path)}? Leave out those without a date. "
            f"Return year "
            "and count, sorted by year.",
            f"{slots.noun.capitalize()} per year of {human(f.path)}, in order of the years.",
        )
        yield draft("count_by_year", slots, words, [
            {"$match": {f.path.dotted: {"$type": "date"}}},
            {"$group": {"_id": {"$year": f"${f.path.dotted}"}, "count": {"$sum": 1}}},
            {"$sort": {"_id": 1}},
            out(year="$_id", count=1),
        ])  # fmt: skip
