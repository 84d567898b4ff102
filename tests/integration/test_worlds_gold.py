"""Each question's pipeline gives its stored rows, and plain Python over the same documents agrees."""

from __future__ import annotations

import json
import math
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bson import json_util
from pymongo import MongoClient

from groundql.bench.worlds import World, WorldTask, list_worlds, open_world
from integration import (
    answers_atlas,
    answers_brands,
    answers_emoji,
    answers_mapping,
    answers_releases,
    answers_webcompat,
)
from integration.world_answers import Answer, Document, Documents, by_id, count

ANSWERS: dict[int, Answer] = {
    **answers_atlas.ANSWERS,
    **answers_brands.ANSWERS,
    **answers_emoji.ANSWERS,
    **answers_mapping.ANSWERS,
    **answers_releases.ANSWERS,
    **answers_webcompat.ANSWERS,
}
TASKS = [(world, task) for world in list_worlds() for task in world.tasks()]
SIMPLE = [
    json_util.loads(line, json_options=json_util.JSONOptions(tz_aware=True, tzinfo=UTC))
    for line in (Path(__file__).parents[2] / "benchmarks" / "data" / "simple_questions.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
each_task = pytest.mark.parametrize(
    ("world", "task"), TASKS, ids=[f"{world.name}-{task.record_id}" for world, task in TASKS]
)


def answers(record_id: int) -> Callable[[Answer], Answer]:
    def keep(answer: Answer) -> Answer:
        ANSWERS[record_id] = answer
        return answer

    return keep


def read_pipeline(mql: str) -> tuple[str, list[Document]]:
    head, _, rest = mql.partition(".aggregate(")
    return head.removeprefix("db."), json.loads(rest.removesuffix(")"))


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are equal, numbers within a relative 1e-9 (sums depend on the order of their parts)."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=1e-9)
    return type(left) is type(right) and left == right


@pytest.fixture(scope="module")
def loaded(mongo_uri: str) -> Iterator[Callable[[World], Any]]:
    """Load each world once, into a database of its own."""
    with MongoClient[Document](mongo_uri, tz_aware=True, tzinfo=UTC) as client:
        databases: dict[str, str] = {}

        def load(world: World) -> Any:
            if world.name not in databases:
                databases[world.name] = f"groundql_world_{world.name}_{uuid.uuid4().hex[:8]}"
                for name, documents in world.documents().items():
                    client[databases[world.name]][name].insert_many(documents)
            return client[databases[world.name]]

        yield load
        for name in databases.values():
            client.drop_database(name)


@pytest.fixture(scope="module")
def read() -> Callable[[World], Documents]:
    """Read each world once."""
    kept: dict[str, Documents] = {}

    def documents(world: World) -> Documents:
        if world.name not in kept:
            kept[world.name] = dict(world.documents())
        return kept[world.name]

    return documents


@pytest.mark.integration
@each_task
def test_the_stored_rows_are_what_the_server_gives(
    world: World, task: WorldTask, loaded: Callable[[World], Any]
) -> None:
    collection, pipeline = read_pipeline(task.mql)
    rows = list(loaded(world)[collection].aggregate(pipeline))
    assert is_same(rows, world.gold()[task.record_id])


@each_task
def test_plain_python_finds_the_same_rows(world: World, task: WorldTask, read: Callable[[World], Documents]) -> None:
    assert is_same(ANSWERS[task.record_id](read(world)), world.gold()[task.record_id])


@pytest.mark.integration
@pytest.mark.parametrize("question", SIMPLE, ids=[question["id"] for question in SIMPLE])
def test_a_simple_question_has_the_rows_that_the_server_gives(
    question: Document, loaded: Callable[[World], Any]
) -> None:
    collection, pipeline = read_pipeline(question["mql"])
    rows = list(loaded(open_world(question["world"]))[collection].aggregate(pipeline))
    assert question["rows"]
    assert is_same(rows, question["rows"])


def test_simple_questions_are_sixty_over_two_worlds() -> None:
    assert Counter(question["world"] for question in SIMPLE) == {"atlas": 30, "brands": 30}
    assert len({question["question"] for question in SIMPLE}) == 60


def test_the_comparison_tells_rows_apart() -> None:
    assert not is_same([{"a": 1}], [{"a": 2}])
    assert not is_same([{"a": None}], [{}])
    assert not is_same([{"a": True}], [{"a": 1}])
    assert not is_same([1, 2], [2, 1])
    assert is_same([{"a": 1.0}], [{"a": 1}])


# --- what the answers share ---------------------------------------------------------------------


def statements(support: Any) -> list[Document]:
    return support if isinstance(support, list) else [support]


# --- webcompat ----------------------------------------------------------------------------------


@answers(10001)
def _(world: Documents) -> list[Document]:
    return count((f["area"] for f in world["features"]), "area", "features")


@answers(10002)
def _(world: Documents) -> list[Document]:
    found = (f["area"] for f in world["features"] if f.get("status", {}).get("deprecated"))
    return count(found, "area", "deprecated")


@answers(10003)
def _(world: Documents) -> list[Document]:
    return count((f["area"] for f in world["features"] if "status" not in f), "area", "features")


@answers(10004)
def _(world: Documents) -> list[Document]:
    found = Counter(
        (b["name"], r["engine"]) for b in world["browsers"] for r in b["releases"].values() if "engine" in r
    )
    return [{"browser": name, "engine": engine, "releases": n} for (name, engine), n in sorted(found.items())]


@answers(10005)
def _(world: Documents) -> list[Document]:
    rows = [
        {"browser": b["name"], "version": version, "release_date": release["release_date"]}
        for b in world["browsers"]
        if b["type"] == "desktop"
        for version, release in b["releases"].items()
        if release["status"] == "current"
    ]
    return sorted(rows, key=lambda row: row["browser"])


@answers(10006)
def _(world: Documents) -> list[Document]:
    browsers = by_id(world["browsers"])
    rows = [
        {"browser": b["name"], "upstream": browsers[b["upstream"]]["name"]}
        for b in world["browsers"]
        if "upstream" in b
    ]
    return sorted(rows, key=lambda row: row["browser"])


@answers(10007)
def _(world: Documents) -> list[Document]:
    # Counted from the releases themselves, not from the calendar.
    found = (
        b["_id"]
        for b in world["browsers"]
        for r in b["releases"].values()
        if r["release_date"] and r["release_date"].year == 2024
    )
    return count(found, "browser", "versions", limit=3)


@answers(10008)
def _(world: Documents) -> list[Document]:
    firsts = [statements(f["support"]["ie"])[0]["version_added"] for f in world["features"] if f["area"] == "css"]
    unsupported = sum(first is False for first in firsts)
    return [{"supported": len(firsts) - unsupported, "unsupported": unsupported}]


@answers(10009)
def _(world: Documents) -> list[Document]:
    found = (
        prefix
        for f in world["features"]
        for prefix in {s["prefix"] for s in statements(f["support"].get("safari", [])) if "prefix" in s}
    )
    return count(found, "prefix", "features")


@answers(10010)
def _(world: Documents) -> list[Document]:
    found = (
        flag["name"]
        for f in world["features"]
        for s in statements(f["support"].get("chrome", []))
        for flag in s.get("flags", [])
    )
    return count(found, "flag", "occurrences", limit=3)


@answers(10011)
def _(world: Documents) -> list[Document]:
    ids = [f["_id"] for f in world["features"]]
    known = set(ids)
    # The parent again, from the dotted ids alone.
    parents: list[str] = []
    for identity in ids:
        parts = identity.split(".")
        if parts[0] == "javascript":
            parents += [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1) if ".".join(parts[:n]) in known][:1]
    return count(parents, "feature", "children", limit=4)


@answers(10012)
def _(world: Documents) -> list[Document]:
    areas: dict[str, list[str]] = defaultdict(list)
    for f in world["features"]:
        for tag in f.get("tags", []):
            areas[tag].append(f["area"])
    return [
        {"slug": tag.split(":", 1)[1], "areas": len(set(found)), "features": len(found)}
        for tag, found in sorted(areas.items())
        if len(set(found)) >= 4
    ]


@answers(10013)
def _(world: Documents) -> list[Document]:
    feature = by_id(world["features"])["api.IntersectionObserver"]
    rows: list[Document] = []
    for b in world["browsers"]:
        version = statements(feature["support"].get(b["_id"], {"version_added": False}))[0]["version_added"]
        if version in b["releases"]:
            rows.append(
                {"browser": b["name"], "version": version, "release_date": b["releases"][version]["release_date"]}
            )
    return sorted(rows, key=lambda row: (row["release_date"], row["browser"]))


@answers(10014)
def _(world: Documents) -> list[Document]:
    mentioned: Counter[str] = Counter()
    versioned: Counter[str] = Counter()
    for f in world["features"]:
        if "web-features:webgpu" in f.get("tags", []):
            for browser, support in f["support"].items():
                mentioned[browser] += 1
                versioned[browser] += isinstance(statements(support)[0]["version_added"], str)
    rows = [{"browser": b, "with_version": versioned[b], "mentioned": n} for b, n in mentioned.items()]
    return sorted(rows, key=lambda row: (-row["with_version"], row["browser"]))


@answers(10015)
def _(world: Documents) -> list[Document]:
    dates: dict[str, list[datetime]] = defaultdict(list)
    for b in world["browsers"]:
        for r in b["releases"].values():
            if "engine" in r and r["release_date"]:
                dates[r["engine"]].append(r["release_date"])
    rows = [
        {"engine": engine, "first_release": min(found), "last_release": max(found)} for engine, found in dates.items()
    ]
    return sorted(rows, key=lambda row: row["first_release"])


# --- atlas --------------------------------------------------------------------------------------


def cities(world: Documents) -> list[Document]:
    return [place for place in world["places"] if place["kind"] == "city"]


@answers(20001)
def _(world: Documents) -> list[Document]:
    largest = sorted(cities(world), key=lambda city: -city["population"])[:5]
    return [{key: city[key] for key in ("name", "country", "population")} for city in largest]


@answers(20002)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "percent": t["languages"]["de"]["population_percent"]}
        for t in world["territories"]
        if t["languages"].get("de", {}).get("population_percent", 0) >= 50
    ]
    return sorted(rows, key=lambda row: (-row["percent"], row["territory"]))


