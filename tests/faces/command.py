"""Run the command line in this process, as a user would: arguments and standard input in, three results out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from groundql.faces.cli import app, run

ANSI = re.compile(r"\x1b\[")
OURS = ("GROUNDQL_", "OPENAI_", "ANTHROPIC_", "DEEPSEEK_", "OLLAMA_", "MONGODB_URI", "MDB_MCP_", "NO_COLOR", "FORCE_")


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()


@dataclass(frozen=True)
class CommandLine:
    """Commands in a home of their own: no settings, keys or caches of the machine reach them."""

    home: Path
    variables: Mapping[str, str]

    def environment(self, **more: str) -> dict[str, str | None]:
        hidden: dict[str, str | None] = {name: None for name in os.environ if name.startswith(OURS)}
        own = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"), "TERM": "xterm", "COLUMNS": "120"}
        return hidden | own | dict(self.variables) | more

    def __call__(self, *arguments: str, stdin: str = "", **variables: str) -> Ran:
        """Run one command in this process."""
        with CliRunner().isolation(input=stdin, env=self.environment(**variables)) as (out, err, _):
            code = run(app, list(arguments))
            sys.stdout.flush()
            return Ran(code, out.getvalue().decode(), err.getvalue().decode())

    def process(self, *arguments: str, stdin: str = "", cwd: Path | None = None, **variables: str) -> Ran:
        """Run one command as a process of its own."""
        done = subprocess.run(
            [*COMMAND, *arguments], input=stdin, capture_output=True, text=True, timeout=60, cwd=cwd or self.home,
            env=self.process_environment(**variables), check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    def process_environment(self, **variables: str) -> dict[str, str]:
        own = self.environment(**variables)
        merged = {**os.environ, **{n: v for n, v in own.items() if v is not None}}
        return {name: value for name, value in merged.items() if own.get(name, value) is not None}


COMMAND = (sys.executable, "-c", "from groundql.faces.cli import main; main()")
