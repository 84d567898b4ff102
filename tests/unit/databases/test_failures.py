from __future__ import annotations

from typing import Any

import pytest
from bson.errors import InvalidDocument
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    CursorNotFound,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)

from groundql.databases.failures import translate
from groundql.errors import (
    DatabaseDenied,
    DatabaseError,
    DatabaseTimeout,
    DatabaseUnreachable,
    ProgramRejected,
)

TOPOLOGY = (
    "h:27017: [Errno 111] Connection refused (configured timeouts: socketTimeoutMS: 20000.0ms), Timeout: 5.0s, "
    "Topology Description: <TopologyDescription id: 6b0e, servers: [<ServerDescription ('h', 27017)>]>"
)


def refused(code: int, message: str = "no") -> OperationFailure:
    return OperationFailure(message, code, {"ok": 0.0, "errmsg": message, "code": code})


@pytest.mark.parametrize(
    ("error", "expected", "retryable"),
    [
        (ServerSelectionTimeoutError(TOPOLOGY), DatabaseUnreachable, True),
        (AutoReconnect("h:27017: connection closed"), DatabaseUnreachable, True),
        (NotPrimaryError("not primary"), DatabaseUnreachable, True),
        (ConfigurationError("The DNS query name does not exist: _mongodb._tcp.h."), DatabaseUnreachable, True),
        (CursorNotFound("cursor id 5 not found", 43), DatabaseUnreachable, True),
        (refused(11600, "interrupted at shutdown"), DatabaseUnreachable, True),
        (NetworkTimeout("timed out"), DatabaseTimeout, False),
        (ExecutionTimeout("operation exceeded time limit", 50), DatabaseTimeout, False),
        (refused(262), DatabaseTimeout, False),
        (TimeoutError(), DatabaseTimeout, False),
        (refused(18, "Authentication failed."), DatabaseDenied, False),
        (refused(8000, "bad auth : authentication failed"), DatabaseDenied, False),
        (refused(13, "not authorized on d to execute command"), DatabaseDenied, False),
        (refused(40324, "Unrecognized pipeline stage name: '$x'"), ProgramRejected, False),
        (InvalidDocument("cannot encode object"), ProgramRejected, False),
        (OverflowError("MongoDB can only handle up to 8-byte ints"), ProgramRejected, False),
        (PyMongoError("something else"), DatabaseError, False),
        (OSError("broken pipe"), DatabaseError, False),
    ],
)
def test_each_exception_of_the_driver_has_one_meaning(
    error: Exception, expected: type[DatabaseError], retryable: bool
) -> None:
    said = translate(error, "h:27017", 30.0)
    assert type(said) is expected
    assert said.retryable is retryable
    assert "\n" not in str(said)


def test_the_engine_message_and_code_are_kept_without_the_raw_reply() -> None:
    raw = refused(40324, "Unrecognized pipeline stage name: '$x'")
    said: Any = translate(raw, "h", 30.0)
    assert str(said) == "Unrecognized pipeline stage name: '$x'"
    assert said.engine_code == 40324


def test_the_dump_of_the_topology_is_left_out() -> None:
    said = translate(ServerSelectionTimeoutError(TOPOLOGY), "h:27017", 30.0)
    assert str(said) == "no server answers at h:27017: h:27017: [Errno 111] Connection refused"


def test_a_certificate_problem_gets_its_own_hint() -> None:
    said = translate(ServerSelectionTimeoutError("SSL handshake failed: certificate verify failed"), "h", 1.0)
    assert "tls" in said.hint


def test_secrets_in_a_message_are_hidden() -> None:
    said = translate(refused(18, "no user ann with s3cret"), "h", 1.0, lambda text: text.replace("s3cret", "***"))
    assert "s3cret" not in str(said)


def test_a_message_without_end_is_cut() -> None:
    assert len(str(translate(refused(1, "x" * 100_000), "h", 1.0))) < 600
