"""`groundql bench report`, `compare` and `study`: what they print, and how they answer bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from faces.command import CommandLine
from unit.bench.report.runs import make_run, make_suite


@pytest.fixture
def run(tmp_path: Path) -> Path:
    outcomes, again = {"sag": "cccv", "react": "cvvv"}, {"sag": "ccvv", "react": "cvvv"}
    return make_run(tmp_path / "a", make_suite(tmp_path / "suite"), outcomes, again)


def test_tables_go_to_standard_output_and_notes_beside_it(command: CommandLine, run: Path) -> None:
    ran = command("bench", "report", str(run))
    assert ran.code == 0, ran.err
    assert [
        title for title in ("Table I.", "Table III.", "Table IV.", "Table V.", "Costs") if title not in ran.out
    ] == []
    assert "asked several times" in ran.err


def test_json_holds_unrounded_figures(command: CommandLine, run: Path) -> None:
    tables = command("bench", "report", str(run), "--format", "json", "--tables", "III").data["tables"]
    assert [t["key"] for t in tables] == ["III", "III-outcomes", "III-databases", "III-paired"]
    assert tables[0]["rows"][0]["exc strict"]["value"] == 0.75


def test_the_page_is_written_into_the_run(command: CommandLine, run: Path) -> None:
    ran = command("bench", "report", str(run), "--html")
    assert (ran.code, ran.out) == (0, "")
    assert (run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_two_solvers_of_a_run_are_compared(command: CommandLine, run: Path) -> None:
    data = command("bench", "compare", str(run), str(run), "--against", "react", "--format", "json").data
    assert [(c["wins"], c["losses"], c["p"]) for c in data["comparisons"]] == [(2, 0, 0.5)] * 2
    assert {f["right"] for f in data["flips"]} == {"sag"}


def test_churn_is_told_per_solver(command: CommandLine, run: Path) -> None:
    rows = command("bench", "study", "churn", str(run), "--format", "json").data
    assert {r["system"]: r["flipped_share"] for r in rows} == {"sag": 0.25, "react": 0.0}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "{}/none"], "no such folder"),
        (["report", "{}", "--against", "nobody"], "there is no solver 'nobody'"),
        (["compare", "{}", "{}"], "one solver of one run"),
        (["compare", "{}", "{}", "--solver", "nobody"], "holds no solver 'nobody'"),
        (["report", "{}", "--audit", "{}/manifest.json"], "is no audit"),
        (["report", "{}", "--tables", "VII"], "there is no table 'VII'"),
    ],
)
def test_bad_input_is_told_in_one_line(command: CommandLine, run: Path, arguments: list[str], said: str) -> None:
    ran = command("bench", *(argument.replace("{}", str(run)) for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert [said in line for line in ran.lines if line.startswith("error:")] == [True]
