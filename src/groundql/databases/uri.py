"""Connection strings: what they name, and how to show them without their secrets."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from pymongo.errors import ConfigurationError, InvalidURI
from pymongo.uri_parser import parse_uri

from groundql.errors import InputError

SCHEMES: Final = ("mongodb://", "mongodb+srv://")

# Greedy up to the last @: an unescaped password may hold one, and showing too little is the safe mistake.
_CREDENTIALS: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^\s'\"]*@", re.IGNORECASE)
_SECRET_OPTION: Final = re.compile(
    r"(?P<name>\b\w*(?:password|passwd|secret|token|api_?key|authMechanismProperties))="
    r"(?!\.{3}(?:\s|$))(?P<value>[^&\s'\"]+)",  # three dots are where a secret is to be put
    re.IGNORECASE,
)
_NEAR_OPTIONS: Final = re.compile(r"Unknown option\. Did you mean one of \((?P<names>[^)]*)\)")
_ABOUT_OPTIONS: Final = re.compile(r"\bmust be\b(?! escaped)|key=value")
_PERCENT: Final = "percent-encode user name and password (@ is %40, : is %3A, / is %2F, % is %25)"
_SHORTEST_SECRET: Final = 3
HIDDEN: Final = "***"


def redact(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Hide credentials and secret options of every connection string in a text, and the given secrets anywhere."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    text = _CREDENTIALS.sub(rf"\g<scheme>{HIDDEN}@", text)
    return _SECRET_OPTION.sub(rf"\g<name>={HIDDEN}", text)


@dataclass(frozen=True, slots=True)
class Address:
    """A connection string that was read: the hosts and the database it names, and the secrets it holds.

    `hosts` is what a person may see; `secrets` the raw and the decoded forms of what nobody may.
    """

    uri: str = field(repr=False)
    hosts: str
    database: str
    options: frozenset[str]
    secrets: tuple[str, ...] = field(repr=False, default=())

    def redact(self, text: str) -> str:
        """Hide this address's secrets in a text."""
        return redact(text, self.secrets)

    def connection_options(self, connect_s: float) -> dict[str, Any]:
        """Return what a client is to be told where the string itself does not say it."""
        wait_ms = max(1, round(connect_s * 1000))
        wanted = {"serverSelectionTimeoutMS": wait_ms, "connectTimeoutMS": wait_ms, "appName": "groundql"}
        return {name: value for name, value in wanted.items() if name.lower() not in self.options}


def is_uri(text: str) -> bool:
    """Tell whether a text is meant as a MongoDB connection string."""
    return text.startswith(SCHEMES)


def read_uri(uri: str) -> Address:
    """Read a connection string without looking anything up.

    Raises: InputError with what is wrong, secrets hidden.
    """
    secrets = _secrets(uri)
    if not is_uri(uri):
        shown = redact(uri, secrets)
        raise InputError(
            f"{shown!r} is no MongoDB connection string", hint="it starts with mongodb:// or mongodb+srv://"
        )
    try:
        # An SRV name is only resolved when connecting; the rest of the string is read the same way.
        parsed: dict[str, Any] = dict(parse_uri(_without_srv(uri), validate=True, warn=False))
    except (InvalidURI, ConfigurationError, ValueError) as error:
        message, hint = _told(str(error), uri)
        raise InputError(f"the connection string cannot be read: {redact(message, secrets)}", hint=hint) from None
    hosts = ",".join(_shown(host, port) for host, port in parsed["nodelist"])
    return Address(
        uri, hosts, parsed.get("database") or "", frozenset(k.lower() for k in parsed.get("options", {})), secrets
    )


def _told(message: str, uri: str) -> tuple[str, str]:
    """Say what a driver found wrong with a connection string, and what to mend: an option, or the credentials."""
    near = _NEAR_OPTIONS.search(message)
    names = [part.partition("=")[0] for part in uri.rpartition("?")[2].split("&")]
    if near and not any("@" in name for name in names):  # such a name would be a part of a password
        first = near["names"].split(",")[0]
        wrong = max(names, key=lambda name: difflib.SequenceMatcher(None, name.lower(), first).ratio())
        return f"it has an unknown option {wrong!r}", f"did you mean one of: {near['names']}? Or leave it out"
    if "@" in uri and not _ABOUT_OPTIONS.search(message):
        return message, _PERCENT
    return message, "its form is mongodb://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE&OPTION=VALUE"


def _without_srv(uri: str) -> str:
    return "mongodb://" + uri.removeprefix("mongodb+srv://") if uri.startswith("mongodb+srv://") else uri


def _shown(host: str, port: int | None) -> str:
    return f"{host}:{port}" if port else host


def _secrets(uri: str) -> tuple[str, ...]:
    found: set[str] = set()
    _, _, rest = uri.partition("://")
    credentials, at, _ = rest.rpartition("@")
    if at:
        _, colon, password = credentials.partition(":")
        found.update((password, unquote(password), unquote_plus(password)) if colon else ())
    for match in _SECRET_OPTION.finditer(uri):
        found.update((match["value"], unquote(match["value"])))
        found.update(part.partition(":")[2] for part in unquote(match["value"]).split(","))
    return tuple(sorted(s for s in found if s))
