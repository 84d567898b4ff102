"""Every verb, option, setting and variable is documented, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
import yaml

import groundql
from docs.pages import ROOT, blocks, documented_commands, name_of, pages
from groundql.config import Section, Settings, load_settings, setting_names, settings_schema, variable_of
from groundql.core.finding import Code
from groundql.errors import GroundQLError
from groundql.faces.cli import app
from groundql.solvers.recipes import LADDER

GUIDES = ROOT / "docs" / "guide"
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| `(?P<name>[\w.]+)` \| `(?P<default>[^`]*)` \| (?P<variables>.*?) \| (?P<flag>.*?) \| (?P<meaning>.+) \|$"
)
COMMAND: Any = typer.main.get_command(app)


def verbs() -> Iterator[tuple[str, Any]]:
    """Every verb that runs something: `ask`, `model pull`, ..."""
    for name, command in COMMAND.commands.items():
        for inner, below in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), below


VERBS = dict(verbs())


@pytest.mark.parametrize("verb", COMMAND.commands)
def test_every_verb_has_a_guide_that_is_in_the_index(verb: str) -> None:
    assert (GUIDES / f"{verb}.md").is_file()
    assert f"[{verb}](guide/{verb}.md)" in (ROOT / "docs" / "README.md").read_text(encoding="utf-8")


def test_every_guide_is_about_a_verb() -> None:
    assert {page.stem for page in GUIDES.glob("*.md")} == set(COMMAND.commands)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_and_argument_is_in_the_guide(verb: str) -> None:
    text = (GUIDES / f"{verb.split()[0]}.md").read_text(encoding="utf-8")
    assert f"groundql {verb}" in text
    for parameter in VERBS[verb].params:
        names = [name for name in parameter.opts if name.startswith("-")] or [parameter.name]
        for name in names if parameter.name != "help" else ():
            if parameter.param_type_name == "option" or verb in ("describe", "check", "run", "load"):
                assert re.search(rf"`[^`\n]*{re.escape(name)}\b[^`\n]*`", text), f"{name} of {verb}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_in_a_guide_exists(verb: str) -> None:
    guide = (GUIDES / f"{verb.split()[0]}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(--[\w-]+)`", guide, re.MULTILINE)
    known = {name for v, c in VERBS.items() if v.split()[0] == verb.split()[0] for p in c.params for name in p.opts}
    assert set(rows) <= known


def documented_settings() -> dict[str, re.Match[str]]:
    return {found["name"]: found for line in SETTINGS.splitlines() if (found := ROW.match(line))}


def test_every_setting_is_documented_once_and_no_other() -> None:
    names = [found["name"] for line in SETTINGS.splitlines() if (found := ROW.match(line))]
    assert names == list(setting_names())


@pytest.mark.parametrize("name", list(setting_names()))
def test_a_setting_is_documented_with_its_default_variable_and_meaning(name: str) -> None:
    row = documented_settings()[name]
    model: type[Section] = Settings
    *sections, last = name.split(".")
    for section in sections:
        model = model.model_fields[section].annotation  # pyright: ignore[reportAssignmentType]
    field = model.model_fields[last]
    shown = {None: "none", True: "true", False: "false"} if not isinstance(field.default, int) or isinstance(
        field.default, bool
    ) else {}  # fmt: skip
    assert row["default"] == shown.get(field.default, str(field.default))
    assert name == "version" or f"`{variable_of(name)}`" in row["variables"]
    assert (field.description or "").replace("\n", " ").split(" Variables:")[0] in row["meaning"]


def test_the_flag_of_a_setting_exists() -> None:
    flags = {name for command in VERBS.values() for parameter in command.params for name in parameter.opts}
    rows = documented_settings().values()
    assert {flag for row in rows for flag in re.findall(r"`(--[\w-]+)`", row["flag"])} <= flags


def test_the_published_schema_is_the_one_of_this_version() -> None:
    published = ROOT / "src" / "groundql" / "data" / "settings.schema.json"
    assert published.read_text(encoding="utf-8") == settings_schema()


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_settings_files_in_the_pages_are_valid(page: Any, tmp_path: Any) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "yaml":
            file = tmp_path / "groundql.yaml"
            file.write_text(block.text, encoding="utf-8")
            assert load_settings(file=file, environment={}).origins.keys() <= set(setting_names())
            assert yaml.safe_load(block.text)["version"] == 1


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_documented_commands_parse(page: Any) -> None:
    for command in documented_commands(page):
        arguments = command.arguments
        if ">" in arguments:
            arguments = arguments[: arguments.index(">")]
        parse(COMMAND, arguments)


def parse(command: Any, arguments: list[str]) -> None:
    """Resolve a command and its options without running it."""
    while hasattr(command, "commands") and arguments and not arguments[0].startswith("-"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    if arguments not in (["--help"], ["-h"]):
        command.make_context(command.name, list(arguments))


def test_the_documented_recipes_are_those_there_are() -> None:
    text = (GUIDES / "ask.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w[\w-]*)` \|", text.split("## Recipes")[1], re.MULTILINE))
    assert named == {*(solver.name for solver in LADDER), "local"}  # all others: tests/unit/solvers/test_disclosure.py


def test_the_codes_of_check_are_documented() -> None:
    text = (GUIDES / "check.md").read_text(encoding="utf-8")
    after_execution = {"rejected", "timeout", "empty", "null_column", "leaked_id", "rows_multiplied", "truncated"}
    of_models = {"cut_off", "refused", "not_answered"}
    documented = {
        name for row in re.findall(r"^\| (`.+?`) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    codes = {code.value for code in Code}
    assert codes - after_execution - of_models <= documented
    assert {name for name in documented if "_" in name} <= codes


def test_all_is_what_is_exported_and_documented() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = text.split("## Public names")[1]
    assert set(groundql.__all__) == set(re.findall(r"`(\w+)`", section))
    assert groundql.__all__ == sorted(groundql.__all__)
    for name in groundql.__all__:
        found = getattr(groundql, name)
        assert found.__name__ == name
        assert found.__doc__, name


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'load_settings'"):
        _ = groundql.load_settings  # pyright: ignore[reportAttributeAccessIssue]


def test_the_documented_error_classes_exist() -> None:
    section = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("## Errors")[1].split("## A model")[0]
    for name in set(re.findall(r"`([A-Z]\w*(?:Error|Exhausted))`", section)):
        assert issubclass(getattr(import_module("groundql.errors"), name), GroundQLError)


def test_nothing_is_said_of_how_it_was_built() -> None:
    told = re.compile(r"\b(issue \d|session|sub-?agent|/work/|/tmp/|/root/|TODO|FIXME)\b", re.IGNORECASE)
    for page in pages():
        text = page.read_text(encoding="utf-8")
        found = [line for line in text.splitlines() if told.search(line) and "pytest" not in line]
        assert not found, f"{name_of(page)}: {found}"
