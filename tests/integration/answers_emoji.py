"""Answers to the later tasks of the world emoji, in plain Python over its documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from integration.world_answers import Answers, Document, Documents, as_list, count, order

ANSWERS = Answers()


def members(world: Documents, group: int) -> list[Document]:
    """Give the emojis of a group."""
    return [e for e in world["emojis"] if e.get("group") == group]


def skins(world: Documents) -> Iterator[tuple[Document, Document]]:
    """Give every skin form with its emoji."""
    for emoji in world["emojis"]:
        for skin in emoji.get("skins", []):
            yield emoji, skin


def titles(world: Documents) -> dict[int, str]:
    """Give the titles of groups by their numbers."""
    return {int(group["_id"]): group["title"] for group in world["emoji_groups"]}


@ANSWERS.to(40013)
def _(world: Documents) -> list[Document]:
    lengths: dict[str, list[int]] = defaultdict(list)
    for e in world["emojis"]:
        for language, name in e["names"].items():
            lengths[language].append(len(name["label"]))
    rows = [
        {"language": language, "average_length": round(sum(found) / len(found), 2)}
        for language, found in lengths.items()
    ]
    return order(rows, "-average_length", "language")


@ANSWERS.to(40014)
def _(world: Documents) -> list[Document]:
    found = (language for e in world["emojis"] for language, name in e["names"].items() if name["label"] == e["label"])
    return count(found, "language", "emojis")


@ANSWERS.to(40015)
def _(world: Documents) -> list[Document]:
    texts: dict[str, list[str]] = defaultdict(list)
    for e in world["emojis"]:
        for preset, codes in e["shortcodes"].items():
            texts[preset] += as_list(codes)
    rows = [
        {"preset": preset, "shortcodes": len(found), "longest": max(map(len, found))} for preset, found in texts.items()
    ]
    return order(rows, "preset")


@ANSWERS.to(40016)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for e in members(world, 4):
        github, iamcal = e["shortcodes"].get("github"), e["shortcodes"].get("iamcal")
        if isinstance(github, str) and isinstance(iamcal, str) and github != iamcal:
            rows.append({"label": e["label"], "github": github, "iamcal": iamcal})
    return order(rows, "label")


@ANSWERS.to(40017)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "different": len({name["label"] for name in e["names"].values()})}
        for e in world["emojis"]
    ]
    return order((row for row in rows if row["different"] <= 5), "different", "label")


@ANSWERS.to(40018)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for e in members(world, 3):
        es, pt, it = (e["names"][language]["label"] for language in ("es", "pt", "it"))
        if es == pt != it:
            rows.append({"label": e["label"], "es": es, "it": it})
    return order(rows, "label")


@ANSWERS.to(40019)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for g in world["emoji_groups"]:
        numbers = sorted(map(int, g["subgroups"]))
        rows.append(
            {"group": g["title"], "subgroups": len(numbers), "lowest": numbers[0], "highest": numbers[-1]},
        )
    return order(rows, "lowest")


@ANSWERS.to(40020)
def _(world: Documents) -> list[Document]:
    first: dict[int, Document] = {}
    for e in sorted((e for e in world["emojis"] if "order" in e), key=lambda e: e["order"]):
        first.setdefault(e["subgroup"], e)
    rows = [
        {"group": g["title"], "subgroup": s["key"], "first_emoji": first[int(number)]["label"]}
        for g in world["emoji_groups"]
        for number, s in g["subgroups"].items()
        if s["key"].startswith("transport-")
    ]
    return order(rows, "subgroup")


@ANSWERS.to(40021)
def _(world: Documents) -> list[Document]:
    return count((",".join(sorted(e["shortcodes"])) for e in world["emojis"]), "presets", "emojis", least=10)


@ANSWERS.to(40022)
def _(world: Documents) -> list[Document]:
    (heart,) = (e for e in world["emojis"] if e["label"] == "red heart")
    rows = [
        {"language": language, "name": name["label"], "tags": len(name["tags"])}
        for language, name in heart["names"].items()
    ]
    return order(rows, "-tags", "language")


@ANSWERS.to(40023)
def _(world: Documents) -> list[Document]:
    found = (tag for e in members(world, 4) for tag in set(e["names"]["de"]["tags"]))
    return count(found, "tag", "emojis", least=6)


@ANSWERS.to(40024)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "cldr": e["shortcodes"]["cldr"], "cldr_native": e["shortcodes"]["cldr-native"]}
        for e in world["emojis"]
        if "cldr-native" in e["shortcodes"]
    ]
    return order(rows, "cldr")


@ANSWERS.to(40025)
def _(world: Documents) -> list[Document]:
    found = [(preset, e["_id"]) for e, skin in skins(world) for preset in skin["shortcodes"]]
    emojis = Counter(preset for preset, _ in set(found))
    return [
        row | {"emojis": emojis[row["preset"]]} for row in count((preset for preset, _ in found), "preset", "forms")
    ]


@ANSWERS.to(40026)
def _(world: Documents) -> list[Document]:
    found = Counter((e["presentation"], e["text"] is None) for e in world["emojis"])
    return [
        {"presentation": p, "with_text": found[p, False], "without_text": found[p, True]}
        for p in sorted({p for p, _ in found})
    ]


@ANSWERS.to(40027)
def _(world: Documents) -> list[Document]:
    people = members(world, 1)
    totals = Counter(e.get("gender") for e in people)
    skinned = Counter(e.get("gender") for e in people if "skins" in e)
    ranked = sorted(totals, key=lambda gender: (-totals[gender], -(gender if gender is not None else -1)))
    return [{"gender": g, "emojis": totals[g], "with_skins": skinned[g]} for g in ranked]


@ANSWERS.to(40028)
def _(world: Documents) -> list[Document]:
    (group,) = (g for g in world["emoji_groups"] if g["key"] == "people-body")
    found = (
        group["subgroups"][str(e["subgroup"])]["title"] for e in members(world, int(group["_id"])) if "skins" not in e
    )
    return count(found, "subgroup", "emojis")


@ANSWERS.to(40029)
def _(world: Documents) -> list[Document]:
    totals = Counter(e["subgroup"] for e in members(world, 0))
    smileys = Counter(e["subgroup"] for e in members(world, 0) if "emoticon" in e)
    rows = [{"subgroup": s, "percent": round(100 * n / totals[s], 1)} for s, n in smileys.items()]
    return order(rows, "-percent", "subgroup")


@ANSWERS.to(40030)
def _(world: Documents) -> list[Document]:
    names = ("group", "tags", "skins", "gender", "emoticon")
    return [{name: sum(name not in e for e in world["emojis"]) for name in names}]


@ANSWERS.to(40031)
def _(world: Documents) -> list[Document]:
    def tally(name: str) -> list[Document]:
        found = Counter(e[name] for e in world["emojis"] if "emojibase-legacy" not in e["shortcodes"])
        return [{name: value, "emojis": n} for value, n in sorted(found.items())]

    return [{"by_version": tally("version"), "by_group": tally("group")}]


@ANSWERS.to(40032)
def _(world: Documents) -> list[Document]:
    ids = {e["_id"] for e in world["emojis"]}
    codes = {skin["hexcode"] for _, skin in skins(world)}
    rows = [
        {
            "version": r["version"],
            "characters": len(r["characters"]),
            "emojis": sum(c in ids for c in r["characters"]),
            "forms": sum(c in codes for c in r["characters"]),
            "neither": sum(c not in ids | codes for c in r["characters"]),
        }
        for r in world["releases"]
        if r["standard"] == "emoji" and len(r["characters"]) < 125
    ]
    return order(rows, "-neither", "version")


@ANSWERS.to(40033)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "version": e["version"]}
        for e in world["emojis"]
        if "group" in e and "iamcal" not in e["shortcodes"]
    ]
    return order(rows, "version", "label")


@ANSWERS.to(40034)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "emoticon": e["emoticon"], "forms": len(e["skins"])}
        for e in world["emojis"]
        if {"emoticon", "skins"} <= e.keys()
    ]
    return order(rows, "label")


@ANSWERS.to(40035)
def _(world: Documents) -> list[Document]:
    found = (text[0] for e in world["emojis"] if "emoticon" in e for text in as_list(e["emoticon"]))
    return count(found, "character", "emoticons", least=2)


@ANSWERS.to(40036)
def _(world: Documents) -> list[Document]:
    broken = [e for e in world["emojis"] if not float(e["version"]).is_integer()]
    return [
        {"version": version, "emojis": n, "groups": len({e["group"] for e in broken if e["version"] == version})}
        for version, n in sorted(Counter(e["version"] for e in broken).items())
    ]


@ANSWERS.to(40037)
def _(world: Documents) -> list[Document]:
    found = Counter((skin["version"], isinstance(skin["tone"], list)) for _, skin in skins(world))
    return [
        {"version": version, "single": found[version, False], "double": found[version, True]}
        for version in sorted({version for version, _ in found})
    ]


@ANSWERS.to(40038)
def _(world: Documents) -> list[Document]:
    rows = [{"label": e["label"], "form": skin["label"]} for e, skin in skins(world) if skin["tone"] == [1, 5]]
    return order(rows, "label")


@ANSWERS.to(40039)
def _(world: Documents) -> list[Document]:
    kinds: dict[int, list[Any]] = defaultdict(list)
    for e in world["emojis"]:
        if "group" in e and "emojibase" in e["shortcodes"]:
            kinds[e["group"]].append(isinstance(e["shortcodes"]["emojibase"], list))
    rows = [
        {"group": titles(world)[group], "texts": found.count(False), "lists": found.count(True)}
        for group, found in kinds.items()
    ]
    return order(rows, "-lists", "group")


@ANSWERS.to(40040)
def _(world: Documents) -> list[Document]:
    sizes = {r["version"]: len(r["characters"]) for r in world["releases"] if r["standard"] == "emoji"}
    found = Counter(f"{e['version']:g}" for e in world["emojis"] if e["version"] > 0)
    rows = [{"version": version, "emojis": n, "characters": sizes[version]} for version, n in found.items()]
    return order(rows, "-characters", "version")


@ANSWERS.to(40041)
def _(world: Documents) -> list[Document]:
    lists = [(e["label"], as_list(e["shortcodes"].get("joypixels", []))) for e in world["emojis"]]
    ranked = sorted(
        ((label, codes) for label, codes in lists if len(codes) >= 4), key=lambda row: (-len(row[1]), row[0])
    )
    return [{"label": label, "shortcodes": codes} for label, codes in ranked]


@ANSWERS.to(40042)
def _(world: Documents) -> list[Document]:
    return count((tag for e in members(world, 3) for tag in e["tags"]), "tag", "emojis", least=7)


@ANSWERS.to(40043)
def _(world: Documents) -> list[Document]:
    rows = [
        {"label": e["label"], "others": sorted(set(e["tags"]) - {"face", "cat"})}
        for e in world["emojis"]
        if {"face", "cat"} <= set(e.get("tags", []))
    ]
    return order(rows, "label")


@ANSWERS.to(40044)
def _(world: Documents) -> list[Document]:
    shared = {
        e["label"]: sorted(set(e["tags"]) & set(e["names"]["de"].get("tags", [])))
        for e in world["emojis"]
        if "tags" in e
    }
    return order(({"label": label, "shared": tags} for label, tags in shared.items() if len(tags) >= 4), "label")


@ANSWERS.to(40045)
def _(world: Documents) -> list[Document]:
    sizes = [len(e.get("tags", [])) for e in world["emojis"]]
    bounds = [0, 1, 3, 6, 11, 1000]
    return [{"at_least": low, "emojis": sum(low <= size < high for size in sizes)} for low, high in pairwise(bounds)]
