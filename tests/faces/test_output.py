"""Data goes to standard output in the form that was asked for; everything else goes to standard error."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
from pathlib import Path
from typing import Any

import bson
import pytest
from rich.console import Console

from faces.command import ANSI, CommandLine, Ran
from faces.conftest import EXACT, ITEMS, named
from faces.stub_model import StubModel, draft
from groundql.core.answer import Answer, Candidate, Evidence, Outcome, Question
from groundql.core.program import MqlProgram
from groundql.core.rows import Rows
from groundql.faces.show import age_text, show_answer, show_evidence

ALL = "db.items.find({}).sort({_id: 1})"
VERBS: dict[str, tuple[str, ...]] = {
    "describe": ("describe",),
    "describe a collection": ("describe", "items"),
    "describe a path": ("describe", "items", "size"),
    "check": ("check", 'db.items.find({name: "lamp"})'),
    "run": ("run", ALL),
    "ground": ("ground", "--if-changed"),
    "doctor": ("doctor",),
    "samples list": ("samples", "list"),
    "samples tasks": ("samples", "tasks", "emoji"),
    "model status": ("model", "status"),
}


def table_of(ran: Ran) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ran.out)))


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_every_verb_writes_every_form(shop: CommandLine, verb: tuple[str, ...], form: str) -> None:
    ran = shop(*verb, "--format", form)
    assert ran.code in (0, 1)
    assert ran.out.endswith("\n")
    assert not ANSI.search(ran.out + ran.err)
    if form == "json":
        assert ran.data
    if form == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in ran.out.splitlines())
    if form == "csv":
        rows = list(csv.reader(io.StringIO(ran.out)))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 1


def test_csv_reads_back_as_it_is_stored(shop: CommandLine) -> None:
    rows = table_of(shop("run", ALL, "--format", "csv"))
    assert [row["name"] for row in rows] == [item["name"] for item in ITEMS]
    assert [row["price"] for row in rows] == [str(item["price"]) for item in ITEMS]
    assert [json.loads(row["size"]) for row in rows] == [item["size"] for item in ITEMS]
    assert [json.loads(row["tags"]) for row in rows] == [item["tags"] for item in ITEMS]
    assert [int(row["sold"]) for row in rows] == [item["sold"] for item in ITEMS]
    assert rows[0]["made"] == "2020-01-01T00:00:00Z"
    assert rows[0]["note"] == rows[1]["note"] == ""


def test_json_keeps_decimals_exact_and_null_apart_from_missing(shop: CommandLine) -> None:
    data = shop("run", ALL, "--format", "json").data
    first, second = data["rows"][:2]
    assert first["price"] == {"$numberDecimal": EXACT}
    assert "note" in first
    assert first["note"] is None
    assert "note" not in second
    assert (data["returned"], data["truncated"]) == (len(ITEMS), False)


def test_json_lines_are_the_rows_of_json(shop: CommandLine) -> None:
    lines = shop("run", ALL, "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == shop("run", ALL, "--format", "json").data["rows"]


def test_a_table_shows_stored_text_as_text(shop: CommandLine) -> None:
    out = shop("run", ALL).out
    assert "[bold]Shelf[/]" in out
    assert "Tür zwei" in out


def test_rows_and_remarks_do_not_mix(shop: CommandLine) -> None:
    ran = shop("run", "db.items.find({note: null})", "--format", "jsonl")
    assert len(ran.out.splitlines()) == len(ITEMS)
    assert "rows" in ran.err


def test_a_row_limit_is_told_beside_the_rows(shop: CommandLine) -> None:
    ran = shop("run", ALL, "--rows", "2", "--format", "jsonl")
    assert len(ran.out.splitlines()) == 2
    assert "at least one more exists" in ran.err
    assert shop("run", ALL, "--rows", "2", "--format", "json").data["truncated_by"] == "rows"


def test_a_query_comes_from_standard_input(shop: CommandLine) -> None:
    assert shop("run", "-", "--format", "json", stdin=ALL).data["returned"] == len(ITEMS)
    assert shop("check", stdin=ALL).code == 0


def test_a_bare_pipeline_takes_its_collection_from_the_option(shop: CommandLine) -> None:
    ran = shop("run", '[{"$count": "n"}]', "--collection", "people", "--format", "json")
    assert ran.data["rows"] == [{"n": 12}]


@pytest.mark.parametrize("text", [
    "db.getCollection('items').aggregate([{$match: {name: 'Lamp'}}, {$project: {_id: 0, name: 1}},])",
    '{"collection": "items", "pipeline": [{"$match": {"name": "Lamp"}}, {"$project": {"_id": 0, "name": 1}}]}',
    "use shop\n// a comment\ndb.items.find({name: 'Lamp'}, {_id: 0, name: 1})",
])  # fmt: skip
def test_whatever_form_is_pasted_the_rows_are_the_same(shop: CommandLine, text: str) -> None:
    assert shop("run", text, "--format", "json").data["rows"] == [{"name": "Lamp"}]


def test_progress_is_kept_back_when_quiet(command: CommandLine, shop_uri: str, tmp_path: Path) -> None:
    loud = command("ground", "--db", shop_uri, GROUNDQL_CACHE_DIR=str(tmp_path))
    quiet = command("ground", "--db", shop_uri, "--quiet", GROUNDQL_CACHE_DIR=str(tmp_path))
    assert "reading items" in loud.err
    assert quiet.err == ""
    assert [line.split()[:5] for line in loud.out.splitlines()] == [line.split()[:5] for line in quiet.out.splitlines()]


def test_describe_says_when_the_grounding_was_made_and_renews_it_when_asked(shop: CommandLine) -> None:
    shop("ground")
    kept, made = shop("describe", "items"), shop("describe", "items", "--refresh")
    assert [line for line in kept.lines if line.startswith("grounding of 20")] == kept.lines
    assert any(line.startswith("reading items: 6 of 6") for line in made.lines)
    assert made.out == kept.out
    assert shop("describe", "items", "-q").err == ""
    assert shop("describe", "items", "-f", "json").data["created"] > "2000"


def test_a_path_written_as_a_query_names_it_is_shown_as_it_is_stored(shop: CommandLine) -> None:
    ran = shop("describe", "items", "tags.0", "-q")
    assert ran.out.startswith("items tags[]\n  kinds: string")
    assert ran.err == "note     tags.0 is stored as tags[]\n"
    assert shop("describe", "items", "tags.0", "-f", "json").data["notes"] == ["tags.0 is stored as tags[]"]


def test_findings_are_the_data_of_check(shop: CommandLine) -> None:
    ran = shop("check", 'db.items.find({name: "lamp", "size.width": 3})', "--format", "csv")
    found = table_of(ran)
    assert ran.code == 1
    assert {"stored_form", "unknown_path"} <= {row["code"] for row in found}
    assert all(row["stage"] == "1" for row in found)


def test_load_fills_a_database_and_refuses_to_fill_it_twice(
    command: CommandLine, fresh_database: Any, mongo_uri: str, tmp_path: Path
) -> None:
    uri = named(mongo_uri, fresh_database.name)
    (tmp_path / "a.jsonl").write_text('{"_id": 1}\n{"_id": 2}\n')
    (tmp_path / "more.jsonl").write_text('{"_id": 3}\n')
    first = command("load", str(tmp_path / "a.jsonl"), "--db", uri, "--format", "json")
    assert first.data == [{"collection": "a", "documents": 2}]
    assert first.err.startswith(f"loaded into the database {fresh_database.name} on ")
    assert "://" not in first.err
    again = command("load", str(tmp_path / "a.jsonl"), "--db", uri)
    assert again.code == 2
    assert "--replace" in again.err
    assert "--append" in again.err
    assert command("load", str(tmp_path / "more.jsonl"), "--db", uri, "--collection", "a", "--append").code == 0
    assert fresh_database.a.count_documents({}) == 3
    assert command("load", str(tmp_path / "a.jsonl"), "--db", uri, "--replace").code == 0
    assert fresh_database.a.count_documents({}) == 2


def ask(shop: CommandLine, *arguments: str, replies: list[Any], **variables: str) -> Ran:
    with StubModel(replies) as model:
        options = ("--model", "openai:stub", "--solver", "value-bisect")
        return shop("ask", "how many items are there?", *options, *arguments, **{**model.variables, **variables})


COUNT = draft("items", {"$count": "items"}, assumptions=["an item is one document"])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ask_writes_rows_to_one_side_and_query_and_evidence_to_the_other(shop: CommandLine) -> None:
    ran = ask(shop, "--format", "jsonl", replies=[COUNT])
    assert ran.code == 0
    assert json.loads(ran.out) == {"items": len(ITEMS)}
    assert "db.items.aggregate" in ran.err
    assert "an item is one document" in ran.err
    assert "1 call," in ran.err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("form", "words"), [("python", ".aggregate("), ("javascript", "await"), ("ejson", '"$count"')])
def test_ask_writes_the_query_in_the_asked_form(shop: CommandLine, form: str, words: str) -> None:
    assert words in ask(shop, "--as", form, "--format", "csv", replies=[COUNT]).err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ask_as_json_holds_everything(shop: CommandLine, tmp_path: Path) -> None:
    ran = ask(shop, "--format", "json", "--trace", str(tmp_path / "trace.jsonl"), replies=[COUNT])
    data = ran.data
    assert data["outcome"] == "answered"
    assert data["rows"] == [{"items": len(ITEMS)}]
    assert data["usage"]["calls"] == 1
    assert data["usage"]["prompt_tokens"] == 100
    assert data["evidence"]["assumptions"] == ["an item is one document"]
    written = (tmp_path / "trace.jsonl").read_text()
    assert "stub-key" not in written
    assert "mongodb://" not in written
    events = [json.loads(line) for line in written.splitlines()]
    assert {e["trace"] for e in events} == {data["trace_id"]}
    assert {"grounded", "model.request", "model.reply", "candidate"} <= {e["event"] for e in events}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ask_says_when_the_grounding_was_made_and_renews_it_when_asked(shop: CommandLine) -> None:
    before = shop("ground", "-f", "json").data["created"]
    told = ask(shop, replies=[COUNT])
    assert sum(line.startswith("grounding of 20") for line in told.lines) == 1
    assert "reading items" not in told.err
    assert ask(shop, "--format", "json", replies=[COUNT]).data["evidence"]["grounded"] == before
    assert ask(shop, "--format", "json", "--refresh", replies=[COUNT]).data["evidence"]["grounded"] > before
    assert "grounding of" not in ask(shop, "-q", replies=[COUNT]).err


def test_an_old_grounding_is_something_to_watch() -> None:
    written = io.StringIO()
    to, now = Console(file=written, width=200), dt.datetime.now(dt.UTC)
    for days in (0, 3):
        show_evidence(Evidence(grounded=now - dt.timedelta(days=days)), to)
    (line,) = written.getvalue().splitlines()
    assert "UTC, 3 days ago; groundql ground reads it anew" in line


@pytest.mark.parametrize(
    ("passed", "ago"),
    [
        ({"seconds": 59}, "just now"),
        ({"seconds": -5}, "just now"),
        ({"minutes": 1}, "1 minute ago"),
        ({"minutes": 119}, "1 hour ago"),
        ({"days": 2, "hours": 23}, "2 days ago"),
    ],
)
def test_an_age_is_told_in_its_largest_whole_unit(passed: dict[str, float], ago: str) -> None:
    moment = dt.datetime(2026, 1, 31, 9, 15, tzinfo=dt.UTC)
    assert age_text(moment, moment + dt.timedelta(**passed)) == f"2026-01-31 09:15 UTC, {ago}"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_answer_is_exit_code_1_with_the_reason(shop: CommandLine) -> None:
    wrong = draft("items", {"$match": {"colour": "red"}})
    ran = ask(shop, replies=[wrong])
    assert (ran.code, ran.out) == (1, "")
    assert "No answer." in ran.err
    assert "colour" in ran.err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_refused_key_is_one_line_without_the_key(shop: CommandLine) -> None:
    refusal = {"error": {"message": "Incorrect API key provided: sk-abcdefgh12345678", "code": "invalid_api_key"}}
    ran = ask(shop, replies=[(401, refusal)], OPENAI_API_KEY="sk-abcdefgh12345678")
    assert ran.code == 1
    assert ran.err.count("error:") == 1
    assert "sk-abcdefgh" not in ran.err


def test_help_names_the_verbs(command: CommandLine) -> None:
    ran = command("--help")
    assert ran.code == 0
    for verb in ("ask", "describe", "check", "run", "ground", "load", "doctor", "model", "samples", "demo"):
        assert f" {verb} " in ran.out


def test_an_abstention_shows_both_readings() -> None:
    def reading(attempt: int, form: str, field: str) -> Candidate:
        program = MqlProgram("items", ({"$sortByCount": f"${field}"},))
        return Candidate(program, rows=Rows(({"_id": f"by {field}", "count": 2},)), attempt=attempt, form=form)

    answer = Answer(
        Outcome.ABSTAINED,
        Question("which is the most frequent?"),
        candidates=(reading(0, "query", "name"), reading(1, "pipeline", "note"), reading(2, "pipeline", "name")),
        diagnosis="two readings of the question differ",
    )
    written = io.StringIO()
    show_answer(answer, "shell", Console(file=written, soft_wrap=True))
    text = written.getvalue()
    assert "No answer" in text
    assert "Reading 1 (query), 1 row:" in text
    assert "Reading 2 (pipeline), 1 row:" in text
    assert "Reading 3" not in text
    assert '$sortByCount: "$note"' in text
    assert '"by name"' in text


def test_an_abstention_with_one_reading_claims_no_disagreement() -> None:
    one = Candidate(MqlProgram("items", ({"$count": "n"},)), rows=Rows(({"n": 2},)), form="query")
    answer = Answer(Outcome.ABSTAINED, Question("how many?"), candidates=(one, Candidate(None, form="pipeline")))
    written = io.StringIO()
    show_answer(answer, "shell", Console(file=written, soft_wrap=True))
    assert "No answer: only one reading of this question passed its checks." in written.getvalue()


def test_stored_text_cannot_control_a_terminal(command: CommandLine, fresh_database: Any, mongo_uri: str) -> None:
    name = "evil\x1b[31m"
    fresh_database[name].insert_many([{"_id": n, "key\x1b[2J": n, "kind": "Red\x1b[2J\nrow"} for n in range(3)])
    uri = named(mongo_uri, fresh_database.name)
    collection = 'db.getCollection("evil\\u001b[31m")'
    for arguments in (
        ("ground",),
        ("describe",),
        ("describe", name),
        ("describe", "evil"),
        ("describe", name, "key"),
        ("check", f'{collection}.find({{kind: "red\\u001b[2j\\nrow", key: 1}})'),
        ("run", "db.evil.find({})"),
        ("run", f"{collection}.find({{}})"),
        ("run", f'{collection}.find({{kind: "blue\\u001b[2J"}})', "--anyway"),
    ):
        ran = command(*arguments, "--db", uri)
        assert "\x1b" not in ran.out + ran.err, arguments


def test_a_folder_of_files_is_a_database_and_is_loaded_once(command: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"_id": 1, "d": {"$date": "2026-01-05T00:00:00Z"}}\n')
    (folder / "b.json").write_text('[{"_id": 1}, {"_id": 2}]')
    (folder / "c.bson.gz").write_bytes(gzip.compress(bson.encode({"_id": 1})))
    first = command("describe", "--db", str(folder), "--format", "json")
    assert {c["name"]: c["documents"] for c in first.data["containers"]} == {"a": 1, "b": 2, "c": 1}
    again = command("run", "db.a.find()", "--db", str(folder), "--format", "jsonl")
    assert json.loads(again.out)["d"] == {"$date": "2026-01-05T00:00:00Z"}
    assert "reading" not in again.err  # the loaded copy and its grounding were used again
    (copy,) = (command.home / "cache" / "embedded").glob("shop-*")
    assert (copy / "loaded.txt").exists()


def test_doctor_says_what_is_there_and_what_is_missing(shop: CommandLine) -> None:
    found = {d["part"]: d for d in shop("doctor", "--format", "json").data}
    assert found["database"]["state"] == "ok"
    assert "2 collections" in found["database"]["seen"]
    assert found["local model 1.5b"]["state"] == "missing"
    assert found["local model 1.5b"]["remedy"] == "groundql model pull 1.5b"
    asked = shop("doctor", "--model", "openai:gpt-5")
    assert asked.code == 0
    assert "OPENAI_API_KEY is not set" in asked.out
