"""Build the world ``brands`` from the npm package name-suggestion-index (BSD-3-Clause, Wikidata facts CC0-1.0).

npm pack name-suggestion-index@8.0.20260918 && tar xzf name-suggestion-index-8.0.20260918.tgz
python worlds/build_brands.py package src/groundql/bench/worlds/data/brands
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from world_file import Document, drop_missing, read_json, to_date, write_world

# The whole index has 50,000 entries; these keep each kind of entry and the most familiar shops.
CATEGORIES = (
    "transit/route/",
    "flags/",
    "operators/power/plant",
    "operators/amenity/library",
    "operators/amenity/university",
    "brands/tourism/hotel",
    "brands/amenity/bank",
    "brands/amenity/cafe",
    "brands/amenity/car_rental",
    "brands/amenity/cinema",
    "brands/amenity/fast_food",
    "brands/amenity/fuel",
    "brands/amenity/pharmacy",
    "brands/amenity/restaurant",
    "brands/shop/bakery",
    "brands/shop/clothes",
    "brands/shop/convenience",
    "brands/shop/supermarket",
)


def build_entries(index: Mapping[str, Any]) -> list[Document]:
    """Give one document per name, category after category as in the source."""
    return [build_entry(path, item) for path, category in select(index) for item in category["items"]]


def select(index: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the categories that the world keeps."""
    for path, category in index.items():
        if path.startswith(CATEGORIES):
            yield path, category


def build_entry(path: str, item: Mapping[str, Any]) -> Document:
    """Turn one name; the tags stay a map with the mappers' own keys."""
    return drop_missing(
        {
            "_id": item["id"],
            "tree": path.split("/")[0],
            "category": path,
            "name": item["displayName"],
            "tags": item["tags"],
            "location": item["locationSet"],
            "match_names": item.get("matchNames", ...),
            "note": item.get("note", ...),
            "issues": item.get("issues", ...),
        }
    )


def build_categories(index: Mapping[str, Any]) -> list[Document]:
    """Give one document per category, with how often its entries use each tag."""
    return [build_category(path, category) for path, category in select(index)]


def build_category(path: str, category: Mapping[str, Any]) -> Document:
    """Turn one category."""
    properties = category["properties"]
    _, key, value = path.split("/")
    uses = Counter(tag for item in category["items"] for tag in item["tags"])
    return drop_missing(
        {
            "_id": path,
            "tag": {key: value},
            "entry_count": len(category["items"]),
            "uses_by_tag": dict(sorted(uses.items())),
            "exclude": properties["exclude"],
            "preserve_tags": properties.get("preserveTags", ...),
            "skip_collection": properties.get("skipCollection", ...),
        }
    )


def build_organisations(entries: list[Document], facts: Mapping[str, Any]) -> list[Document]:
    """Give one document per Wikidata item that a kept entry names."""
    named = {value for entry in entries for tag, value in entry["tags"].items() if tag.endswith(":wikidata")}
    return [build_organisation(item, facts[item]) for item in facts if item in named]


def build_organisation(item: str, fact: Mapping[str, Any]) -> Document:
    """Turn one Wikidata item; its accounts are a map keyed by network."""
    return drop_missing(
        {
            "_id": item,
            "label": fact.get("label"),
            "description": fact.get("description", ...),
            "identities": fact.get("identities", ...),
            "websites": fact.get("officialWebsites", ...),
            "dissolutions": [build_end(end) for end in fact["dissolutions"]] if "dissolutions" in fact else ...,
        }
    )


def build_end(end: Mapping[str, Any]) -> Document:
    """Turn one dissolution: when, and optionally what came after."""
    return drop_missing({"date": to_date(end["date"].replace(".000Z", "Z")), "successor": end.get("upgrade", ...)})


def main(package: Path, target: Path) -> None:
    """Read the unpacked package and write the world."""
    index = read_json(package / "dist" / "json" / "nsi.json")
    facts = read_json(package / "dist" / "wikidata" / "wikidata.json")
    entries = build_entries(index["nsi"])
    collections = {
        "entries": entries,
        "categories": build_categories(index["nsi"]),
        "organisations": build_organisations(entries, facts["wikidata"]),
    }
    size = write_world(collections, target)
    counts = {name: len(documents) for name, documents in collections.items()}
    print(f"brands {index['_meta']['version']}: {size} bytes, {counts}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
