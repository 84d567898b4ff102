"""Every way in which a model's endpoint can fail is told in one line, with what to do, and exit code 1."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from faces.command import CommandLine
from faces.stub_model import Reply, StubModel, draft

ASK = ("ask", "how many items are there?", "--model", "openai:stub", "--solver", "sag")
FAILED = {"error": {"message": "it went wrong", "type": "x"}}


@pytest.mark.parametrize(
    ("reply", "told", "hint"),
    [
        ((400, FAILED), "turned the request down (400): it went wrong", "check the model's name"),
        ((401, FAILED), "refused the key: it went wrong", "check the API key"),
        ((403, FAILED), "refused the key: it went wrong", "check the API key"),
        ((404, FAILED), "is not there: it went wrong", "check the model's name and the base URL"),
        ((408, FAILED), "gave no reply in time", "model_timeout_s"),
        ((429, FAILED), "asks to wait: it went wrong", "wait a little and ask again"),
        ((500, FAILED), "failed on its side (500): it went wrong", "try again later"),
        ((503, FAILED), "failed on its side (503): it went wrong", "try again later"),
        (b"<html>Welcome to the proxy</html>", "cannot be read: it is no chat completion", "protocol of openai?"),
        (b"", "cannot be read: it is no chat completion", "protocol of openai?"),
        (b"{}", "cannot be read: it is no chat completion", "protocol of openai?"),
        (b'{"choices": [', "cannot be read: it is no chat completion", "protocol of openai?"),
    ],
)
def test_a_failing_endpoint_is_told_in_one_line_with_what_to_do(
    shop: CommandLine, reply: Reply, told: str, hint: str
) -> None:
    with StubModel([reply]) as model:
        ran = shop(*ASK, **model.variables)
    assert ran.code == 1
    assert ran.out == ""
    assert [line for line in ran.lines if line.startswith("error:")] == [f"error: openai:stub {told}"] or (
        f"error: the reply of openai:stub {told}" in ran.err
    )
    assert hint in ran.err


def test_an_endpoint_that_never_answers_is_given_up_with_what_to_do(shop: CommandLine) -> None:
    with StubModel([draft("items", {"$count": "n"})]) as model:
        model.hold()
        ran = shop(*ASK, **model.variables, GROUNDQL_MODEL_TIMEOUT_S="0.5")
    assert ran.code == 1
    assert "openai:stub gave no reply" in ran.err
    assert "GROUNDQL_MODEL_TIMEOUT_S" in ran.err


def test_a_question_that_has_used_up_its_time_says_how_to_allow_more(shop: CommandLine) -> None:
    with StubModel([draft("items", {"$count": "n"})]) as model:
        model.hold()
        ran = shop(*ASK, **model.variables, GROUNDQL_BUDGET_ELAPSED_S="0.5")
    assert ran.code == 1
    assert "the budget of 0.5 s for one question is spent" in ran.err
    assert "GROUNDQL_BUDGET_ELAPSED_S" in ran.err


def test_a_new_trace_is_its_owners_alone_and_an_old_one_keeps_its_mode(shop: CommandLine, tmp_path: Path) -> None:
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    old.touch()
    old.chmod(0o644)
    with StubModel([draft("items", {"$count": "n"})]) as model:
        for file in (new, old):
            assert shop(*ASK, "--trace", str(file), **model.variables).code == 0
    assert (stat.S_IMODE(new.stat().st_mode), stat.S_IMODE(old.stat().st_mode)) == (0o600, 0o644)
    assert old.read_text()
