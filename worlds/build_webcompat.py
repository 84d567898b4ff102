"""Build the world ``webcompat`` from the npm package @mdn/browser-compat-data (CC0-1.0).

npm pack @mdn/browser-compat-data@8.1.9 && tar xzf mdn-browser-compat-data-8.1.9.tgz
python worlds/build_webcompat.py package src/groundql/bench/worlds/data/webcompat
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from world_file import Document, drop_missing, read_json, to_date, write_world

NOT_AREAS = {"__meta", "browsers"}


def build_browsers(browsers: Mapping[str, Any]) -> list[Document]:
    """Give one document per browser, its releases as a map keyed by version."""
    documents: list[Document] = []
    for key, browser in browsers.items():
        document: Document = {"_id": key, "name": browser["name"], "type": browser["type"]}
        document |= {
            name: browser[name]
            for name in ("upstream", "preview_name", "pref_url", "accepts_flags", "accepts_webextensions")
            if name in browser
        }
        document["releases"] = {version: build_release(release) for version, release in browser["releases"].items()}
        documents.append(document)
    return documents


def build_release(release: Mapping[str, Any]) -> Document:
    """Turn one release; a release without a day yet keeps a null date."""
    day = release.get("release_date")
    return drop_missing(
        {
            "status": release["status"],
            "release_date": to_date(day) if day else None,
            "engine": release.get("engine", ...),
            "engine_version": release.get("engine_version", ...),
            "position": release["index"],
            "notes_url": release.get("release_notes", ...),
        }
    )


def walk_features(
    node: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield each feature of the compatibility tree with its path, parents first."""
    if "__compat" in node:
        yield path, node["__compat"]
    for name, child in node.items():
        if name != "__compat":
            yield from walk_features(child, (*path, name))


def build_features(source: Mapping[str, Any]) -> list[Document]:
    """Give one document per feature, area after area as in the source."""
    documents: list[Document] = []
    known: set[str] = set()
    for area, tree in source.items():
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


def build_groups(features: list[Document]) -> list[Document]:
    """Count features per tag: by area, and by browser and first version."""
    members: dict[str, list[Document]] = {}
    for feature in features:
        for tag in feature.get("tags", []):
            members.setdefault(tag, []).append(feature)
    return [build_group(tag, members[tag]) for tag in sorted(members)]


def build_group(tag: str, features: list[Document]) -> Document:
    """Turn one tag into a document with one map keyed by area and one by browser and version."""
    areas = Counter(feature["area"] for feature in features)
    versions: dict[str, Counter[str]] = {}
    for feature in features:
        for browser, support in feature["support"].items():
            first = support[0] if isinstance(support, list) else support
            added = first["version_added"]
            label = added if isinstance(added, str) else "unsupported"
            versions.setdefault(browser, Counter())[label] += 1
    return {
        "_id": tag,
        "slug": tag.partition(":")[2],
        "feature_count": len(features),
        "features_by_area": dict(sorted(areas.items())),
        "versions_by_browser": {browser: dict(sorted(versions[browser].items())) for browser in sorted(versions)},
    }


def build_calendar(browsers: Mapping[str, Any]) -> list[Document]:
    """Give one document per year: months, then browsers, then the versions released."""
    years: dict[int, dict[str, dict[str, list[str]]]] = {}
    for key, browser in browsers.items():
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


def main(package: Path, target: Path) -> None:
    """Read the unpacked package and write the world."""
    source = read_json(package / "data.json")
    features = build_features(source)
    size = write_world(
        {
            "features": features,
            "browsers": build_browsers(source["browsers"]),
            "feature_groups": build_groups(features),
            "release_calendar": build_calendar(source["browsers"]),
        },
        target,
    )
    print(f"webcompat {source['__meta']['version']}: {size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
