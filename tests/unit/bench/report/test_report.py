"""The report's tables and page, and comparisons, from scored runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groundql.bench.case import CaseId
from groundql.bench.compare import compare
from groundql.bench.report.departing import first_wrong_stage
from groundql.bench.report.page import inert, write_page
from groundql.bench.report.reading import Material, gather
from groundql.bench.report.table import Figure, Table
from groundql.bench.report.tables import make_tables
from groundql.bench.report.writing import to_csv, to_markdown
from groundql.core.program import MqlProgram
from groundql.errors import InputError
from unit.bench.report.runs import NASTY, make_run, make_suite

OUTCOMES = {"sag": "cccv", "rich-direct": "cvvn", "path-card": "ccvv"}


@pytest.fixture
def material(tmp_path: Path) -> Material:
    run = make_run(tmp_path / "a", make_suite(tmp_path / "suite"), OUTCOMES)
    return gather([run])


def table(material: Material, key: str) -> Table:
    return next(one for one in make_tables(material) if one.key == key)


def test_the_main_table_gives_both_protocols_with_intervals(material: Material) -> None:
    row = table(material, "III").rows[0]
    for protocol in ("tend-v1", "strict"):
        figure = row[f"exc {protocol}"]
        assert isinstance(figure, Figure)
        assert (figure.value, figure.of) == (0.75, 4)
        assert figure.low < 0.75 < figure.high


def test_outcomes_sum_to_one(material: Material) -> None:
    for row in table(material, "III-outcomes").rows:
        parts = ("correct", "no_submission", "invalid", "exec_error", "empty", "structural", "value_mismatch")
        assert sum(row[part] for part in parts) == pytest.approx(1)


def test_failures_stay_in_the_denominator(material: Material) -> None:
    row = next(r for r in table(material, "III").rows if r["arm"] == "rich-direct")
    assert row["exc strict"].value == 0.25


def test_slices_count_their_tasks(material: Material) -> None:
    found = {
        r["slice"]: r for r in table(material, "IV").rows if r["axis"] == "schema_flex" and r["protocol"] == "strict"
    }
    assert found["dynamic_key_object"]["tasks"] == 2
    assert found["attribute_bag"]["arm sag"].value == 0.5


def test_the_ladder_stands_against_the_full_solver_and_baselines_stay_out(material: Material) -> None:
    rows = [r for r in table(material, "V").rows if r["protocol"] == "strict"]
    assert [(r["part"], r["arm"]) for r in rows] == [("reference", "sag"), ("ladder", "path-card")]
    assert (rows[1]["delta"].value, rows[1]["wins"], rows[1]["losses"]) == (-0.25, 1, 0)


def test_costs_are_told_per_task_and_per_correct_answer(material: Material) -> None:
    rows = {r["per"]: r for r in table(material, "costs").rows if r["arm"] == "sag"}
    assert rows["task"]["cost_usd"] == pytest.approx(0.01)
    assert rows["correct, strict"]["cost_usd"] == pytest.approx(0.04 / 3)


def test_an_audit_adds_figures_over_decidable_tasks(tmp_path: Path, material: Material) -> None:
    audit = tmp_path / "audit.jsonl"
    lines = [{"db_id": "x", "record_id": 1, "decidable": True}, {"db_id": "y", "record_id": 4, "decidable": False}]
    audit.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = gather([tmp_path / "a"], audits=[audit])
    assert found.decidable == {CaseId("x", 1): True, CaseId("y", 4): False}
    assert table(found, "III").rows[0]["decidable strict"].value == 1.0


def test_tables_are_written_as_markdown_and_csv(material: Material) -> None:
    made = make_tables(material)
    assert "| sag | scripted:x | 4 | 75.0 (30.1 to 95.4) |" in "\n".join(map(to_markdown, made))
    assert "III,sag / scripted:x,EXC strict,0.75,0.300642,0.954413,4" in to_csv(made).splitlines()


def test_stored_text_never_becomes_markup(material: Material) -> None:
    page = write_page(material, make_tables(material))
    assert NASTY not in page
    assert page.count("<img") == 0
    assert "http" not in re.sub(r"http-equiv", "", page)
    bodies = re.findall(r'<script type="application/json" id="task-0">(.*?)</script>', page)
    assert json.loads(bodies[0])["gold"]["rows"]["cells"] == [[NASTY]]


def test_inert_json_is_still_the_same_data() -> None:
    assert json.loads(inert({"a": NASTY + "\u2028&"})) == {"a": NASTY + "\u2028&"}


def test_runs_of_different_suites_are_refused(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / n, make_suite(tmp_path / f"suite-{n}"), {"sag": "cccc"}) for n in ("a", "b")]
    with pytest.raises(InputError, match="different tasks"):
        gather(runs)


def test_a_run_that_was_not_scored_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(InputError, match="no verdicts"):
        gather([tmp_path / "a"])


def test_flips_are_listed_in_both_directions(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", make_suite(tmp_path / "suite"), {"sag": "ccvv", "react": "cvcv"})
    found = gather([run])
    comparisons, flips = compare(found.arms[0], found.arms[1], found.suite)
    assert [(c.pairing.both, c.pairing.wins, c.pairing.losses, c.pairing.p) for c in comparisons] == [
        (1, 1, 1, 1.0)
    ] * 2
    assert [(f.id.record_id, f.right) for f in flips if f.protocol == "strict"] == [(2, "sag"), (3, "react")]


def test_the_first_stage_that_departs_is_marked_and_names_of_columns_do_not_count() -> None:
    gold = MqlProgram("c", ({"$match": {"a": 1}}, {"$group": {"_id": "$b", "n": {"$sum": 1}}}))
    renamed = MqlProgram("c", ({"$match": {"a": 1}}, {"$group": {"_id": "$b", "count": {"$sum": 1}}}))
    other = MqlProgram("c", ({"$match": {"a": 2}}, {"$group": {"_id": "$b", "n": {"$sum": 1}}}))
    short = MqlProgram("c", ({"$match": {"a": 1}},))
    assert first_wrong_stage(gold, renamed) is None
    marks = [first_wrong_stage(gold, program) for program in (other, short, MqlProgram("d", gold.stages))]
    assert [mark and mark.stage for mark in marks] == [0, 0, 0]
    assert [mark and mark.why[:5] for mark in marks] == ["has 2", "ends ", "reads"]
