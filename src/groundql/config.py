"""Settings: a YAML file and the environment, read once into a frozen value. A flag beats both."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import os
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from groundql.core.budget import Budget
from groundql.core.rows import Limits
from groundql.errors import SettingsError

FILE_NAME = "groundql.yaml"
PREFIX = "GROUNDQL_"
CONFIG_VARIABLE = "GROUNDQL_CONFIG"
DATABASE_VARIABLES = ("MONGODB_URI", "MDB_MCP_CONNECTION_STRING")
"""Variables that hold the connection string, the first that is set being read."""

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
Usd = Annotated[float, Field(ge=0)]


class Section(BaseModel):
    """Hold settings that cannot be changed and know no other names."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)


class LimitSettings(Section):
    """Bounds on one execution; always on."""

    rows: Count = 1000
    """The most rows that come back."""
    elapsed_s: Seconds = 30.0
    """The longest a query may run on the server, in seconds."""
    read_bytes: Count = 16_000_000
    """The most bytes that come back."""


class BudgetSettings(Section):
    """The most that one question may spend on a model; null means no bound."""

    calls: Count | None = 40
    """Model calls."""
    tokens: Count | None = None
    """Tokens read and written together."""
    cost_usd: Usd | None = None
    """US dollars."""
    elapsed_s: Seconds | None = 900.0
    """The time from the first call to the last reply, in seconds."""


class SamplingSettings(Section):
    """Bounds on how much of each container is read to find out what is stored."""

    documents: Count = 30_000
    """The most documents read of one container."""
    read_bytes: Count = 256_000_000
    """The most bytes read of one container."""
    elapsed_s: Seconds = 60.0
    """The longest that reading one container may take, in seconds."""


class Settings(Section):
    """Settings of GroundQL. Each may be given in the file, as a variable, or as a flag; the later one wins."""

    version: Literal[1] = 1
    """The version of this file's form."""
    database: SecretStr | None = None
    """The connection string of the database, or a folder or file of documents. Variables: MONGODB_URI,
    MDB_MCP_CONNECTION_STRING."""
    model: str = "local"
    """The model as provider:model, for example openai:gpt-5; local is the one that needs no key."""
    model_timeout_s: Seconds = 120.0
    """How long to wait for one reply of a model, in seconds, tries included. The local model is given longer."""
    cache_replies: bool = True
    """Whether replies of models are kept on disk and used again for the same request."""
    solver: str | None = None
    """The recipe that answers questions; null chooses the one that suits the model."""
    time_zone: str = "UTC"
    """The time zone, by its IANA name, in which dates in a question are meant."""
    today: dt.date | None = None
    """The date that words such as "last month" count from; null is the current date."""
    cache_dir: Path | None = None
    """The folder for downloads, groundings and replies; null is the user's cache folder."""
    limits: LimitSettings = LimitSettings()
    """Bounds on one execution."""
    budget: BudgetSettings = BudgetSettings()
    """Bounds on what one question may spend."""
    sampling: SamplingSettings = SamplingSettings()
    """Bounds on what is read to find out what is stored."""

    @field_validator("model")
    @classmethod
    def _names_provider(cls, model: str) -> str:
        if not re.fullmatch(r"local|[A-Za-z][\w/-]*:\S+", model.strip()):
            raise ValueError("write provider:model, for example openai:gpt-5, or local")
        return model.strip()

    @field_validator("time_zone")
    @classmethod
    def _is_known_zone(cls, name: str) -> str:
        if name == "UTC":  # known even where the system has no time zone tables
            return name
        try:
            zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"{name!r} is not a time zone; use an IANA name such as Europe/Berlin") from error
        return name

    @property
    def run_limits(self) -> Limits:
        """The limits as the core knows them."""
        return Limits(**self.limits.model_dump())

    @property
    def question_budget(self) -> Budget:
        """The budget as the core knows it."""
        return Budget(**self.budget.model_dump())

    @property
    def cache_folder(self) -> Path:
        """Where downloads, groundings and replies are kept."""
        return (self.cache_dir or Path(platformdirs.user_cache_dir("groundql", appauthor=False))).expanduser()


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each that is not a default came from: dotted name -> file and line, variable, or flag."""

    settings: Settings
    origins: Mapping[str, str]
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """One value before it is checked, with the place to name if it is wrong."""

    value: Any
    origin: str


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Loaded:
    """Read the settings: flags over environment over file over defaults.

    `flags` maps dotted names (`limits.rows`) to values; None means not given. Without `file`, GROUNDQL_CONFIG names
    it; without that the first of ./groundql.yaml and ~/.config/groundql/config.yaml that exists is read.

    Raises: SettingsError naming the file and line, or the variable, that is wrong, and what was probably meant.
    """
    path = _find_file(file, environment, folder or Path.cwd())
    given = dict(_read_file(path)) if path else {}
    given |= dict(_read_environment(environment))
    given |= dict(_read_flags(flags or {}))
    settings = _check(given)
    origins = {name: item.origin for name, item in given.items() if name != "version"}
    return Loaded(settings, origins, path)


def setting_names(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Yield the dotted name of every single setting."""
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            yield from setting_names(section, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def variable_of(name: str) -> str:
    """Return the environment variable of a setting: `limits.rows` -> GROUNDQL_LIMITS_ROWS."""
    return DATABASE_VARIABLES[0] if name == "database" else PREFIX + name.replace(".", "_").upper()


def settings_schema() -> str:
    """Return the JSON schema of the settings file, as published in `data/settings.schema.json`."""
    schema = Settings.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "GroundQL settings"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _find_file(file: Path | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    named = file or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    if named:
        if not named.expanduser().is_file():
            raise SettingsError(f"there is no settings file {named}")
        return named.expanduser()
    home = Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME") or Path.home()) / ".config")
    places = (folder / FILE_NAME, home / "groundql" / "config.yaml")
    return next((place for place in places if place.is_file()), None)


def _read_flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, Given]]:
    known = set(setting_names())
    for name, value in flags.items():
        if name not in known:
            raise SettingsError(f"there is no setting {name}", hint=_nearest(name, known))
        if value is not None:
            yield name, Given(value, f"flag {name}")


