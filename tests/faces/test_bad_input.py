"""Every bad input gets one clear line, a way on, and the right exit code."""

from __future__ import annotations

import gc
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import groundql
from faces.command import CommandLine, Ran
from faces.conftest import named

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""The driver's monitors leave sockets of refused connections to the garbage collector."""


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Collect what this module left, so that no other module is blamed for it."""
    yield
    gc.collect()


NOBODY = "mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=100"
FIND = "db.items.find()"


def one_line(ran: Ran, code: int, *parts: str) -> None:
    errors = [line for line in ran.lines if line.startswith("error:")]
    assert len(errors) == 1, ran.err
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for part in parts:
        assert part in ran.err


@pytest.mark.parametrize(
    ("uri", "code", "part"),
    [
        pytest.param(NOBODY, 1, "no server answers at 127.0.0.1:1", id="nobody there"),
        pytest.param("mongodb://127.0.0.1:1", 2, "names no database", id="no database"),
        pytest.param("mongodb://127.0.0.1:port/shop", 2, "cannot be read", id="no port"),
        pytest.param("mongodb://u:p@ss@127.0.0.1:1/shop", 2, "percent-encode", id="unescaped"),
        pytest.param("mongodb://127.0.0.1:1/shop?tlss=true", 2, "did you mean one of: tls", id="unknown option"),
        pytest.param("mongo://127.0.0.1/shop", 2, "mongodb://", id="wrong scheme"),
        pytest.param("postgres://127.0.0.1/shop", 2, "mongodb://", id="another database"),
        pytest.param("./nowhere", 2, "neither a connection string nor a file", id="no file"),
        pytest.param("sample:nowhere", 2, "choose one of: ", id="no sample"),
    ],
)
def test_a_database_that_cannot_be_opened_is_told_in_one_line(
    command: CommandLine, uri: str, code: int, part: str
) -> None:
    one_line(command("run", FIND, "--db", uri), code, part)


def test_no_database_at_all_says_how_to_name_one(command: CommandLine) -> None:
    one_line(command("describe"), 2, "no database is named", "MONGODB_URI")


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("notes.txt", "hello", "not a data file"),
        ("cut.json", '[{"a": 1},\n{"a": ', "line 2"),
        ("list.jsonl", "[1, 2]\n", "a document is due, found an array"),
        ("empty.json", "", "holds no documents"),
        ("short.bson", "\x05\x00", "not BSON"),
        ("fake.json.gz", "{}", "not gzip data"),
    ],
)
def test_a_file_of_the_wrong_form_is_told_with_its_place(
    command: CommandLine, shop_uri: str, tmp_path: Path, name: str, content: str, part: str
) -> None:
    (tmp_path / name).write_text(content)
    one_line(command("load", str(tmp_path / name), "--db", named(shop_uri, "groundql_test_unused")), 2, name, part)


def test_an_empty_folder_is_no_database(command: CommandLine, tmp_path: Path) -> None:
    one_line(command("describe", "--db", str(tmp_path)), 2, "no data files in this folder", ".jsonl")


@pytest.mark.parametrize(
    "verb", [("ask", "how many?"), ("describe",), ("check", FIND), ("run", FIND), ("ground",)], ids=lambda v: v[0]
)
def test_a_misspelt_database_is_told_before_anything_is_asked_of_it(
    command: CommandLine, mongo_uri: str, verb: tuple[str, ...]
) -> None:
    uri = named(mongo_uri, "groundql_test_misspelt")
    one_line(command(*verb, "--db", uri, OPENAI_API_KEY="k", GROUNDQL_MODEL="openai:gpt-5"), 2, "holds no collections")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("describe", "itms"), "did you mean: items"),
        (("describe", "items", "size.width"), "size.w"),
        (("describe", "items", "a["), "position 1"),
        (("ask", "how many?", "--solver", "magic"), "choose one of: "),
        (("ask", "how many?", "--model", "gpt-5"), "provider:model"),
        (("ask", "how many?", "--today", "yesterday"), "today"),
        (("ask", "how many?", "--time-zone", "Mars/North"), "Europe/Berlin"),
        (("ask", "  "), "the question is empty"),
        (("ask", "-"), "standard input is empty"),
        (("ask", "how many?", "--trace", "/nowhere/trace.jsonl"), "cannot be written to /nowhere/trace.jsonl"),
        (("check",), "standard input is empty"),
        (("check", "what is this"), "there is no query in the text"),
        (("check", "[{$match: {}}]"), "which collection"),
        (("run", FIND, "--format", "xml"), "'table', 'json', 'jsonl', 'csv'"),
        (("run", FIND, "--rows", "0"), "--rows"),
        (("run", FIND, "--rows", "many"), "--rows"),
        (("samples", "tasks", "nowhere"), "atlas"),
        (("model", "pull", "7b"), "choose one of: 1.5b"),
        (("load", "x.json", "--replace", "--append"), "exclude each other"),
        (("load", "nowhere.json"), "no such file or folder"),
        (("frobnicate",), "No such command"),
        (("run", FIND, "--frobnicate"), "No such option"),
        (("ask",), "Missing argument"),
    ],
)
def test_a_wrong_argument_exits_with_2(shop: CommandLine, arguments: tuple[str, ...], part: str) -> None:
    one_line(
        shop(*arguments, GROUNDQL_MODEL="openai:gpt-5", OPENAI_API_KEY="k", MONGODB_URI=shop.variables["MONGODB_URI"]),
        2,
        part,
    )


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("nobody:x", ("no provider named 'nobody'", "OPENAI_BASE_URL")),
        ("openai:gpt-5", ("OPENAI_API_KEY is not set",)),
        ("deepseek:deepseek-chat", ("DEEPSEEK_API_KEY is not set", "export DEEPSEEK_API_KEY=...")),
        ("local:7b", ("no local model named '7b'",)),
    ],
)
def test_a_model_that_cannot_be_had_is_told_in_one_line(shop: CommandLine, model: str, parts: tuple[str, ...]) -> None:
    one_line(shop("ask", "how many?", "--model", model, "--solver", "sag"), 2, *parts)
    assert shop("demo", "--model", model).code == 2


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("version: 1\nmodel: [x\n", ("groundql.yaml:3", "not YAML")),
        ("version: 1\nlimits:\n  rowz: 3\n", ("groundql.yaml:3", "did you mean limits.rows?")),
        ("version: 1\nlimits:\n  rows: many\n", ("groundql.yaml:3", "limits.rows")),
        ("model: local\n", ("version: 1",)),
        ("- model\n", ("name: value",)),
    ],
)
def test_a_malformed_settings_file_is_told_with_its_line(
    shop: CommandLine, tmp_path: Path, content: str, parts: tuple[str, ...]
) -> None:
    file = tmp_path / "groundql.yaml"
    file.write_text(content)
    one_line(shop("doctor", GROUNDQL_CONFIG=str(file)), 2, *parts)
    one_line(shop("run", FIND, GROUNDQL_CONFIG=str(file)), 2, *parts)


def test_a_variable_of_the_wrong_form_is_named(shop: CommandLine) -> None:
    one_line(shop("run", FIND, GROUNDQL_LIMITS_ROWS="many"), 2, "GROUNDQL_LIMITS_ROWS")


@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_query_that_cannot_be_read_shows_line_and_column_once(shop: CommandLine, verb: str) -> None:
    ran = shop(verb, "db.items.aggregate([\n  {$match: {a: }},\n  {$limit: 1}\n])")
    one_line(ran, 2)
    places = re.findall(r"line \d+, column \d+", ran.err)
    assert places
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("verb", ["check", "run"])
@pytest.mark.parametrize("method", ["deleteMany({})", "insertOne({a: 1})", "updateMany({}, {$set: {a: 1}})", "drop()"])
def test_a_writing_method_is_no_query(shop: CommandLine, verb: str, method: str) -> None:
    one_line(shop(verb, f"db.items.{method}"), 2, "only reads are accepted")


@pytest.mark.parametrize("arguments", [("check",), ("run",), ("run", "--anyway")], ids=" ".join)
@pytest.mark.parametrize(
    "stage",
    ['{$out: "stolen"}', '{$merge: {into: "stolen"}}', '{$match: {$where: "true"}}', '{$facet: {a: [{$out: "x"}]}}'],
)
def test_a_writing_stage_is_refused_whatever_is_said(shop: CommandLine, arguments: tuple[str, ...], stage: str) -> None:
    verb, *flags = arguments
    ran = shop(verb, f"db.items.aggregate([{stage}])", *flags)
    assert ran.code == 1
    assert "blocking" in ran.out + ran.err
    assert "--anyway runs it" not in ran.err


def test_a_blocked_query_is_not_run_and_says_how_to_insist(shop: CommandLine) -> None:
    ran = shop("run", 'db.items.aggregate([{$match: {nme: "Lamp"}}])')
    assert (ran.code, ran.out) == (1, "")
    assert "unknown_path" in ran.err
    assert "--anyway" in ran.err
    assert shop("run", "--anyway", 'db.items.aggregate([{$match: {nme: "Lamp"}}])').code == 0


SECRET_URIS = (
    "mongodb://user:s3cr3t-pw@127.0.0.1:1/shop?serverSelectionTimeoutMS=100",
    "mongodb://user:s3cr%403t-pw@127.0.0.1:1/shop?serverSelectionTimeoutMS=100",
    "mongodb://user:s3cr@3t-pw@127.0.0.1:1/shop",
    "mongodb://user:s3cr%zz3t-pw@127.0.0.1:1/shop",
    "mongodb://user:s3cr3t-pw@127.0.0.1:1/?serverSelectionTimeoutMS=100",
    "mongodb://user:s3cr3t-pw@127.0.0.1:port/shop",
    "mongodb://user:s3cr3t-pw@127.0.0.1:1/shop?nonsense=1&tls=perhaps",
    "mongo://user:s3cr3t-pw@127.0.0.1:1/shop",
    "postgres://user:s3cr3t-pw@127.0.0.1:1/shop",
)


@pytest.mark.parametrize("verb", [("run", FIND), ("doctor",), ("describe",), ("load", "DATA")], ids=lambda v: v[0])
@pytest.mark.parametrize("uri", SECRET_URIS)
def test_a_password_never_comes_out(command: CommandLine, tmp_path: Path, verb: tuple[str, ...], uri: str) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    verb = tuple(str(tmp_path / "a.json") if word == "DATA" else word for word in verb)
    for ran in (command(*verb, "--db", uri), command(*verb, MONGODB_URI=uri)):
        assert ran.code in (1, 2)
        assert "3t-pw" not in ran.out + ran.err


@pytest.mark.parametrize("uri", SECRET_URIS)
def test_a_password_never_comes_out_of_the_client(command: CommandLine, uri: str) -> None:
    with pytest.raises(groundql.GroundQLError) as caught, groundql.connect(uri, cache_dir=command.home) as client:
        client.describe()
    shown = "".join(traceback.format_exception(caught.value, chain=True))
    assert "3t-pw" not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert "3t-pw" not in shown.replace(uri, "")
