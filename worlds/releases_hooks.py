"""What the specification of the world ``releases`` cannot say: lines of events, builds by target, changes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from groundql.bench.construct.sources import Sources
from groundql.bench.construct.values import to_date

Document = dict[str, Any]

COMPONENTS = ("apm", "chrome", "modules", "node", "openssl", "uv", "v8", "zlib")
REACTIONS = ("total_count", "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
BUILD = re.compile(
    r"(?P<product>atom-shell|chromedriver|electron|ffmpeg|mksnapshot)-v(?P<version>.+?)"
    r"-(?P<target>(?:darwin|linux|mas|win32)(?:-(?:arm64|armv7l|arm|ia32|mips64el|x64))?)"
    r"(?:-(?P<host>x64))?\.zip"
)


def drop_missing(document: Mapping[str, Any]) -> Document:
    """Leave out the fields whose value is the marker ``...`` (the source says nothing)."""
    return {key: value for key, value in document.items() if value is not ...}


def read_releases(sources: Sources) -> list[Mapping[str, Any]]:
    """Read the releases, oldest first."""
    return sorted(sources.rows("releases"), key=lambda entry: (entry["published_at"], entry["version"]))


def find_line(entry: Mapping[str, Any]) -> int:
    """Give the release line of a release: its major version."""
    return int(entry["version"].partition(".")[0])


def find_stage(entry: Mapping[str, Any]) -> Document:
    """Take the pre-release part of a version apart: numbered, dated, or none for a stable release."""
    _, _, mark = entry["version"].partition("-")
    name, _, number = mark.partition(".")
    if not name:
        return {"name": "stable"}
    if len(number) == 8:
        return {"name": name, "day": to_date(f"{number[:4]}-{number[4:6]}-{number[6:]}")}
    return {"name": name, "number": int(number)}


def find_components(entry: Mapping[str, Any]) -> Document | Any:
    """Keep the versions of the components that a release is made of; old releases do not tell them."""
    deps = entry.get("deps")
    # Some versions of OpenSSL end in a line break.
    return {name: deps[name].strip() for name in COMPONENTS if name in deps} if deps else ...


def release_lines(sources: Sources) -> list[Document]:
    """Give one document per release line with its releases as events in order of time."""
    lines: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in read_releases(sources):
        lines[find_line(entry)].append(entry)
    return [
        drop_missing(
            {
                "_id": number,
                "npm_tags": {tag: entry["version"] for entry in found for tag in entry["npm_dist_tags"]} or ...,
                "events": [build_event(entry) for entry in found],
            }
        )
        for number, found in sorted(lines.items())
    ]


def build_event(entry: Mapping[str, Any]) -> Document:
    """Turn one release into an event of its line."""
    reactions = entry.get("reactions")
    return drop_missing(
        {
            "version": entry["version"],
            "published_at": to_date(entry["published_at"]),
            "stage": find_stage(entry),
            "prerelease": entry["prerelease"],
            "publisher": entry["author"]["login"],
            "package": entry.get("npm_package_name", ...),
            "total_downloads": entry["total_downloads"],
            "deps": find_components(entry),
            "reactions": {kind: reactions[kind] for kind in REACTIONS} if reactions else ...,
        }
    )


def line(release: Mapping[str, Any], sources: Sources) -> int:
    """Give the release line of a release."""
    return find_line(release)


def builds(release: Mapping[str, Any], sources: Sources) -> Document | Any:
    """Map each target to the products built for it; symbols and debugging files are left out.

    Shape: a snapshot tool that runs on another architecture than its target's has a `host`.
    """
    found: Document = {}
    for asset in release["assets"]:
        if match := BUILD.fullmatch(asset["name"]):
            host = {"host": match["host"]} if match["host"] else {}
            found.setdefault(match["target"], {})[match["product"]] = build_asset(asset) | host
    return found or ...


def files(release: Mapping[str, Any], sources: Sources) -> Document | Any:
    """Map the names of the files that are the same in every release to them."""
    named = (asset for asset in release["assets"] if not re.search(r"-v\d", asset["name"]))
    return {asset["name"]: build_asset(asset) for asset in named} or ...


def build_asset(asset: Mapping[str, Any]) -> Document:
    """Keep a file's size and how often it was downloaded."""
    return {"size_bytes": asset["size"], "downloads": asset["download_count"]}


def components(sources: Sources) -> list[Document]:
    """Give one document per component with its changes of version along each release line."""
    found = [entry for entry in read_releases(sources) if "deps" in entry]
    return [{"_id": name, "changes_by_line": find_changes(name, found)} for name in COMPONENTS]


def find_changes(name: str, entries: Iterable[Mapping[str, Any]]) -> Document:
    """Map each line to the releases in which a component's version is another than in the release before."""
    changes: dict[str, list[Document]] = {}
    for entry in entries:
        version = find_components(entry).get(name)
        known = changes.setdefault(str(find_line(entry)), []) if version else []
        if version and (not known or known[-1]["to"] != version):
            known.append(build_change(entry, version, known[-1]["to"] if known else ...))
    return dict(sorted(changes.items(), key=lambda item: int(item[0])))


def build_change(entry: Mapping[str, Any], version: str, before: Any) -> Document:
    """Tell where a component came to a version, and from which unless it is the line's first."""
    return drop_missing(
        {"release": entry["version"], "published_at": to_date(entry["published_at"]), "from": before, "to": version}
    )


def publishers(sources: Sources) -> list[Document]:
    """Give one document per account that published, with its versions by year and stage."""
    accounts: dict[str, Document] = {}
    for entry in read_releases(sources):
        author = entry["author"]
        empty: Document = {"_id": author["login"], "type": author["type"], "github_id": author["id"]}
        years = accounts.setdefault(author["login"], empty | {"versions_by_year": {}})["versions_by_year"]
        stages = years.setdefault(entry["published_at"][:4], {})
        stages.setdefault(find_stage(entry)["name"], []).append(entry["version"])
    return list(accounts.values())