def _read_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Given]]:
    for name in set(setting_names()) - {"version"}:
        variables = DATABASE_VARIABLES if name == "database" else (variable_of(name),)
        for variable in variables:
            if environment.get(variable):
                yield name, Given(environment[variable], variable)
                break


def _read_file(path: Path) -> Iterator[tuple[str, Given]]:
    """Yield each setting of a file under its dotted name, with its line.

    Raises: SettingsError for a file that cannot be read or is not YAML, an unknown name, or a name given twice.
    """
    try:
        root = yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(f"{path}:{line}: this is not YAML: {error.problem or error}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise SettingsError(f"{path}:{root.start_mark.line + 1}: settings are written as `name: value`")
    found = dict(_flatten(root, path, ""))
    if "version" not in found:
        raise SettingsError(f"{path}:1: the file does not say its version", hint="begin it with the line `version: 1`")
    yield from found.items()


def _flatten(node: yaml.MappingNode, path: Path, prefix: str) -> Iterator[tuple[str, Given]]:
    known = set(setting_names())
    seen: set[str] = set()
    for key_node, value_node in node.value:
        name = prefix + str(key_node.value)
        origin = f"{path}:{key_node.start_mark.line + 1}"
        is_section = any(setting.startswith(f"{name}.") for setting in known)
        if name in seen:
            raise SettingsError(f"{origin}: {name} is given twice")
        seen.add(name)
        if name in known:
            yield name, Given(_construct(value_node, origin), origin)
        elif is_section and isinstance(value_node, yaml.MappingNode):
            yield from _flatten(value_node, path, f"{name}.")
        elif is_section:
            members = ", ".join(sorted(s.removeprefix(f"{name}.") for s in known if s.startswith(f"{name}.")))
            raise SettingsError(f"{origin}: {name} is a group of settings", hint=f"under it go: {members}")
        else:
            raise SettingsError(f"{origin}: there is no setting {name}", hint=_nearest(name, known))


def _construct(node: yaml.Node, origin: str) -> Any:
    """Turn a node into a plain value; only the tags of plain YAML are known."""
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)  # pyright: ignore[reportUnknownMemberType]
    except (yaml.YAMLError, ValueError) as error:
        raise SettingsError(f"{origin}: {error}") from error
    finally:
        loader.dispose()


def _nearest(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    tail = name.rpartition(".")[2]
    close = close or [other for other in sorted(known) if other.rpartition(".")[2] == tail]
    return f"did you mean {close[0]}?" if close else f"the settings are: {', '.join(sorted(known))}"


def _check(given: Mapping[str, Given]) -> Settings:
    """Build the settings; the first fault is reported with where the value came from.

    Raises: SettingsError. Values are not quoted: one of them is a connection string.
    """
    tree: dict[str, Any] = {}
    for name, item in given.items():
        *sections, last = name.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = item.value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(step) for step in fault["loc"] if isinstance(step, str) and step in _all_steps())
        origin = given[name].origin if name in given else "settings"
        hint = _nearest(name, set(setting_names())) if fault["type"] == "extra_forbidden" else ""
        message = fault["msg"].removeprefix("Value error, ")
        place = origin if origin == f"flag {name}" else f"{origin}: {name}"
        raise SettingsError(f"{place}: {message[0].lower()}{message[1:]}", hint=hint) from None


def _all_steps() -> set[str]:
    return {step for name in setting_names() for step in name.split(".")}


if __name__ == "__main__":
    Path(__file__).with_name("data").joinpath("settings.schema.json").write_text(settings_schema(), "utf-8")