@answers(20003)
def _(world: Documents) -> list[Document]:
    rows = [{key: c[key] for key in ("code", "from", "to")} for c in by_id(world["territories"])["DE"]["currencies"]]
    return sorted(rows, key=lambda row: row["from"], reverse=True)


@answers(20004)
def _(world: Documents) -> list[Document]:
    found = Counter(t.get("week", {}).get("first_day") for t in world["territories"])
    return [{"first_day": day, "territories": n} for day, n in found.most_common()]


@answers(20005)
def _(world: Documents) -> list[Document]:
    elevations: dict[str, list[float]] = defaultdict(list)
    for place in world["places"]:
        if place["kind"] == "airport":
            elevations[place["country"]].append(place["elevation_ft"])
    rows = [
        {"country": code, "airports": len(found), "average_elevation_ft": math.fsum(found) / len(found)}
        for code, found in elevations.items()
        if len(found) >= 150
    ]
    return sorted(rows, key=lambda row: -row["airports"])


@answers(20006)
def _(world: Documents) -> list[Document]:
    names = {t["_id"]: t["name"] for t in world["territories"]}
    found = (names[city["country"]] for city in cities(world) if city["population"] >= 1_000_000)
    return count(found, "territory", "cities", limit=5)


@answers(20007)
def _(world: Documents) -> list[Document]:
    names = {language["_id"]: language["name"] for language in world["languages"]}
    found = (
        names.get(code, code)
        for t in world["territories"]
        for code, entry in t["languages"].items()
        if entry.get("official_status") == "official"
    )
    return count(found, "language", "territories", limit=5)


