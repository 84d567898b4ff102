"""What a driver's exception means to a caller: one typed error with one clear line, no secrets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from bson.errors import BSONError
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    DocumentTooLarge,
    ExecutionTimeout,
    InvalidOperation,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
)

from groundql.errors import DatabaseDenied, DatabaseError, DatabaseTimeout, DatabaseUnreachable, ProgramRejected

_AUTHENTICATION: Final = frozenset({18, 8000})
_AUTHORISATION: Final = frozenset({13})
_TIME_LIMIT: Final = frozenset({50, 262, 89})
_GONE: Final = frozenset({6, 7, 43, 91, 189, 237, 10107, 11600, 11601, 11602, 13435, 13436})
"""Codes of a server that steps down, shuts down, loses a cursor or its network: asking again may work."""

_LONGEST: Final = 500
_FULL_ERROR: Final = re.compile(r", full error: .*", re.DOTALL)
_TOPOLOGY: Final = re.compile(r"(,\s*Timeout: [\d.]+s.*|\s*\(configured timeouts: .*)", re.DOTALL)

ANSWERS_EXCEPTIONS: Final = (PyMongoError, BSONError, OverflowError, OSError, TimeoutError, asyncio.TimeoutError)
"""What a driver call may raise; everything else is a fault of ours and passes."""


class Met(StrEnum):
    """What had answered at an address before something went wrong."""

    NEVER = "never"
    SERVER = "server"
    EMBEDDED = "embedded"


def translate(
    error: BaseException, where: str, elapsed_s: float, redact: Callable[[str], str] = str, met: Met = Met.NEVER
) -> DatabaseError:
    """Turn a driver's exception into the error a caller handles.

    `where` names the server to a person; `elapsed_s` is the time limit that was set; `met` what answered there before.
    """
    match error:
        case OperationFailure():
            return _refused(error, where, elapsed_s, redact)
        case NetworkTimeout() | WTimeoutError():
            return _too_slow(elapsed_s)
        case ServerSelectionTimeoutError() if met is Met.NEVER:
            return _unreachable(where, redact(_short(str(error))))
        case AutoReconnect():
            return _lost(where, redact(_short(str(error))), met)
        case DocumentTooLarge():
            return ProgramRejected("the program is larger than the server accepts (16 MB)")
        case BSONError() | OverflowError():
            return ProgramRejected(f"a value in the program cannot be sent: {redact(_short(str(error)))}")
        case ConfigurationError():
            return _unreachable(where, redact(_short(str(error))))
        case InvalidOperation():
            return DatabaseError(f"the connection to {where} is closed")
        case TimeoutError():
            return _too_slow(elapsed_s)
        case _:
            return DatabaseError(f"{where}: {redact(_short(str(error)) or type(error).__name__)}")


def _refused(error: OperationFailure, where: str, elapsed_s: float, redact: Callable[[str], str]) -> DatabaseError:
    message = redact(_short(str(error)))
    code = error.code
    if isinstance(error, ExecutionTimeout) or code in _TIME_LIMIT:
        return _too_slow(elapsed_s)
    if code in _AUTHENTICATION:
        return DatabaseDenied(
            f"{where} does not accept the user name or the password: {message}",
            hint="check both, and authSource (the database that holds the user, often admin)",
        )
    if code in _AUTHORISATION:
        return DatabaseDenied(f"the user may not do this: {message}", hint="the role 'read' on the database is enough")
    if code in _GONE:
        return DatabaseUnreachable(f"{where} ended the request: {message}", hint="ask again")
    return ProgramRejected(message, engine_code=code)


def _too_slow(elapsed_s: float) -> DatabaseTimeout:
    return DatabaseTimeout(
        f"the program was stopped after {elapsed_s:g} s", hint="narrow it down, or allow more time (--seconds)"
    )


def _lost(where: str, reason: str, met: Met) -> DatabaseUnreachable:
    if met is Met.EMBEDDED:
        return DatabaseUnreachable(
            f"the embedded server at {where} went away: {reason}",
            hint="ask again; if it happens again, give it less to do, or point --db at a MongoDB server",
        )
    return DatabaseUnreachable(
        f"the connection to {where} was lost: {reason}", hint="check that the server still runs, then ask again"
    )


def _unreachable(where: str, reason: str) -> DatabaseUnreachable:
    if "certificate" in reason.lower() or "ssl" in reason.lower():
        hint = "check the server's certificate and the tls options of the connection string"
    else:
        hint = "check that the server runs and that its address and port are right (an Atlas access list blocks, too)"
    return DatabaseUnreachable(f"no server answers at {where}: {reason}", hint=hint)


def _short(message: str) -> str:
    """Keep the first sentence of a driver's message: without the raw reply and the dump of the topology."""
    line = " ".join(_TOPOLOGY.sub("", _FULL_ERROR.sub("", message)).split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."


def is_unauthorised(error: Any) -> bool:
    """Tell whether a server refused for want of a permission."""
    return isinstance(error, OperationFailure) and error.code in _AUTHORISATION
