"""The folded names of containers and fields: a term that is one of them is not (only) a value."""

from __future__ import annotations

from groundql.core.catalog import Catalog
from groundql.grounding.words import fold, split_words, stem, stem_text


def catalog_names(catalog: Catalog) -> frozenset[str]:
    """Return the names of a catalog in every form under which a question may speak of them."""
    names = {c.name for c in catalog.containers} | {f.path.name for _, f in catalog.fields()}
    return frozenset(form for name in names for form in name_forms(name))


def name_words(catalog: Catalog) -> frozenset[str]:
    """Return the single words that the names of a catalog are made of, plural endings folded."""
    names = {c.name for c in catalog.containers} | {f.path.name for _, f in catalog.fields()}
    return frozenset(stem(word) for name in names for word in split_words(name))


def name_forms(name: str) -> tuple[str, str]:
    """Return a name as words ("heroName" is "hero name") and as written, plural endings folded."""
    return stem_text(" ".join(split_words(name))), stem_text(fold(name))


def as_name(text: str) -> str:
    """Return the form in which a term is to be compared with `catalog_names`."""
    return stem_text(fold(text))
