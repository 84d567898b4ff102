"""The documentation as data: pages, headings, links, fenced blocks and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<text>.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, and its text with the place in the page."""

    language: str
    words: tuple[str, ...]
    text: str
    start: int
    end: int

    def option(self, name: str) -> str:
        return next((w.partition("=")[2] for w in self.words if w.startswith(f"{name}=")), "")


@dataclass(frozen=True)
class Command:
    """A command line of a `console` block and what is printed below it."""

    line: str
    output: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line.replace("\\\n", ""), comments=True)

    @property
    def arguments(self) -> list[str]:
        """The arguments of groundql, without redirections."""
        words = self.words
        return words[1 : words.index("<")] if "<" in words else words[1:]

    @property
    def input_file(self) -> str:
        words = self.words
        return words[words.index("<") + 1] if "<" in words else ""


def pages() -> list[Path]:
    """The README, the pages below docs, and the other pages that people read."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language, *words = found["info"].split() or [""]
        yield Block(language, tuple(words), found["body"], found.start("body"), found.end("body"))


def commands(block: Block) -> list[Command]:
    """Split a console block into commands, each with its output; a command goes on while a quote is open."""
    found: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif found and is_open(found[-1].line):
            found[-1] = replace(found[-1], line=f"{found[-1].line}\n{line}")
        elif found:
            found[-1] = replace(found[-1], output=f"{found[-1].output}{line}\n")
    return [replace(c, output=c.output.strip("\n")) for c in found]


def is_open(line: str) -> bool:
    """Whether a command goes on in the next line: after a backslash, or inside quotes."""
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return True
    return line.endswith("\\")


def documented_commands(page: Path) -> list[Command]:
    """Every groundql command that a page shows, in console and in shell blocks."""
    text = page.read_text(encoding="utf-8")
    shown: list[Command] = []
    for block in blocks(text):
        if block.language == "console":
            shown += commands(block)
        elif block.language in ("sh", "shell", "bash"):
            joined = block.text.replace("\\\n", "")
            shown += [Command(line, "") for line in joined.splitlines()]
    return [c for c in shown if is_ours(c)]


def is_ours(command: Command) -> bool:
    return command.line.strip().startswith("groundql ")


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of headings."""
    plain = FENCE.sub("", text)
    return {re.sub(r"[^\w\- ]", "", h["text"].lower()).replace(" ", "-") for h in HEADING.finditer(plain)}


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", text)


def links(text: str) -> Sequence[str]:
    return [found["target"] for found in LINK.finditer(prose(text))]
