"""What the specification of the world ``releases`` cannot say: release notes, taken apart into sections of items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from groundql.bench.construct.sources import Sources
from groundql.bench.construct.values import to_date

Document = dict[str, Any]
PLATFORMS = ("Linux", "Mac", "MacOS", "OS X", "Windows", "macOS")
BULLET = re.compile(r"(?P<indent>\s*)[*\-]\s+(?P<text>.*)")
PULL = re.compile(
    r"\[#(\d+)\]\(https://github\.com/electron/electron/pull/\d+\)"
    r"|<a href=\"https://github\.com/electron/electron/pull/\d+\">#(\d+)</a>"
)
ALSO = re.compile(r"<span[^>]*>\(Also in .*?\)</span>")
BACKPORT = re.compile(r"\[(\d+)\]\(https://github\.com/electron/electron/pull/(\d+)\)")


def notes(release: Mapping[str, Any], sources: Sources) -> Any:
    """Give the notes of a release, where it has any."""
    return read_notes(release["body"]) or ...


def pull_requests(sources: Sources) -> list[Document]:
    """Give one document per pull request named in notes, with the releases whose notes name it in order of time."""
    pulls: dict[int, Document] = {}
    for release in sorted(sources.rows("releases"), key=lambda row: (row["published_at"], row["version"])):
        sections = read_notes(release["body"])
        for section in sections if isinstance(sections, list) else []:
            mention = {"release": release["version"], "published_at": to_date(release["published_at"])}
            mention |= {key: section[key] for key in ("section", "platform") if key in section}
            for item in section["items"]:
                note_pulls(pulls, item, mention)
    return [{key: value for key, value in pull.items() if value} for _, pull in sorted(pulls.items())]


def note_pulls(pulls: dict[int, Document], item: Mapping[str, Any], mention: Document) -> None:
    """Add a mention to the pull requests that an item of the notes and its details name, once per section."""
    for part in (item, *item.get("details", ())):
        for number in part.get("pulls", ()):
            pull = pulls.setdefault(number, {"_id": number, "mentions": [], "backports": {}})
            if mention not in pull["mentions"]:
                pull["mentions"].append(mention)
            pull["backports"] |= item.get("also_in", {})


def read_notes(body: str) -> list[Document] | str:
    """Give the sections of a release's notes; text where they list nothing, and none for a nightly.

    Shape: what stands before the first heading has no section; items under an item are its details.
    """
    reader = _Reader()
    for line in body.splitlines():
        reader.read(line.rstrip())
    sections = [section for section in reader.sections if section["items"]]
    for section in sections:
        section["items"] = [_finish(item) for item in section["items"]]
    return sections or _prose(body)


def _prose(body: str) -> str:
    lines = (line.strip() for line in body.splitlines())
    text = "\n".join(line for line in lines if line)
    return "" if text.startswith("Note: This is a") or text == "Changelog:" else text


class _Reader:
    """The sections so far; headings open one, further lines go on with what stands last."""

    def __init__(self) -> None:
        self.sections: list[Document] = [{"items": []}]
        self.open = False

    def read(self, line: str) -> None:
        bullet = BULLET.fullmatch(line)
        heading = _heading(line)
        if heading:
            self._start(heading)
        elif bullet and len(bullet["indent"]) >= 2 and self.open:
            self.sections[-1]["items"][-1].setdefault("details", []).append({"text": bullet["text"]})
        elif bullet:
            self.sections[-1]["items"].append({"text": bullet["text"]})
        elif line and self.open and "details" not in self.sections[-1]["items"][-1]:
            self.sections[-1]["items"][-1]["text"] += " " + line.strip()
        self.open = bool(line) and not heading and bool(self.sections[-1]["items"])

    def _start(self, heading: str) -> None:
        section: Document = {"items": []}
        above = self.sections[-1].get("section")
        if heading in PLATFORMS:
            section = ({"section": above} if above else {}) | {"platform": heading, "items": []}
        elif not heading.startswith("Release Notes for "):
            section = {"section": heading, "items": []}
        self.sections.append(section)


def _heading(line: str) -> str:
    text = line.strip()
    if text.startswith("#"):
        return text.lstrip("#").strip().rstrip(". ")
    bare = text.strip("*")
    return bare if bare in PLATFORMS else ""


def _finish(item: Document) -> Document:
    text: str = item["text"]
    also = {line: int(number) for span in ALSO.findall(text) for line, number in BACKPORT.findall(span)}
    text = ALSO.sub("", text)
    found: dict[str, Any] = {
        "text": _tidy(PULL.sub("", text)),
        "pulls": [int(left or right) for left, right in PULL.findall(text)],
        "also_in": also,
        "details": [_finish(detail) for detail in item.get("details", ())],
    }
    return {key: value for key, value in found.items() if value}


def _tidy(text: str) -> str:
    # What stood around the links that were taken out: brackets, and the commas of a list of them.
    bare = re.sub(r"\[\s*\]|\(\s*\)|,(?=\s*(?:,|$))", "", " ".join(text.split()))
    return " ".join(bare.split())
