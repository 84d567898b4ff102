from __future__ import annotations

import contextlib
import datetime as dt
import json
import tempfile
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from groundql.config import (
    Loaded,
    load_settings,
    setting_names,
    settings_schema,
    variable_of,
)
from groundql.core.budget import Budget
from groundql.core.rows import Limits
from groundql.errors import SettingsError


def load(tmp_path: Path, text: str = "", flags: dict[str, object] | None = None, **environment: str) -> Loaded:
    if text:
        (tmp_path / "groundql.yaml").write_text(text)
    return load_settings(flags, environment={"HOME": str(tmp_path), **environment}, folder=tmp_path)


def fault(tmp_path: Path, text: str = "", flags: dict[str, object] | None = None, **environment: str) -> SettingsError:
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, text, flags, **environment)
    return raised.value


def test_without_any_settings_the_defaults_are_those_of_the_core(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.settings.run_limits == Limits()
    assert loaded.settings.question_budget == Budget()
    assert loaded.settings.model == "local"
    assert (loaded.file, loaded.origins) == (None, {})


def test_a_flag_beats_the_environment_and_the_environment_beats_the_file(tmp_path: Path) -> None:
    text = "version: 1\nmodel: openai:file\nlimits:\n  rows: 1\n  elapsed_s: 2\n"
    loaded = load(tmp_path, text, {"limits.rows": 3, "solver": None}, GROUNDQL_MODEL="openai:env")
    settings = loaded.settings
    assert (settings.model, settings.limits.rows, settings.limits.elapsed_s) == ("openai:env", 3, 2.0)
    assert loaded.origins == {
        "model": "GROUNDQL_MODEL",
        "limits.rows": "flag limits.rows",
        "limits.elapsed_s": f"{tmp_path / 'groundql.yaml'}:5",
    }


def test_the_connection_string_comes_from_either_variable_and_the_first_wins(tmp_path: Path) -> None:
    both = load(tmp_path, MONGODB_URI="mongodb://a", MDB_MCP_CONNECTION_STRING="mongodb://b")
    other = load(tmp_path, MDB_MCP_CONNECTION_STRING="mongodb://b")
    assert both.settings.database is not None
    assert other.settings.database is not None
    assert both.settings.database.get_secret_value() == "mongodb://a"
    assert other.settings.database.get_secret_value() == "mongodb://b"


def test_a_connection_string_never_shows(tmp_path: Path) -> None:
    loaded = load(tmp_path, "version: 1\n", MONGODB_URI="mongodb://me:hunter2@host")
    for shown in (repr(loaded), str(loaded.settings), loaded.settings.model_dump_json()):
        assert "hunter2" not in shown


def test_a_wrong_connection_string_is_not_quoted_in_the_error(tmp_path: Path) -> None:
    error = fault(tmp_path, "version: 1\ndatabase: [mongodb://me:hunter2@host]\n")
    assert "hunter2" not in str(error)
    assert "groundql.yaml:2" in str(error)


def test_an_unknown_name_is_reported_with_file_line_and_what_was_meant(tmp_path: Path) -> None:
    error = fault(tmp_path, "version: 1\n\nmodle: openai:x\n")
    assert str(error) == f"{tmp_path / 'groundql.yaml'}:3: there is no setting modle"
    assert error.hint == "did you mean model?"


def test_an_unknown_name_in_a_group_is_found_too(tmp_path: Path) -> None:
    error = fault(tmp_path, "version: 1\nlimits:\n  row: 5\n")
    assert "groundql.yaml:3: there is no setting limits.row" in str(error)
    assert error.hint == "did you mean limits.rows?"


def test_a_setting_outside_its_group_is_pointed_to_it(tmp_path: Path) -> None:
    assert fault(tmp_path, "version: 1\ncost_usd: 5\n").hint == "did you mean budget.cost_usd?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model: local\n", ":1: the file does not say its version"),
        ("version: 2\n", ":1: version:"),
        ("version: 1\nmodel: local\nmodel: local\n", ":3: model is given twice"),
        ("version: 1\nlimits: 5\n", ":2: limits is a group of settings"),
        ("version: 1\nlimits:\n  rows: many\n", ":3: limits.rows:"),
        ("version: 1\nlimits:\n  rows: 0\n", ":3: limits.rows:"),
        ("version: 1\nmodel: [unclosed\n", ": this is not YAML"),
        ("- version\n", ":1: settings are written as"),
        ("version: 1\nmodel: !!python/object/apply:os.system ['true']\n", ":2: "),
        ("version: 1\ntime_zone: Mars/Olympus\n", ":2: time_zone: 'Mars/Olympus' is not a time zone"),
        ("version: 1\nmodel: 'no provider here'\n", ":2: model: write provider:model"),
    ],
)
def test_each_fault_names_its_line(tmp_path: Path, text: str, says: str) -> None:
    assert says in str(fault(tmp_path, text))


