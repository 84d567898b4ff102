"""What is said of a query that gave no rows."""

from __future__ import annotations

import pytest

from groundql.core.answer import Candidate
from groundql.core.finding import Code, Finding
from groundql.core.program import MqlProgram
from groundql.faces.cli import why_no_rows
from groundql.service import Report

PROGRAM = MqlProgram("items", ())


@pytest.mark.parametrize(
    ("code", "said", "unsaid"),
    [
        (Code.TIMEOUT, ("run and stopped by the database", "--seconds", "limits.elapsed_s"), "--anyway"),
        (Code.REJECTED, ("run and stopped by the database",), "--seconds"),
        (Code.UNKNOWN_PATH, ("Not run", "--anyway"), "stopped"),
        (Code.FORBIDDEN, ("Not run",), "--anyway"),
    ],
)
def test_a_query_without_rows_says_whether_it_ran_and_what_would_help(
    code: Code, said: tuple[str, ...], unsaid: str
) -> None:
    text = why_no_rows(Report(PROGRAM, Candidate(PROGRAM, findings=(Finding(code, "so it is"),))), anyway=False)
    assert all(part in text for part in said)
    assert unsaid not in text
