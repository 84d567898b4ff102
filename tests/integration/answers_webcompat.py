"""Answers to the later tasks of the world webcompat, in plain Python over its documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from integration.world_answers import Answers, Document, Documents, as_list, by_id, count, order

ANSWERS = Answers()
answers = ANSWERS.to


def features(world: Documents, area: str) -> list[Document]:
    return [feature for feature in world["features"] if feature["area"] == area]


def statements(feature: Document, browser: str) -> list[Document]:
    return as_list(feature["support"].get(browser, []))


def shape(value: Any) -> str:
    return "none" if value is None else "several" if isinstance(value, list) else "one"


def tagged(world: Documents) -> list[tuple[str, Document]]:
    return [(tag, feature) for feature in world["features"] for tag in feature.get("tags", [])]


# --- shapes that vary ---------------------------------------------------------------------------


@answers(10016)
def _(world: Documents) -> list[Document]:
    found = Counter((f["area"], shape(f.get("spec_url"))) for f in world["features"])
    return [
        {"area": area, "none": found[area, "none"], "one": found[area, "one"], "several": found[area, "several"]}
        for area in sorted({area for area, _ in found})
    ]


@answers(10017)
def _(world: Documents) -> list[Document]:
    kinds: Counter[tuple[str, str]] = Counter()
    for f in features(world, "html"):
        for browser in f["support"]:
            kinds.update((browser, shape(s["notes"])) for s in statements(f, browser) if "notes" in s)
    browsers = sorted({browser for browser, _ in kinds})
    return [{"browser": b, "one": kinds[b, "one"], "several": kinds[b, "several"]} for b in browsers]


@answers(10018)
def _(world: Documents) -> list[Document]:
    rows = [
        {"feature": f["_id"], "browser": browser, "statements": len(statements(f, browser))}
        for f in features(world, "css")
        for browser in f["support"]
        if len(statements(f, browser)) >= 4
    ]
    return order(rows, "-statements", "feature", "browser")


@answers(10019)
def _(world: Documents) -> list[Document]:
    def kind(version: Any) -> str:
        if version is False:
            return "unsupported"
        return "preview" if version == "preview" else "at most" if version[0] == "≤" else "exact"

    firsts = (statements(f, "safari")[0]["version_added"] for f in features(world, "javascript"))
    return count(map(kind, firsts), "kind", "features")


@answers(10020)
def _(world: Documents) -> list[Document]:
    totals = Counter(f["area"] for f in world["features"])
    removed = (f["area"] for f in world["features"] if any("version_removed" in s for s in statements(f, "chrome")))
    return [row | {"features": totals[row["area"]]} for row in count(removed, "area", "removed")]


@answers(10021)
def _(world: Documents) -> list[Document]:
    found = (
        browser
        for f in features(world, "html")
        for browser in f["support"]
        if statements(f, browser)[0].get("partial_implementation")
    )
    return count(found, "browser", "features")


@answers(10033)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for f in features(world, "javascript"):
        names = {s["alternative_name"] for s in statements(f, "firefox") if "alternative_name" in s}
        rows += [{"feature": f["_id"], "names": sorted(names)}] if names else []
    return order(rows, "feature")


# --- present or missing -------------------------------------------------------------------------


@answers(10022)
def _(world: Documents) -> list[Document]:
    found = (
        f["area"]
        for f in world["features"]
        if "status" in f and not f["status"]["deprecated"] and not {"mdn_url", "spec_url", "tags"} & f.keys()
    )
    return count(found, "area", "features")


@answers(10023)
def _(world: Documents) -> list[Document]:
    keys = ("deprecated", "experimental", "standard_track")
    found = Counter(tuple(f["status"][key] for key in keys) for f in world["features"] if "status" in f)
    return order(({**dict(zip(keys, flags, strict=True)), "features": n} for flags, n in found.items()), "-features")


@answers(10024)
def _(world: Documents) -> list[Document]:
    keys = ("pref_url", "preview_name", "upstream")
    return order(({"browser": b["name"], **{key: key in b for key in keys}} for b in world["browsers"]), "browser")


@answers(10028)
def _(world: Documents) -> list[Document]:
    rows = [
        {"browser": b["name"], "version": version, "status": r["status"], "engine_version": r["engine_version"]}
        for b in world["browsers"]
        for version, r in b["releases"].items()
        if r["release_date"] is None
    ]
    return order(rows, "browser", "version")


@answers(10032)
def _(world: Documents) -> list[Document]:
    pairs = (tuple(sorted(f["tags"])) for f in world["features"] if len(f.get("tags", [])) == 2)
    return [row | {"tags": list(row["tags"])} for row in count(pairs, "tags", "features", least=15)]


@answers(10034)
def _(world: Documents) -> list[Document]:
    browsers = by_id(world["browsers"])
    rows: list[Document] = []
    for b in world["browsers"]:
        steps, origin = 0, b
        while "upstream" in origin:
            steps, origin = steps + 1, browsers[origin["upstream"]]
        rows += [{"browser": b["name"], "steps": steps, "origin": origin["name"]}] if steps else []
    return order(rows, "-steps", "browser")


# --- events -------------------------------------------------------------------------------------


@answers(10025)
def _(world: Documents) -> list[Document]:
    releases = by_id(world["browsers"])["safari"]["releases"]
    dated = sorted((r["release_date"], r["position"], version) for version, r in releases.items() if r["release_date"])
    rows = [
        {"version": version, "release_date": date, "days": (date - before).days}
        for (before, _, _), (date, _, version) in pairwise(dated)
    ]
    ranked = sorted(rows, key=lambda row: -row["days"])
    assert len({row["days"] for row in ranked[:4]}) == 4
    return ranked[:3]


def released(world: Documents) -> list[tuple[str, str]]:
    """Month and browser of every dated release, from the releases themselves and not from the calendar."""
    return [
        (f"{r['release_date']:%Y-%m}", b["_id"])
        for b in world["browsers"]
        for r in b["releases"].values()
        if r["release_date"]
    ]


@answers(10026)
def _(world: Documents) -> list[Document]:
    months: dict[str, list[str]] = defaultdict(list)
    for month, browser in released(world):
        months[month].append(browser)
    rows = [
        {"month": month, "browsers": len(set(found)), "versions": len(found)}
        for month, found in months.items()
        if len(found) >= 19
    ]
    return order(rows, "-versions", "month")


@answers(10027)
def _(world: Documents) -> list[Document]:
    years: dict[str, set[int]] = defaultdict(set)
    for month, browser in released(world):
        years[browser].add(int(month[:4]))
    rows = [
        {"browser": browser, "first_year": min(found), "last_year": max(found), "years": len(found)}
        for browser, found in years.items()
    ]
    return order(rows, "first_year", "browser")


# --- keys that are data: from the tagged features, not from the groups ---------------------------


@answers(10029)
def _(world: Documents) -> list[Document]:
    totals: Counter[str] = Counter()
    chrome: Counter[str] = Counter()
    safari: Counter[str] = Counter()
    for tag, f in tagged(world):
        totals[tag] += 1
        chrome[tag] += statements(f, "chrome")[0]["version_added"] is not False
        safari[tag] += statements(f, "safari")[0]["version_added"] is not False
    rows = [
        {"slug": tag.split(":", 1)[1], "features": n}
        for tag, n in totals.items()
        if n >= 25 and chrome[tag] == n and not safari[tag]
    ]
    return order(rows, "-features", "slug")


@answers(10030)
def _(world: Documents) -> list[Document]:
    listed: Counter[str] = Counter()
    unsupported: Counter[str] = Counter()
    for _, f in tagged(world):
        for browser in f["support"]:
            listed[browser] += 1
            unsupported[browser] += statements(f, browser)[0]["version_added"] is False
    rows = [{"browser": b, "unsupported": unsupported[b], "listed": n} for b, n in listed.items()]
    return order(rows, "-unsupported", "browser")


@answers(10031)
def _(world: Documents) -> list[Document]:
    areas: dict[str, set[str]] = defaultdict(set)
    sums: Counter[str] = Counter()
    for tag, f in tagged(world):
        areas[tag].add(f["area"])
        sums[f["area"]] += 1
    groups = Counter(area for found in areas.values() for area in found)
    alone = Counter(area for found in areas.values() if len(found) == 1 for area in found)
    rows = [{"area": a, "groups": groups[a], "alone": alone[a], "features": n} for a, n in sums.items()]
    return order(rows, "-features", "area")