@answers(20008)
def _(world: Documents) -> list[Document]:
    heights = by_id(world["unit_preferences"])["length"]["units_by_usage"]["person-height"]
    return [{"territory": code, "units": [unit["unit"] for unit in units]} for code, units in sorted(heights.items())]


@answers(20009)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["_id"], "windows_name": name, "zones": len(zones)}
        for t in world["territories"]
        for name, zones in t.get("time_zones", {}).items()
        if len(zones) >= 6
    ]
    return sorted(rows, key=lambda row: (-row["zones"], row["territory"], row["windows_name"]))


@answers(20010)
def _(world: Documents) -> list[Document]:
    found = (
        category
        for language in world["languages"]
        for category in language.get("plurals", {}).get("ordinal", {})
        if category != "other"
    )
    return count(found, "category", "languages")


@answers(20011)
def _(world: Documents) -> list[Document]:
    regions = by_id(world["regions"])
    territories = {t["_id"] for t in world["territories"]}
    # Counted from what each region contains, not from the territories' own region.
    rows = [
        {"region": regions[part]["name"], "territories": len(territories.intersection(regions[part]["contains"]))}
        for part in regions["150"]["contains"]
    ]
    return sorted(rows, key=lambda row: (-row["territories"], row["region"]))


@answers(20012)
def _(world: Documents) -> list[Document]:
    found = (t["name"] for t in world["territories"] for c in t["currencies"] if c.get("tender", True))
    return count(found, "territory", "periods", limit=3)


@answers(20013)
def _(world: Documents) -> list[Document]:
    kinds = Counter((place["country"], place["kind"]) for place in world["places"])
    largest = sorted(world["territories"], key=lambda t: -t["population"])[:5]
    return [
        {"territory": t["name"], "cities": kinds[t["_id"], "city"], "airports": kinds[t["_id"], "airport"]}
        for t in largest
    ]


