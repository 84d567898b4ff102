"""Answers to the tasks of the world mapping, in plain Python over its documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from integration.world_answers import Answers, Document, Documents, by_id

ANSWERS = Answers()
answers = ANSWERS.to


def ranked(values: Iterable[Any], key: str, number: str, least: int = 1, limit: int | None = None) -> list[Document]:
    """Rows of value and number, most first, equal numbers by value."""
    found = sorted(((n, v) for v, n in Counter(values).items() if n >= least), key=lambda pair: (-pair[0], pair[1]))
    return [{key: value, number: n} for n, value in found[:limit]]


def ordered(values: Iterable[Any], key: str, number: str) -> list[Document]:
    """Rows of value and number, by value."""
    return [{key: value, number: n} for value, n in sorted(Counter(values).items())]


def deprecated(world: Documents) -> list[Document]:
    return [entry for entry in world["retired_tags"] if entry["kind"] == "deprecated"]


def replaced(world: Documents) -> list[Document]:
    return [entry for entry in deprecated(world) if "replace" in entry]


def pairs(world: Documents, bag: str = "tags") -> Iterator[tuple[str, str]]:
    for preset in world["presets"]:
        yield from preset.get(bag, {}).items()


def named(preset: Document) -> set[str]:
    """The fields that a preset names itself."""
    items = (*preset.get("fields", ()), *preset.get("moreFields", ()))
    return {item for item in items if item[0] != "{"}


def option_title(text: Any) -> Any:
    return text if isinstance(text, str) else text["title"]


# --- attribute bags -----------------------------------------------------------------------------


@answers(50001)
def _(world: Documents) -> list[Document]:
    return ranked((key for key, _ in pairs(world)), "key", "presets", limit=10)


@answers(50002)
def _(world: Documents) -> list[Document]:
    return ranked((v for k, v in pairs(world) if k == "amenity" and v != "*"), "value", "presets", least=5)


@answers(50003)
def _(world: Documents) -> list[Document]:
    found = sorted((p for p in world["presets"] if len(p["tags"]) == 4), key=lambda p: p["_id"])
    return [{"preset": p["_id"], "tags": sorted(f"{k}={v}" for k, v in p["tags"].items())} for p in found]


@answers(50004)
def _(world: Documents) -> list[Document]:
    return ordered((len(p["tags"]) for p in world["presets"]), "tag_count", "presets")


@answers(50005)
def _(world: Documents) -> list[Document]:
    rows = [
        {"preset": p["_id"], "key": key, "matched": p["tags"][key], "added": value}
        for p in world["presets"]
        for key, value in p.get("addTags", {}).items()
        if p["tags"].get(key, value) != value
    ]
    return sorted(rows, key=lambda row: (row["preset"], row["key"]))


@answers(50006)
def _(world: Documents) -> list[Document]:
    rows = [
        {"preset": p["_id"], "only_removed": sorted(p.get("removeTags", {}).keys() - p.get("addTags", {}).keys())}
        for p in world["presets"]
    ]
    return sorted((row for row in rows if row["only_removed"]), key=lambda row: row["preset"])


@answers(50007)
def _(world: Documents) -> list[Document]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for p in world["presets"]:
        for geometry in p["geometry"]:
            found[geometry].update(p["tags"].keys())
    rows: list[Document] = []
    for geometry, counts in sorted(found.items()):
        key = min(counts, key=lambda k: (-counts[k], k))
        rows.append({"geometry": geometry, "different_keys": len(counts), "key": key, "presets": counts[key]})
    return rows


@answers(50008)
def _(world: Documents) -> list[Document]:
    return ranked((k for k, v in pairs(world) if v == "*"), "key", "presets", least=2)


@answers(50009)
def _(world: Documents) -> list[Document]:
    keys: dict[str, set[str]] = defaultdict(set)
    presets: dict[str, set[str]] = defaultdict(set)
    for p in world["presets"]:
        for key in p["tags"]:
            if ":" in key:
                keys[key.split(":")[0]].add(key)
                presets[key.split(":")[0]].add(p["_id"])
    rows: list[Document] = [
        {"namespace": n, "different_keys": len(keys[n]), "presets": len(found)}
        for n, found in presets.items()
        if len(found) >= 4
    ]
    return sorted(rows, key=lambda row: (-row["presets"], row["namespace"]))


@answers(50010)
def _(world: Documents) -> list[Document]:
    found = (len(p["addTags"].keys() - p["tags"].keys()) for p in world["presets"] if "addTags" in p)
    return ordered(found, "additional_keys", "presets")


@answers(50011)
def _(world: Documents) -> list[Document]:
    bags = {p["_id"]: {**p["tags"], **p.get("addTags", {})} for p in world["presets"]}
    top = sorted(bags, key=lambda name: (-len(bags[name]), name))[:5]
    return [{"preset": name, "keys": len(bags[name]), "bag": bags[name]} for name in top]


@answers(50012)
def _(world: Documents) -> list[Document]:
    found = (
        next(iter(e["old"])) for e in replaced(world) if len(e["old"]) == 1 and e["old"].keys() == e["replace"].keys()
    )
    return ranked(found, "key", "corrections", limit=10)


@answers(50013)
def _(world: Documents) -> list[Document]:
    return ranked((k for e in replaced(world) for k in e["old"] if k not in e["replace"]), "key", "entries", least=6)


@answers(50014)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for entry in replaced(world):
        old = [k for k, v in entry["old"].items() if v == "*"]
        new = [k for k, v in entry["replace"].items() if v == "$1"]
        assert len(old) <= 1
        assert len(new) <= 1
        if old and new and ":" in new[0]:
            rows.append({"entry": entry["_id"], "old_key": old[0], "new_key": new[0]})
    return rows


@answers(50015)
def _(world: Documents) -> list[Document]:
    found = (f"{k}={v}" for e in replaced(world) for k, v in e["replace"].items())
    return ranked(found, "tag", "entries", least=4)


@answers(50016)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for entry in deprecated(world):
        others = dict(entry["old"])
        if amenity := others.pop("amenity", ""):
            rows += [{"entry": entry["_id"], "amenity": amenity, "others": others}] if others else []
    return rows


@answers(50017)
def _(world: Documents) -> list[Document]:
    found = (p["tags"].get("leisure", "none") for p in world["presets"] if "sport" in p["tags"])
    return ranked(found, "leisure", "presets")


@answers(50018)
def _(world: Documents) -> list[Document]:
    found: dict[str, set[str]] = defaultdict(set)
    for p in world["presets"]:
        if "cuisine" in p["tags"]:
            found[p["tags"].get("amenity", "")].add(p["tags"]["cuisine"])
    restaurant, fast_food = found["restaurant"], found["fast_food"]
    return [
        {
            "both": sorted(restaurant & fast_food),
            "only_restaurant": sorted(restaurant - fast_food),
            "only_fast_food": sorted(fast_food - restaurant),
        }
    ]


@answers(50019)
def _(world: Documents) -> list[Document]:
    values: dict[str, set[str]] = defaultdict(set)
    for key, value in pairs(world):
        values[key].add(value)
    sizes: dict[int, list[int]] = defaultdict(list)
    for found in values.values():
        sizes[max(low for low in (1, 2, 5, 20) if low <= len(found))].append(len(found))
    return [{"from": low, "keys": len(found), "largest": max(found)} for low, found in sorted(sizes.items())]


@answers(50020)
def _(world: Documents) -> list[Document]:
    known = {key for key, _ in pairs(world)}
    return ranked((key for key, _ in pairs(world, "addTags") if key not in known), "key", "presets")


@answers(50021)
def _(world: Documents) -> list[Document]:
    found = Counter(
        (p["tags"].get("amenity", "none"), p["tags"].get("healthcare", "none"))
        for p in world["presets"]
        if "healthcare:speciality" in p["tags"]
    )
    rows = [{"amenity": a, "healthcare": h, "presets": n} for (a, h), n in found.items()]
    return sorted(rows, key=lambda row: (-row["presets"], row["amenity"], row["healthcare"]))


@answers(50022)
def _(world: Documents) -> list[Document]:
    parts = ((p["_id"].split("/")[0], p["tags"]) for p in world["presets"] if p["_id"][0] != "@")
    return ranked((part for part, tags in parts if part not in tags), "part", "presets", least=3)


@answers(50023)
def _(world: Documents) -> list[Document]:
    rows = [
        {"preset": p["_id"], "reference_key": p["reference"]["key"], "tag_keys": sorted(p["tags"])}
        for p in world["presets"]
        if "key" in p.get("reference", {}) and p["reference"]["key"] not in p["tags"]
    ]
    return sorted(rows, key=lambda row: row["preset"])


@answers(50024)
def _(world: Documents) -> list[Document]:
    found: list[str] = []
    for p in world["presets"]:
        reference = p.get("reference", {})
        if "key" in reference and "value" in reference:
            value = p["tags"].get(reference["key"])
            found.append("no key" if value is None else "equal" if value == reference["value"] else "other")
    return ranked(found, "outcome", "presets")


@answers(50025)
def _(world: Documents) -> list[Document]:
    found = ("+".join(sorted(p["tags"])) for p in world["presets"] if len(p["tags"]) == 2)
    return ranked(found, "pair", "presets", limit=10)


@answers(50026)
def _(world: Documents) -> list[Document]:
    rows = [
        {"entry": e["_id"], "old": e["old"], "replace": e["replace"], "tags": len(e["replace"])}
        for e in replaced(world)
        if len(e["replace"]) >= 3
    ]
    return sorted(rows, key=lambda row: (-row["tags"], row["entry"]))


@answers(50027)
def _(world: Documents) -> list[Document]:
    presets: dict[tuple[str, str], list[str]] = defaultdict(list)
    for p in world["presets"]:
        for pair in p["tags"].items():
            presets[pair].append(p["_id"])
    single = (next(iter(e["old"].items())) for e in deprecated(world) if len(e["old"]) == 1)
    rows = [
        {"tag": f"{pair[0]}={pair[1]}", "presets": sorted(presets[pair])}
        for pair in single
        if pair[1] != "*" and pair in presets
    ]
    return sorted(rows, key=lambda row: row["tag"])


@answers(50028)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for key in ("highway", "natural", "leisure", "man_made"):
        found = [p for p in world["presets"] if key in p["tags"]]
        rows.append({"key": key, "presets": len(found), "as_area": sum("area" in p["geometry"] for p in found)})
    return sorted(rows, key=lambda row: -row["presets"])


@answers(50029)
def _(world: Documents) -> list[Document]:
    found = sorted(set(pairs(world)), key=lambda pair: (-len(pair[1]), pair))
    return [{"key": k, "value": v, "length": len(v)} for k, v in found[:10]]


@answers(50030)
def _(world: Documents) -> list[Document]:
    found = [p for p in world["presets"] if "building" in p["tags"]]
    french = sum("name" in p["names"].get("fr", {}) for p in found)
    return [
        {"presets": len(found), "only_tag": sum(len(p["tags"]) == 1 for p in found), "with_french_name": french},
    ]


@answers(50031)
def _(world: Documents) -> list[Document]:
    values: dict[str, list[str]] = defaultdict(list)
    for key, value in pairs(world, "removeTags"):
        values[key].append(value)
    rows = [
        {"key": key, "presets": len(found), "removed_values": sorted(set(found))}
        for key, found in values.items()
        if len(found) >= 2
    ]
    return sorted(rows, key=lambda row: (-row["presets"], row["key"]))


# --- fields, menus and retired tags of several shapes -------------------------------------------


@answers(50032)
def _(world: Documents) -> list[Document]:
    return ranked((f["type"] for f in world["fields"]), "type", "fields", least=5)


@answers(50033)
def _(world: Documents) -> list[Document]:
    forms = {(True, True): "both", (True, False): "key only", (False, True): "keys only", (False, False): "neither"}
    return ranked((forms["key" in f, "keys" in f] for f in world["fields"]), "form", "fields")


@answers(50034)
def _(world: Documents) -> list[Document]:
    shapes = {
        ("keyNot",): "keyNot",
        ("key",): "key",
        ("key", "value"): "key=value",
        ("key", "valueNot"): "key!=valueNot",
    }
    found = (shapes[tuple(sorted(f["prerequisiteTag"]))] for f in world["fields"] if "prerequisiteTag" in f)
    return ranked(found, "shape", "fields")


@answers(50035)
def _(world: Documents) -> list[Document]:
    rows = [
        {"field": f["_id"], "key_not": f["prerequisiteTag"]["keyNot"], "type": f["type"]}
        for f in world["fields"]
        if "keyNot" in f.get("prerequisiteTag", {})
    ]
    return sorted(rows, key=lambda row: row["field"])


@answers(50036)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for f in world["fields"]:
        options = f["texts"].get("en", {}).get("options", {}).values()
        objects = sum(isinstance(text, dict) for text in options)
        if objects:
            rows.append({"field": f["_id"], "as_object": objects, "as_text": len(options) - objects})
    return sorted(rows, key=lambda row: row["field"])


@answers(50037)
def _(world: Documents) -> list[Document]:
    options = by_id(world["fields"])["parking"]["texts"]["de"]["options"]
    return [
        {"option": option, "title": text["title"], "description": text["description"]}
        for option, text in sorted(options.items())
        if isinstance(text, dict)
    ]


@answers(50038)
def _(world: Documents) -> list[Document]:
    options = (f["texts"].get("en", {}).get("options", {}) for f in world["fields"])
    return ranked((option_title(found["yes"]) for found in options if "yes" in found), "title", "fields", least=2)


@answers(50039)
def _(world: Documents) -> list[Document]:
    found = Counter(f.get("minValue") for f in world["fields"] if f["type"] == "number")
    return [{"min_value": least, "fields": n} for least, n in found.most_common()]


@answers(50040)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "title": m["names"]["en"]["name"] if m["kind"] == "category" else m["geometry"],
            "kind": m["kind"],
            "members": len(m["members"]),
        }
        for m in world["menus"]
    ]
    return sorted(rows, key=lambda row: (-row["members"], row["title"]))


@answers(50041)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for m in world["menus"]:
        if m["kind"] == "default":
            categories = sum(member.startswith("category-") for member in m["members"])
            presets = len(m["members"]) - categories
            rows.append({"geometry": m["geometry"], "categories": categories, "presets": presets})
    return sorted(rows, key=lambda row: row["geometry"])


@answers(50042)
def _(world: Documents) -> list[Document]:
    presets = by_id(world["presets"])
    rows = [
        {
            "category": m["names"]["en"]["name"],
            "geometries": sorted({g for member in m["members"] for g in presets[member]["geometry"]}),
        }
        for m in world["menus"]
        if m["kind"] == "category"
    ]
    return sorted(rows, key=lambda row: row["category"])


@answers(50043)
def _(world: Documents) -> list[Document]:
    keys: dict[str, list[str]] = {"deprecated": [], "discarded": []}
    for entry in world["retired_tags"]:
        keys[entry["kind"]] += [entry["key"]] if "key" in entry else entry["old"]
    return [{"kind": kind, "mentions": len(found), "different_keys": len(set(found))} for kind, found in keys.items()]


@answers(50044)
def _(world: Documents) -> list[Document]:
    found = (entry["key"].partition(":") for entry in world["retired_tags"] if "key" in entry)
    return ranked((prefix for prefix, colon, _ in found if colon), "prefix", "keys", least=2)


@answers(50045)
def _(world: Documents) -> list[Document]:
    forms = {("key", "value"): "key and value", ("key",): "key only", ("rtype",): "rtype"}
    found = {
        name: Counter(forms[tuple(sorted(d["reference"]))] for d in world[name] if "reference" in d)
        for name in ("presets", "fields")
    }
    return [
        {"form": form, "presets": found["presets"][form], "fields": found["fields"][form]} for form in forms.values()
    ]


@answers(50046)
def _(world: Documents) -> list[Document]:
    found = (item[1:-1] for p in world["presets"] for item in set(p.get("fields", ())) if item[0] == "{")
    return ranked(found, "source", "presets", limit=10)


@answers(50047)
def _(world: Documents) -> list[Document]:
    fields = by_id(world["fields"])
    rows: list[Document] = []
    for position, item in enumerate(by_id(world["presets"])["amenity/cafe"]["fields"]):
        if item in fields:
            texts = fields[item]["texts"].get("en", {})
            label = {"label": texts["label"]} if "label" in texts else {}
            rows.append({"position": position, **label, "type": fields[item]["type"]})
    return rows


@answers(50048)
def _(world: Documents) -> list[Document]:
    fields = by_id(world["fields"])
    top = ranked((item for p in world["presets"] for item in named(p)), "field", "presets", limit=10)
    return [{**row, "type": fields[row["field"]]["type"]} for row in top]


@answers(50049)
def _(world: Documents) -> list[Document]:
    used = {item for p in world["presets"] for item in named(p)}
    return ranked((f["type"] for f in world["fields"] if f["_id"] not in used), "type", "fields", least=2)


@answers(50050)
def _(world: Documents) -> list[Document]:
    types: dict[str, list[Document]] = defaultdict(list)
    for f in world["fields"]:
        types[f["type"]].append(f)
    rows = [
        {
            "type": kind,
            "fields": len(found),
            "with_options": sum("options" in f for f in found),
            "with_prerequisite": sum("prerequisiteTag" in f for f in found),
            "closed": sum(f.get("customValues") is False for f in found),
        }
        for kind, found in types.items()
        if len(found) >= 10
    ]
    return sorted(rows, key=lambda row: (-row["fields"], row["type"]))


@answers(50051)
def _(world: Documents) -> list[Document]:
    rows = [
        {"field": f["_id"], "without_icon": sorted(set(f["options"]) - f["icons"].keys())}
        for f in world["fields"]
        if "icons" in f and "options" in f
    ]
    return sorted((row for row in rows if row["without_icon"]), key=lambda row: row["field"])


@answers(50052)
def _(world: Documents) -> list[Document]:
    fields = by_id(world["fields"])
    found = (f["stringsCrossReference"][1:-1] for f in world["fields"] if "stringsCrossReference" in f)
    return [
        {**row, "english_options": len(fields[row["source"]]["texts"]["en"]["options"])}
        for row in ranked(found, "source", "borrowers")
    ]


@answers(50053)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for f in sorted(world["fields"], key=lambda f: (f["type"], f["_id"])):
        texts = f["texts"].get("en", {})
        if f.get("universal"):
            label = {"label": texts["label"]} if "label" in texts else {}
            rows.append({"field": f["_id"], "type": f["type"], **label})
    return rows


@answers(50054)
def _(world: Documents) -> list[Document]:
    fields = by_id(world["fields"])
    borrowers: dict[str, list[str]] = defaultdict(list)
    for f in world["fields"]:
        if "label" in f:
            borrowers[f["label"].strip("{}")].append(f["_id"])
    lenders = sorted(borrowers, key=lambda lender: (-len(borrowers[lender]), lender))[:5]
    return [
        {
            "lender": lender,
            "english_label": fields[lender]["texts"]["en"]["label"],
            "borrowers": sorted(borrowers[lender]),
        }
        for lender in lenders
    ]


@answers(50055)
def _(world: Documents) -> list[Document]:
    presets = by_id(world["presets"])
    rows = [
        {"preset": name, "source": p["name"][1:-1], "english_name": presets[p["name"][1:-1]]["names"]["en"]["name"]}
        for name, p in presets.items()
        if "name" in p and "line" in p["geometry"] and not name.startswith("@")
    ]
    return sorted(rows, key=lambda row: row["preset"])


@answers(50056)
def _(world: Documents) -> list[Document]:
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    for f in world["fields"]:
        for language, texts in f["texts"].items():
            found[language].update(isinstance(text, dict) for text in texts.get("options", {}).values())
    return [{"language": lang, "as_text": n[False], "as_object": n[True]} for lang, n in sorted(found.items())]


# --- names by language, what is missing, releases -----------------------------------------------


@answers(50057)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for language in ("de", "en", "es", "fr", "it", "ja", "nl", "pl"):
        found = [p["names"][language] for p in world["presets"] if language in p["names"]]
        rows.append(
            {
                "language": language,
                "presets": sum("name" in texts for texts in found),
                "with_aliases": sum("aliases" in texts for texts in found),
                "terms": sum(len(texts.get("terms", ())) for texts in found),
            }
        )
    return rows


@answers(50058)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for p in world["presets"]:
        for name, n in Counter(texts["name"] for texts in p["names"].values() if "name" in texts).items():
            rows += [{"preset": p["_id"], "shared_name": name, "languages": n}] if n >= 6 else []
    return sorted(rows, key=lambda row: (-row["languages"], row["preset"]))


@answers(50059)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for language in ("de", "es", "fr", "it", "ja", "nl", "pl"):
        labels = [
            (f["texts"].get("en", {}).get("label"), f["texts"].get(language, {}).get("label")) for f in world["fields"]
        ]
        both = [(english, other) for english, other in labels if english and other]
        same = sum(english == other for english, other in both)
        rows.append({"language": language, "same": same, "percent": round(100 * same / len(both), 1)})
    return sorted(rows, key=lambda row: -row["percent"])


@answers(50060)
def _(world: Documents) -> list[Document]:
    rows = [
        {"preset": p["_id"], "english": p["names"]["en"]["name"], "polish": p["names"]["pl"]["name"]}
        for p in world["presets"]
        if "highway" in p["tags"] and p["names"].keys() >= {"en", "pl"} and "it" not in p["names"]
    ]
    return sorted(rows, key=lambda row: row["preset"])


@answers(50061)
def _(world: Documents) -> list[Document]:
    found = Counter((f["type"], f.get("caseSensitive")) for f in world["fields"])
    return [
        {"type": t, "is_true": found[t, True], "is_false": found[t, False], "is_missing": found[t, None]}
        for t in ("combo", "semiCombo", "typeCombo")
    ]


@answers(50062)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[str]] = {
        name: [
            code.upper()
            for d in world[name]
            for code in d.get("locationSet", {}).get("include", ())
            if code != "Planet"
        ]
        for name in ("presets", "fields")
    }
    together = ranked((code for codes in found.values() for code in codes), "code", "n", least=3)
    return [
        {"code": r["code"], "presets": found["presets"].count(r["code"]), "fields": found["fields"].count(r["code"])}
        for r in together
    ]


@answers(50063)
def _(world: Documents) -> list[Document]:
    years: dict[int, list[int]] = defaultdict(list)
    for release in world["releases"]:
        if "date" in release:
            years[release["date"].year].append(len(release["changes"]))
    return [{"year": year, "releases": len(n), "changes": sum(n)} for year, n in sorted(years.items())]


@answers(50064)
def _(world: Documents) -> list[Document]:
    mentions: dict[str, list[Document]] = defaultdict(list)
    for release in world["releases"]:
        for change in release["changes"]:
            for person in change.get("people", ()):
                mentions[person].append(release)
    rows = [
        {
            "person": person,
            "changes": len(found),
            "releases": len({release["_id"] for release in found}),
            "first_dated": min(release["date"] for release in found if "date" in release),
        }
        for person, found in mentions.items()
        if len(found) >= 12
    ]
    return sorted(rows, key=lambda row: (-row["changes"], row["person"]))


@answers(50065)
def _(world: Documents) -> list[Document]:
    dated = sorted((r for r in world["releases"] if "date" in r), key=lambda r: (r["date"], r["_id"]))
    rows = [
        {"version": after["_id"], "date": after["date"], "days": (after["date"] - before["date"]).days}
        for before, after in pairwise(dated)
    ]
    return sorted(rows, key=lambda row: (-row["days"], row["version"]))[:5]
