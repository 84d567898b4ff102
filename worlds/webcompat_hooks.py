"""What the specification of the world ``webcompat`` cannot say: a tree that is walked, and counts over its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from groundql.bench.construct.sources import Sources

Document = dict[str, Any]
NOT_AREAS = {"__meta", "browsers"}


def drop_missing(document: Mapping[str, Any]) -> Document:
    """Leave out the fields whose value is the marker ``...`` (the source says nothing)."""
    return {key: value for key, value in document.items() if value is not ...}


def walk_features(
    node: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield each feature of the compatibility tree with its path, parents first."""
    if "__compat" in node:
        yield path, node["__compat"]
    for name, child in node.items():
        if name != "__compat":
            yield from walk_features(child, (*path, name))


def features(sources: Sources) -> list[Document]:
    """Give one document per feature, area after area as in the source: a tree is walked, parents first."""
    documents: list[Document] = []
    known: set[str] = set()
    for row in sources.rows("trees"):
        area, tree = row["key"], row["value"]
        if area in NOT_AREAS:
            continue
        for path, compat in walk_features(tree, (area,)):
            document = build_feature(path, compat, known)
            known.add(document["_id"])
            documents.append(document)
    return documents


def build_feature(path: tuple[str, ...], compat: Mapping[str, Any], known: set[str]) -> Document:
    """Turn one feature; its parent is the nearest ancestor that is a feature, or null."""
    ancestors = [".".join(path[:end]) for end in range(len(path) - 1, 0, -1)]
    return drop_missing(
        {
            "_id": ".".join(path),
            "area": path[0],
            "name": path[-1],
            "parent": next((ancestor for ancestor in ancestors if ancestor in known), None),
            "description": compat.get("description", ...),
            "mdn_url": compat.get("mdn_url", ...),
            "spec_url": compat.get("spec_url", ...),
            "source_file": compat["source_file"],
            "tags": compat.get("tags", ...),
            "status": compat.get("status", ...),
            "support": compat["support"],
        }
    )


def feature_groups(sources: Sources) -> list[Document]:
    """Count features per tag: by area, and by browser and first version."""
    members: dict[str, list[Document]] = {}
    for feature in features(sources):
        for tag in feature.get("tags", []):
            members.setdefault(tag, []).append(feature)
    return [build_group(tag, members[tag]) for tag in sorted(members)]


def build_group(tag: str, tagged: list[Document]) -> Document:
    """Turn one tag into a document with one map keyed by area and one by browser and version."""
    areas = Counter(feature["area"] for feature in tagged)
    versions: dict[str, Counter[str]] = {}
    for feature in tagged:
        for browser, support in feature["support"].items():
            first = support[0] if isinstance(support, list) else support
            added = first["version_added"]
            label = added if isinstance(added, str) else "unsupported"
            versions.setdefault(browser, Counter())[label] += 1
    return {
        "_id": tag,
        "slug": tag.partition(":")[2],
        "feature_count": len(tagged),
        "features_by_area": dict(sorted(areas.items())),
        "versions_by_browser": {browser: dict(sorted(versions[browser].items())) for browser in sorted(versions)},
    }


def release_calendar(sources: Sources) -> list[Document]:
    """Give one document per year: months, then browsers, then the versions released."""
    years: dict[int, dict[str, dict[str, list[str]]]] = {}
    for row in sources.rows("browsers"):
        key, browser = row["key"], row["value"]
        for version, release in sorted(browser["releases"].items(), key=lambda item: item[1]["index"]):
            day = release.get("release_date")
            if day:
                months = years.setdefault(int(day[:4]), {})
                months.setdefault(day[:7], {}).setdefault(key, []).append(version)
    return [
        {
            "_id": year,
            "release_count": sum(len(found) for month in months.values() for found in month.values()),
            "releases_by_month": {
                month: {key: months[month][key] for key in sorted(months[month])} for month in sorted(months)
            },
        }
        for year, months in sorted(years.items())
    ]