@answers(20014)
def _(world: Documents) -> list[Document]:
    speakers: dict[str, float] = defaultdict(float)
    for t in world["territories"]:
        for code, entry in t["languages"].items():
            speakers[code] += t["population"] * entry["population_percent"] / 100
    names = {language["_id"]: language["name"] for language in world["languages"]}
    largest = sorted(speakers.items(), key=lambda item: -item[1])[:5]
    return [{"language": names[code], "millions": round(n / 1e6)} for code, n in largest]


@answers(20015)
def _(world: Documents) -> list[Document]:
    used = {
        c["code"] for t in world["territories"] for c in t["currencies"] if c["to"] is None and c.get("tender", True)
    }
    rows = [
        {"currency": c["name"], "cash_rounding": c["fractions"]["cashRounding"]}
        for c in world["currencies"]
        if c["_id"] in used and c.get("fractions", {}).get("cashRounding", 0) > 0
    ]
    return sorted(rows, key=lambda row: row["currency"])


# --- brands -------------------------------------------------------------------------------------


@answers(30001)
def _(world: Documents) -> list[Document]:
    return count((e["tree"] for e in world["entries"]), "tree", "entries")


@answers(30002)
def _(world: Documents) -> list[Document]:
    found = (
        e["tags"]["cuisine"]
        for e in world["entries"]
        if e["category"] == "brands/amenity/fast_food" and "cuisine" in e["tags"]
    )
    return count(found, "cuisine", "entries", limit=5)


@answers(30003)
def _(world: Documents) -> list[Document]:
    found = (e["tags"]["flag:type"] for e in world["entries"] if e["tree"] == "flags")
    return count(found, "flag_type", "flags", least=5)


@answers(30004)
def _(world: Documents) -> list[Document]:
    found = (
        tag.removeprefix("name:")
        for e in world["entries"]
        if e["tree"] == "brands"
        for tag in e["tags"]
        if tag.startswith("name:")
    )
    return count(found, "language", "entries", limit=5)


@answers(30005)
def _(world: Documents) -> list[Document]:
    found = (
        e["tree"] for e in world["entries"] if any(isinstance(item, list) for item in e["location"].get("include", []))
    )
    return count(found, "tree", "entries")


@answers(30006)
def _(world: Documents) -> list[Document]:
    found = (
        item
        for e in world["entries"]
        if e["category"] == "brands/shop/supermarket"
        for item in e["location"].get("include", [])
        if isinstance(item, str)
    )
    return count(found, "place", "entries", limit=5)


@answers(30007)
def _(world: Documents) -> list[Document]:
    organisations = by_id(world["organisations"])
    rows: list[Document] = []
    for e in world["entries"]:
        organisation = organisations.get(e["tags"].get("brand:wikidata"), {})
        if e["category"] == "brands/amenity/fuel" and organisation.get("dissolutions"):
            rows.append({"name": e["name"], "dissolved": organisation["dissolutions"][0]["date"]})
    return sorted(rows, key=lambda row: (row["dissolved"], row["name"]))


@answers(30008)
def _(world: Documents) -> list[Document]:
    found = (kind for o in world["organisations"] for kind in o.get("identities", {}))
    return count(found, "kind", "organisations", limit=5)


@answers(30009)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": o["label"], "websites": len(o["websites"])}
        for o in world["organisations"]
        if len(o.get("websites", [])) >= 15
    ]
    return sorted(rows, key=lambda row: (-row["websites"], row["label"]))


@answers(30010)
def _(world: Documents) -> list[Document]:
    # From the tag counts of the categories, not from the entries.
    rows = [
        {
            "category": c["_id"],
            "missing": c["entry_count"] - c["uses_by_tag"].get("brand:wikidata", 0),
            "entries": c["entry_count"],
        }
        for c in world["categories"]
        if c["_id"].startswith("brands/")
    ]
    return sorted(rows, key=lambda row: (-row["missing"], row["category"]))


@answers(30011)
def _(world: Documents) -> list[Document]:
    labels = {o["_id"]: o["label"] for o in world["organisations"]}
    rows = [
        {"organisation": o["label"], "successor": labels[end["successor"]], "dissolved": end["date"]}
        for o in world["organisations"]
        for end in o.get("dissolutions", [])
        if end.get("successor") in labels and end["date"] >= datetime(2020, 1, 1, tzinfo=UTC)
    ]
    return sorted(rows, key=lambda row: (row["dissolved"], row["organisation"]))


