"""What the specification of the world ``brands`` cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from groundql.bench.construct.sources import Sources
from groundql.bench.construct.values import to_date

Row = Mapping[str, Any]


def own_tag(category: Row, _sources: Sources) -> dict[str, str]:
    """Take the tag that a category stands for out of its name."""
    _, key, value = category["key"].split("/")
    return {key: value}


def uses_by_tag(category: Row, _sources: Sources) -> dict[str, int]:
    """Count how often a category's entries use each tag."""
    return dict(sorted(Counter(tag for item in category["value"]["items"] for tag in item["tags"]).items()))


def organisations(sources: Sources) -> Iterator[dict[str, Any]]:
    """Give one document per Wikidata item that a kept entry names."""
    kept = tuple(sources.spec.collections["entries"].where["/parent/key"]["starts"])
    entries = (row for row in sources.rows("entries") if row["parent"]["key"].startswith(kept))
    named = {value for row in entries for tag, value in row["tags"].items() if tag.endswith(":wikidata")}
    for row in sources.rows("facts"):
        if row["key"] in named:
            yield _organisation(row["key"], row["value"])


def _organisation(item: str, fact: Row) -> dict[str, Any]:
    """Turn one Wikidata item; its accounts are a map keyed by network."""
    renamed = {"description": "description", "identities": "identities", "officialWebsites": "websites"}
    document = {
        "_id": item,
        "label": fact.get("label"),
        **{new: fact[old] for old, new in renamed.items() if old in fact},
    }
    if "dissolutions" in fact:
        document["dissolutions"] = [_end(end) for end in fact["dissolutions"]]
    return document


def _end(end: Row) -> dict[str, Any]:
    """Turn one dissolution: when, and optionally what came after."""
    return {"date": to_date(end["date"]), **({"successor": end["upgrade"]} if "upgrade" in end else {})}
