"""Build the world ``emoji`` from the npm package emojibase-data (MIT, Unicode data under Unicode-3.0).

npm pack emojibase-data@17.0.0 && tar xzf emojibase-data-17.0.0.tgz
python worlds/build_emoji.py package src/groundql/bench/worlds/data/emoji
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from world_file import Document, drop_missing, read_json, write_world

LANGUAGES = ("da", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "sv", "zh")
PRESETS = ("cldr", "cldr-native", "emojibase", "emojibase-legacy", "github", "iamcal", "joypixels")


class Tables:
    """The tables of the package, each keyed by code point sequence."""

    def __init__(self, package: Path) -> None:
        self.emojis: list[Any] = read_json(package / "en" / "data.json")
        self.translations = {language: _by_code(package / language / "data.json") for language in LANGUAGES}
        self.shortcodes = {name: read_json(package / "en" / "shortcodes" / f"{name}.json") for name in PRESETS}
        self.groups = read_json(package / "meta" / "groups.json")
        self.messages = read_json(package / "en" / "messages.json")
        self.versions = {name: read_json(package / "versions" / f"{name}.json") for name in ("emoji", "unicode")}


def _by_code(path: Path) -> dict[str, Any]:
    return {entry["hexcode"]: entry for entry in read_json(path)}


def build_emojis(tables: Tables) -> list[Document]:
    """Give one document per emoji in the source's order."""
    return [build_emoji(entry, tables) for entry in tables.emojis]


def build_emoji(entry: Mapping[str, Any], tables: Tables) -> Document:
    """Turn one emoji with its names by language, its shortcodes by preset and its skin tones."""
    code = entry["hexcode"]
    return drop_missing(
        {
            "_id": code,
            "emoji": entry["emoji"],
            "text": entry["text"] or None,
            "label": entry["label"],
            "presentation": entry["type"],
            "version": entry["version"],
            "order": entry.get("order", ...),
            "group": entry.get("group", ...),
            "subgroup": entry.get("subgroup", ...),
            "gender": entry.get("gender", ...),
            "emoticon": entry.get("emoticon", ...),
            "tags": entry.get("tags", ...),
            "names": {
                language: drop_missing({"label": table[code]["label"], "tags": table[code].get("tags", ...)})
                for language, table in tables.translations.items()
                if code in table
            },
            "shortcodes": find_shortcodes(code, tables),
            "skins": [build_skin(skin, tables) for skin in entry["skins"]] if "skins" in entry else ...,
        }
    )


def build_skin(skin: Mapping[str, Any], tables: Tables) -> Document:
    """Turn one skin-toned form; two people in it have two tones."""
    return drop_missing(
        {
            "hexcode": skin["hexcode"],
            "emoji": skin["emoji"],
            "label": skin["label"],
            "version": skin["version"],
            "tone": skin.get("tone", ...),
            "gender": skin.get("gender", ...),
            "shortcodes": find_shortcodes(skin["hexcode"], tables),
        }
    )


def find_shortcodes(code: str, tables: Tables) -> Document | Any:
    """Map each preset that knows the emoji to its shortcode, or to several."""
    return {name: table[code] for name, table in tables.shortcodes.items() if code in table} or ...


def build_groups(tables: Tables) -> list[Document]:
    """Give one document per group; ids are texts as in the source, subgroups a map keyed by number."""
    titles = {entry["key"]: entry["message"] for entry in tables.messages["groups"]}
    subtitles = {entry["key"]: entry["message"] for entry in tables.messages["subgroups"]}
    keys = tables.groups["subgroups"]
    return [
        {
            "_id": number,
            "key": key,
            "title": titles[key],
            "subgroups": {
                str(child): {"key": keys[str(child)], "title": subtitles[keys[str(child)]]}
                for child in tables.groups["hierarchy"][number]
            },
        }
        for number, key in tables.groups["groups"].items()
    ]


def build_releases(tables: Tables) -> list[Document]:
    """Give one document per version of the two standards, with the characters new in it."""
    return [
        {
            "_id": f"{standard}:{version}",
            "standard": standard,
            "version": version,
            "character_count": len(characters),
            "characters": characters,
        }
        for standard, versions in tables.versions.items()
        for version, characters in sorted(versions.items(), key=lambda item: float(item[0]))
    ]


def main(package: Path, target: Path) -> None:
    """Read the unpacked package and write the world."""
    tables = Tables(package)
    collections = {
        "emojis": build_emojis(tables),
        "emoji_groups": build_groups(tables),
        "releases": build_releases(tables),
    }
    size = write_world(collections, target)
    print(f"emoji: {size} bytes, { ({name: len(documents) for name, documents in collections.items()}) }")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