@answers(30012)
def _(world: Documents) -> list[Document]:
    transit = [e["tags"] for e in world["entries"] if e["tree"] == "transit"]
    same = Counter(tags["route"] for tags in transit if "operator" in tags and tags["operator"] == tags.get("network"))
    return [
        row | {"same": same[row["route"]]} for row in count((tags["route"] for tags in transit), "route", "entries")
    ]


@answers(30013)
def _(world: Documents) -> list[Document]:
    # From the entries, not from the tag counts of the categories.
    totals = Counter(e["category"] for e in world["entries"])
    named = Counter(e["category"] for e in world["entries"] if "name:en" in e["tags"])
    rows = [{"category": category, "share": n / totals[category]} for category, n in named.items()]
    return sorted(rows, key=lambda row: (-row["share"], row["category"]))


@answers(30014)
def _(world: Documents) -> list[Document]:
    found = (name for name, _ in {(e["name"], e["category"]) for e in world["entries"]})
    return count(found, "name", "categories", least=5)


# --- emoji --------------------------------------------------------------------------------------


@answers(40001)
def _(world: Documents) -> list[Document]:
    titles = {int(g["_id"]): g["title"] for g in world["emoji_groups"]}
    return count((titles[e["group"]] for e in world["emojis"] if "group" in e), "group", "emojis")


@answers(40002)
def _(world: Documents) -> list[Document]:
    return [
        {language: e["names"][language]["label"] for language in ("da", "de", "fr", "ja")}
        for e in world["emojis"]
        if e["label"] == "pizza"
    ]


@answers(40003)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "emoticon": e["emoticon"]}
        for e in world["emojis"]
        if isinstance(e.get("emoticon"), list) and len(e["emoticon"]) > 1
    ]
    return sorted(rows, key=lambda row: row["label"])


@answers(40004)
def _(world: Documents) -> list[Document]:
    found = Counter(len(e["skins"]) for e in world["emojis"] if "skins" in e)
    return [{"forms": forms, "emojis": n} for forms, n in sorted(found.items())]


@answers(40005)
def _(world: Documents) -> list[Document]:
    found = Counter(
        e["label"] for e in world["emojis"] for skin in e.get("skins", []) if isinstance(skin.get("tone"), list)
    )
    return [{"label": label, "forms": n} for label, n in sorted(found.items())]


@answers(40006)
def _(world: Documents) -> list[Document]:
    return count((e["group"] for e in world["emojis"] if "heart" in e.get("tags", [])), "group", "emojis")


@answers(40007)
def _(world: Documents) -> list[Document]:
    several = Counter(
        preset for e in world["emojis"] for preset, code in e["shortcodes"].items() if isinstance(code, list)
    )
    found = (preset for e in world["emojis"] for preset in e["shortcodes"])
    return [row | {"several": several[row["preset"]]} for row in count(found, "preset", "emojis")]


@answers(40008)
def _(world: Documents) -> list[Document]:
    found = Counter(e["version"] for e in world["emojis"] if e["version"] >= 13 and "github" not in e["shortcodes"])
    return [{"version": version, "emojis": n} for version, n in sorted(found.items())]


@answers(40009)
def _(world: Documents) -> list[Document]:
    sizes: dict[str, list[int]] = defaultdict(list)
    for e in world["emojis"]:
        for language, name in e["names"].items():
            sizes[language].append(len(name.get("tags", [])))
    rows = [{"language": language, "average_tags": sum(found) / len(found)} for language, found in sizes.items()]
    return sorted(rows, key=lambda row: -row["average_tags"])


@answers(40010)
def _(world: Documents) -> list[Document]:
    ids = {e["_id"] for e in world["emojis"]}
    rows = [
        {
            "version": r["version"],
            "characters": len(r["characters"]),
            "emojis": sum(character in ids for character in r["characters"]),
        }
        for r in world["releases"]
        if r["standard"] == "emoji"
    ]
    return sorted(rows, key=lambda row: (-row["characters"], row["version"]))


@answers(40011)
def _(world: Documents) -> list[Document]:
    (group,) = (g for g in world["emoji_groups"] if g["key"] == "food-drink")
    found = (
        group["subgroups"][str(e["subgroup"])]["title"]
        for e in world["emojis"]
        if str(e.get("subgroup")) in group["subgroups"]
    )
    return count(found, "subgroup", "emojis")


@answers(40012)
def _(world: Documents) -> list[Document]:
    found = sorted(
        e["label"] for e in world["emojis"] if e.get("group") == 4 and e["names"]["fr"]["label"] == e["label"]
    )
    return [{"label": label} for label in found]


def test_every_answer_belongs_to_a_task() -> None:
    assert ANSWERS.keys() == {task.record_id for _, task in TASKS}
