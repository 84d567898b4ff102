"""Run the documented transcripts again: to compare them with what is printed now, or to write them anew.

    python tests/docs/replay.py docs/quickstart.md ...     writes the output of every command anew

In a page, a block marked `json draft=1.1` is what a stand-in for the model replies in attempt 1, round 1; a block
marked `... file=NAME` is a file in the folder where the commands run; a `console recorded` block is left alone.
`sample:NAME` and `mongodb://localhost:27017/NAME` are databases on a server that lives as long as the replay.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import anyio
from typer.testing import CliRunner

from docs.pages import ROOT, Block, Command, blocks, commands, is_ours
from faces.command import CommandLine
from faces.stub_model import StubModel
from groundql.databases.load import load
from groundql.faces.cli import app, run
from groundql.faces.samples import resolve_db
from groundql.solvers.prompting import APPROACHES

LOCALHOST = "localhost:27017"


@dataclass(frozen=True)
class Stage:
    """Where commands are run again: a server at a host and port, and a home for the command line."""

    host: str
    command: CommandLine

    def with_sample(self, name: str) -> None:
        """Load a sample world under its own name."""
        anyio.run(lambda: load(Path(resolve_db(f"sample:{name}")), f"mongodb://{self.host}/", name, existing="replace"))

    def outputs(self, page: Path) -> Iterator[tuple[Block, Command, str]]:
        """Run the commands of a page's blocks and yield each with what it prints now."""
        shown = list(blocks(page.read_text(encoding="utf-8")))
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), StubModel(_stand_in(shown)) as model:
            for block in shown:
                if name := block.option("file"):
                    Path(name).parent.mkdir(parents=True, exist_ok=True)
                    Path(name).write_text(block.text, encoding="utf-8")
                if block.language == "console" and "recorded" not in block.words:
                    for command in commands(block):
                        yield block, command, self._output(command, model) if is_ours(command) else command.output

    def _output(self, command: Command, model: StubModel) -> str:
        arguments = [self._here(a) for a in command.arguments]
        given = Path(command.input_file).read_text("utf-8") if command.input_file else ""
        variables = {**model.variables, "MONGODB_URI": "", "GROUNDQL_CACHE_REPLIES": "false", "COLUMNS": "100"}
        environment = self.command.environment(**variables)
        with CliRunner().isolation(input=given, env=environment) as (_, _, both):
            code = run(app, arguments)
            sys.stdout.flush()
            text = both.getvalue().decode().replace(self.host, LOCALHOST)
        shown = "\n".join(line.rstrip() for line in text.splitlines() if line.strip() or code == 0).strip("\n")
        return shown

    def _here(self, argument: str) -> str:
        if argument.startswith("sample:"):
            return f"mongodb://{self.host}/{argument.removeprefix('sample:')}"
        return argument.replace(LOCALHOST, self.host)


def _stand_in(shown: list[Block]) -> Any:
    drafts = {block.option("draft"): json.loads(block.text) for block in shown if block.option("draft")}

    def reply(body: Mapping[str, Any]) -> str:
        said = [str(m["content"]) for m in body["messages"]]
        told = (n for n, (_, words) in enumerate(APPROACHES, 1) if words and any(words in text for text in said))
        attempt = next(told, 1)
        turn = 2 if any(m["role"] == "assistant" for m in body["messages"]) else 1
        found = drafts.get(f"{attempt}.{turn}") or drafts.get(f"1.{turn}") or drafts.get("1.1")
        return json.dumps(found)

    return reply


def normal(output: str) -> list[str]:
    """Leave out what differs from run to run: times, widths, and the order of lines about parts read side by side.

    How many rows leave each stage is counted within a bound on time, so a slow machine shows `?` for some.
    """
    lines = [re.sub(r"\d+(\.\d+)?(?= s\b)|\d+\.\d+$", "N", line.strip()) for line in output.splitlines()]
    lines = [re.sub(r" ([\d,]+|\?)(?= →|$)", " N", line) if line.startswith("rows ") else line for line in lines]
    return sorted(re.sub(r"─+", "─", re.sub(r"\s+", " ", line)) for line in lines if line)


def rewrite(page: Path, stage: Stage) -> None:
    """Write the outputs of a page's commands anew."""
    text = page.read_text(encoding="utf-8")
    new: dict[int, tuple[Block, list[str]]] = {}
    for block, command, output in stage.outputs(page):
        shown = f"$ {command.line}\n{output}\n" if output else f"$ {command.line}\n"
        new.setdefault(block.start, (block, []))[1].append(shown)
    for start, (block, parts) in sorted(new.items(), reverse=True):
        text = text[:start] + "\n".join(parts) + text[block.end :]
    page.write_text(text, encoding="utf-8")


def main() -> None:
    from groundql.databases.embedded import EmbeddedServer

    with EmbeddedServer() as server, tempfile.TemporaryDirectory() as home:
        host = server.uri.removeprefix("mongodb://").rstrip("/")
        stage = Stage(host, CommandLine(Path(home), {"GROUNDQL_CACHE_DIR": f"{home}/cache"}))
        stage.with_sample("atlas")
        for name in sys.argv[1:]:
            rewrite(ROOT / name, stage)


if __name__ == "__main__":
    main()
