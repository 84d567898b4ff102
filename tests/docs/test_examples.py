"""The transcripts in the pages are what is printed, and the Python examples run."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.pages import ROOT, blocks, is_ours, name_of, pages
from docs.replay import LOCALHOST, Stage, normal
from faces.stub_model import draft

TRANSCRIPTS = [p for p in pages() if any(b.language == "console" for b in blocks(p.read_text(encoding="utf-8")))]
PYTHON = ROOT / "docs" / "python.md"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", TRANSCRIPTS, ids=name_of)
def test_a_transcript_is_what_is_printed(stage: Stage, page: Path) -> None:
    for _, command, output in stage.outputs(page):
        assert is_ours(command)
        assert normal(output) == normal(command.output), f"{command.line}: python tests/docs/replay.py {name_of(page)}"


def test_every_transcript_was_recorded() -> None:
    for page in TRANSCRIPTS:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "console":
                assert block.text.count("\n") > block.text.count("$ groundql"), name_of(page)


EXAMPLES = [b.text for b in blocks(PYTHON.read_text(encoding="utf-8")) if b.language == "python"]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_a_python_example_runs(stage: Stage, number: int) -> None:
    text = EXAMPLES[number].replace(LOCALHOST, stage.host)
    # a model that answers is brought along where the example names one that needs a key
    if 'model="openai:gpt-5"' in text:
        reply = draft("places", {"$match": {"kind": "airport"}}, {"$count": "airports"})
        text = f"from groundql.llm.scripted import Scripted\n{text}"
        text = text.replace('model="openai:gpt-5"', f"model=Scripted([{reply!r}] * 3)")
    printed = io.StringIO()
    with CliRunner().isolation(env=stage.command.environment()), contextlib.redirect_stdout(printed):
        exec(compile(text, f"{PYTHON.name} example {number + 1}", "exec"), {"__name__": "__main__"})
    if "print(" in text:
        assert printed.getvalue().strip()


def test_the_readme_shows_python_that_compiles() -> None:
    found = [b.text for b in blocks((ROOT / "README.md").read_text(encoding="utf-8")) if b.language == "python"]
    assert found
    for text in found:
        compile(text, "README.md", "exec")
        assert re.search(r"^import groundql$", text, re.MULTILINE)
