"""All templates, and the drafts that they give in turn.

Every question names its output columns, its order, and what decides between rows of equal rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, zip_longest
from typing import Final, TypeAlias

from groundql.bench.construct.drafting import nested, plain
from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.slots import Slots
from groundql.core.catalog import Catalog

Template: TypeAlias = Callable[[Slots], Iterator[Draft]]
_MOST_PER_TEMPLATE: Final = 12
"""Drafts that one template gives for one container, so that no skeleton crowds the others out."""


def draft_all(catalog: Catalog) -> Iterator[Draft]:
    """Yield drafts for every container, one template after another in turn, so that any number of them is varied."""
    streams = [
        islice(template(Slots(container)), _MOST_PER_TEMPLATE)
        for template in TEMPLATES
        for container in catalog.containers
        if container.is_known and any(f.path.name == "_id" for f in container.fields)
    ]
    for round_ in zip_longest(*streams):
        yield from (draft for draft in round_ if draft is not None)


TEMPLATES: Final[tuple[Template, ...]] = (
    plain.count_by_category,
    nested.key_counts,
    plain.present_and_missing,
    nested.item_counts,
    plain.extreme_documents,
    plain.variant_fields,
    nested.mean_by_key,
    plain.missing_by_category,
    plain.mean_by_category,
    plain.kinds_of_value,
    nested.largest_maps,
    nested.records_in_lists,
    plain.count_value,
    nested.has_key,
    plain.date_range,
    plain.bands,
    nested.shared_items,
    nested.entries_with_text,
    plain.span_by_category,
    nested.both_keys,
    nested.longest_lists,
    plain.count_by_year,
    plain.best_of_each,
)
