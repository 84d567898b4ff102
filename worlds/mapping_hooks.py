"""What the specification of the world ``mapping`` cannot say: texts by language, retired tags, the change log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from groundql.bench.construct.sources import Sources
from groundql.bench.construct.values import to_date

Document = dict[str, Any]
Row = Mapping[str, Any]

LISTS = {"terms": ",", "aliases": "\n"}
"""Lists that the source writes as one text, with what parts them."""


def preset_names(row: Row, sources: Sources) -> Document:
    """Map each language that names a preset to its texts."""
    return find_texts("presets", row["key"], sources)


def field_texts(row: Row, sources: Sources) -> Document:
    """Map each language that has texts for a field to them; an option's is a text, or a title with a description."""
    return find_texts("fields", row["key"], sources)


def category_names(row: Row, sources: Sources) -> Document:
    """Map each language that names a category to its texts."""
    return find_texts("categories", row["key"], sources)


def find_texts(table: str, name: str, sources: Sources) -> Document:
    """Map each language to the texts of one entry; languages without any are left out."""
    found = {row["file"]: row[row["file"]]["presets"][table].get(name) for row in sources.rows("translations")}
    return {language: split_lists(texts) for language, texts in found.items() if texts}


def split_lists(texts: Row) -> Document:
    """Take terms apart at commas and aliases at ends of line."""
    return {key: split_list(value, LISTS[key]) if key in LISTS else value for key, value in texts.items()}


def split_list(text: str, mark: str) -> list[str]:
    """Take a list apart that is written as one text."""
    return [part.strip() for part in text.split(mark) if part.strip()]


def retired_tags(sources: Sources) -> list[Document]:
    """Give the deprecated bags of tags with what replaces them, then the keys that are discarded, numbered through."""
    deprecated = [{"kind": "deprecated", **row} for row in sources.rows("deprecated")]
    discarded = [{"kind": "discarded", "key": row["key"]} for row in sources.rows("discarded")]
    return [{"_id": number, **entry} for number, entry in enumerate([*deprecated, *discarded], start=1)]


def releases(sources: Sources) -> list[Document]:
    """Give one document per release of the schema that the change log tells of, newest first."""
    log = (sources.folder / "id-tagging-schema" / "CHANGELOG.md").read_text(encoding="utf-8")
    links = dict(re.findall(r"^\[#(\d+)\]: \S+/(pull|issues)/\1$", log, flags=re.MULTILINE))
    chapters = re.findall(r"^# (\d+\.\d+\.\d+)$(.*?)(?=^# |\Z)", log, flags=re.MULTILINE | re.DOTALL)
    return [build_release(version, text, links) for version, text in chapters]


def build_release(version: str, text: str, links: Mapping[str, str]) -> Document:
    """Turn one chapter of the change log: the day where it is told, and the changes in their order."""
    day = re.search(r"^##### (\S+)\s*$", text, flags=re.MULTILINE)
    date = {"date": to_date(datetime.strptime(day[1], "%Y-%b-%d").date().isoformat())} if day else {}
    return {"_id": version, **date, "changes": list(find_changes(text, links))}


def find_changes(text: str, links: Mapping[str, str]) -> Iterator[Document]:
    """Yield each bullet under its section."""
    section: Document = {}
    for line in text.splitlines():
        if line.startswith("#### "):
            section = {"section": re.sub(r":\w+:", "", line.removeprefix("#### ")).strip()}
        elif bullet := re.match(r" ?\* +(.+)", line):
            yield {**section, "text": bullet[1], **find_links(bullet[1], links)}


def find_links(text: str, links: Mapping[str, str]) -> Document:
    """Find the pull requests, issues and people that a change names; a number without a link has no kind."""
    numbers = re.findall(r"\[#(\d+)\]", text)
    refs = [{"number": int(n), **({"kind": links[n]} if n in links else {})} for n in numbers]
    people = re.findall(r"\[@([\w-]+)\]", text)
    return {**({"refs": refs} if refs else {}), **({"people": people} if people else {})}