def test_a_wrong_variable_and_a_wrong_flag_are_named(tmp_path: Path) -> None:
    assert str(fault(tmp_path, GROUNDQL_LIMITS_ROWS="x")).startswith("GROUNDQL_LIMITS_ROWS: limits.rows:")
    assert str(fault(tmp_path, flags={"budget.calls": -1})).startswith("flag budget.calls: input should be")


def test_a_flag_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert fault(tmp_path, flags={"limit.rows": 1}).hint == "did you mean limits.rows?"


def test_a_named_file_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no settings file"):
        load_settings(file=tmp_path / "absent.yaml", environment={})
    assert "there is no settings file" in str(fault(tmp_path, GROUNDQL_CONFIG=str(tmp_path / "absent.yaml")))


def test_the_users_own_file_is_read_when_the_folder_has_none(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "groundql" / "config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("version: 1\nsolver: sag\n")
    assert load(tmp_path).settings.solver == "sag"
    assert load(tmp_path, "version: 1\nsolver: other\n").settings.solver == "other"


def test_every_setting_can_be_given_as_a_variable(tmp_path: Path) -> None:
    values = {
        "database": "mongodb://x",
        "model": "openai:x",
        "solver": "s",
        "time_zone": "UTC",
        "today": "2020-02-29",
        "cache_dir": "/tmp/x",
        "cache_replies": "false",
    }
    for name in set(setting_names()) - {"version"}:
        loaded = load(tmp_path, **{variable_of(name): values.get(name, "7")})
        assert loaded.origins == {name: variable_of(name)}
    assert load(tmp_path, GROUNDQL_TODAY="2020-02-29").settings.today == dt.date(2020, 2, 29)
    assert load(tmp_path, GROUNDQL_CACHE_REPLIES="false").settings.cache_replies is False


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(tmp_path).settings.model = "x"


def test_the_cache_folder_follows_its_setting(tmp_path: Path) -> None:
    assert load(tmp_path, GROUNDQL_CACHE_DIR=str(tmp_path / "c")).settings.cache_folder == tmp_path / "c"
    assert load(tmp_path).settings.cache_folder.name == "groundql"


def test_the_published_schema_is_current() -> None:
    published = resources.files("groundql").joinpath("data", "settings.schema.json").read_text("utf-8")
    assert published == settings_schema(), "run: python -m groundql.config"


def test_the_published_schema_accepts_what_is_right_and_refuses_unknown_names() -> None:
    schema = json.loads(settings_schema())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"version": 1, "model": "openai:x", "limits": {"rows": 3}, "budget": {"calls": None}})
    assert not validator.is_valid({"version": 1, "modle": "x"})
    assert not validator.is_valid({"version": 1, "limits": {"rows": 0}})


def test_every_setting_is_described() -> None:
    schema = json.loads(settings_schema())
    for part in (schema, *schema["$defs"].values()):
        for name, entry in part["properties"].items():
            assert entry.get("description"), name


@given(st.text(max_size=200))
def test_any_file_text_comes_to_settings_or_a_settings_error(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.yaml"
        path.write_text(text, "utf-8")
        with contextlib.suppress(SettingsError):
            load_settings(file=path, environment={})
