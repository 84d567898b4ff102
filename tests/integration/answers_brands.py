"""Answers to the later tasks of the world brands, in plain Python over its documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate
from typing import Any

from integration.world_answers import Answers, Document, Documents, as_list, count, order

ANSWERS = Answers()
answers = ANSWERS.to


def included(world: Documents) -> list[tuple[Document, Any]]:
    return [(entry, item) for entry in world["entries"] for item in entry["location"].get("include", [])]


def numbers(item: Any) -> int:
    return 0 if isinstance(item, str) else len(as_list(item))


# --- shapes that vary ---------------------------------------------------------------------------


@answers(30015)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "name": entry["name"],
            "category": entry["category"],
            "longitude": item[0],
            "latitude": item[1],
            "radius_km": item[2],
        }
        for entry, item in included(world)
        if numbers(item) == 3 and item[2] >= 100
    ]
    return order(rows, "-radius_km", "name", "category")


@answers(30016)
def _(world: Documents) -> list[Document]:
    kinds = Counter((e["tree"], numbers(item)) for e, item in included(world))
    trees = sorted({tree for tree, _ in kinds})
    return [{"tree": t, "texts": kinds[t, 0], "circles": kinds[t, 3], "points": kinds[t, 2]} for t in trees]


@answers(30017)
def _(world: Documents) -> list[Document]:
    def kind(item: Any) -> str:
        if numbers(item):
            return "coordinates"
        if item.endswith(".geojson"):
            return "file"
        if item.isdecimal():
            return "number"
        return "code" if len(item) == 2 and item.isalpha() else "other"

    items: dict[str, list[str]] = defaultdict(list)
    for _, item in included(world):
        items[kind(item)].append(repr(item))
    rows = [{"kind": k, "items": len(found), "values": len(set(found))} for k, found in items.items()]
    return order(rows, "-items", "kind")


@answers(30027)
def _(world: Documents) -> list[Document]:
    own = {"brands": "brand", "flags": "flag", "transit": "network", "operators": "operator"}
    known = {o["_id"] for o in world["organisations"]}
    rows: list[Document] = []
    for tree in sorted(own):
        items = [e["tags"].get(f"{own[tree]}:wikidata") for e in world["entries"] if e["tree"] == tree]
        tagged = [item for item in items if item is not None]
        found = sum(item in known for item in tagged)
        rows.append({"tree": tree, "entries": len(items), "tagged": len(tagged), "found": found})
    return rows


# --- present or missing -------------------------------------------------------------------------


@answers(30018)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for kind in ("cafe", "fast_food", "restaurant"):
        category = f"brands/amenity/{kind}"
        found = Counter(e["tags"].get("takeaway") for e in world["entries"] if e["category"] == category)
        rows.append({"category": category, "yes": found["yes"], "only": found["only"], "without": found[None]})
    return rows


@answers(30022)
def _(world: Documents) -> list[Document]:
    found = (i for e in world["entries"] for i in e["location"].get("exclude", []) if isinstance(i, str))
    return count(found, "place", "entries", least=10)


@answers(30023)
def _(world: Documents) -> list[Document]:
    without: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for e in world["entries"]:
        if e["tree"] == "brands":
            name, brand = e["tags"].get("name"), e["tags"].get("brand")
            without[e["category"]] += name is None
            different[e["category"]] += None not in (name, brand) and name != brand
    rows = [
        {"category": c, "without_name": without[c], "different": different[c]}
        for c in without
        if without[c] or different[c]
    ]
    return order(rows, "-different", "category")


@answers(30026)
def _(world: Documents) -> list[Document]:
    found = Counter(len(o.get("identities", {})) for o in world["organisations"])
    return [{"identities": kinds, "organisations": n} for kinds, n in sorted(found.items())]


@answers(30028)
def _(world: Documents) -> list[Document]:
    states = ("empty", "single")
    found: Counter[str] = Counter()
    described: Counter[str] = Counter()
    for o in world["organisations"]:
        n = len(o["websites"]) if "websites" in o else None
        state = "missing" if n is None else states[n] if n < 2 else "several"
        found[state] += 1
        described[state] += "description" in o
    rows = [{"state": s, "organisations": n, "described": described[s]} for s, n in found.items()]
    return order(rows, "-organisations", "state")


@answers(30030)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "name": e["name"],
            "category": e["category"],
            "count": len(e["match_names"]),
            "longest": max(e["match_names"], key=len),
        }
        for e in world["entries"]
        if len(e.get("match_names", [])) >= 9
    ]
    return order(rows, "-count", "name")


@answers(30031)
def _(world: Documents) -> list[Document]:
    names: dict[int, list[str]] = defaultdict(list)
    for e in world["entries"]:
        for issue in e.get("issues", []):
            names[issue].append(e["name"])
    rows = [
        {"issue": issue, "entries": len(found), "names": sorted(set(found))}
        for issue, found in names.items()
        if len(found) >= 2
    ]
    return order(rows, "-entries", "issue")


# --- bags of tags -------------------------------------------------------------------------------


@answers(30019)
def _(world: Documents) -> list[Document]:
    values: dict[str, list[str]] = defaultdict(list)
    for e in world["entries"]:
        if e["tree"] == "flags":
            for key, value in e["tags"].items():
                values[key].append(value)
    rows = [{"key": key, "flags": len(found), "values": len(set(found))} for key, found in values.items()]
    return order(rows, "-flags", "key")


@answers(30020)
def _(world: Documents) -> list[Document]:
    rows = [{"name": e["name"], "category": e["category"], "tags": len(e["tags"])} for e in world["entries"]]
    ranked = sorted(rows, key=lambda row: (-row["tags"], row["name"]))
    return order(ranked[:11], "-tags", "name")[:10]


@answers(30021)
def _(world: Documents) -> list[Document]:
    found = Counter(
        tag
        for e in world["entries"]
        if e["tree"] == "brands"
        for tag in e["tags"].items()
        if tag[0].startswith("diet:")
    )
    rows = [{"key": key, "value": value, "entries": n} for (key, value), n in found.items()]
    return order(rows, "-entries", "key", "value")


@answers(30032)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "name": e["name"],
            "category": e["category"],
            "keys": sorted(key for key, value in e["tags"].items() if value == "McDonald's"),
        }
        for e in world["entries"]
        if "McDonald's" in e["tags"].values()
    ]
    return order(rows, "category", "name")


@answers(30034)
def _(world: Documents) -> list[Document]:
    routes: dict[str, set[str]] = defaultdict(set)
    for e in world["entries"]:
        if e["tree"] == "transit" and "network" in e["tags"]:
            routes[e["tags"]["network"]].add(e["tags"]["route"])
    rows = [{"network": network, "routes": sorted(found)} for network, found in routes.items() if len(found) >= 4]
    return sorted(rows, key=lambda row: (-len(row["routes"]), row["network"]))


# --- keys that are data -------------------------------------------------------------------------


@answers(30024)
def _(world: Documents) -> list[Document]:
    # From the entries, not from the tag counts of the categories.
    categories: dict[str, set[str]] = defaultdict(set)
    keys: dict[str, set[str]] = defaultdict(set)
    for e in world["entries"]:
        categories[e["tree"]].add(e["category"])
        keys[e["tree"]].update(e["tags"])
    return [{"tree": t, "categories": len(categories[t]), "keys": len(keys[t])} for t in sorted(keys)]


@answers(30025)
def _(world: Documents) -> list[Document]:
    handles = [
        {o["identities"][kind].lower() for kind in ("facebook", "instagram", "twitter")}
        for o in world["organisations"]
        if {"facebook", "instagram", "twitter"} <= o.get("identities", {}).keys()
    ]
    return [{"all_three": len(handles), "same": sum(len(found) == 1 for found in handles)}]


@answers(30033)
def _(world: Documents) -> list[Document]:
    largest = sorted(world["categories"], key=lambda c: (-c["entry_count"], c["_id"]))
    totals = accumulate(c["entry_count"] for c in largest)
    rows: list[Document] = []
    for category, total in zip(largest, totals, strict=True):
        ((key, value),) = category["tag"].items()
        rows.append({"key": key, "value": value, "entries": category["entry_count"], "running_total": total})
    return [row for row in rows if row["running_total"] <= 10_000]


# --- events -------------------------------------------------------------------------------------


@answers(30029)
def _(world: Documents) -> list[Document]:
    ends = [end for o in world["organisations"] for end in o.get("dissolutions", [])]
    years = Counter(end["date"].year for end in ends if end["date"].year >= 2015)
    named = Counter(end["date"].year for end in ends if "successor" in end)
    return [{"year": year, "dissolutions": n, "with_successor": named[year]} for year, n in sorted(years.items())]
