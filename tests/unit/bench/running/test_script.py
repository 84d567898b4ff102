from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from groundql.bench.running.script import read_script
from groundql.core.chat import Message, ModelRequest
from groundql.errors import LoadError, ModelUnavailable


def write(folder: Path, *lines: str) -> Path:
    path = folder / "s.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ask(text: str, purpose: str = "draft") -> ModelRequest:
    return ModelRequest((Message("system", "cities everywhere"), Message("user", text)), purpose=purpose)


def test_a_line_answers_what_it_matches_and_the_others_in_their_order(tmp_path: Path) -> None:
    model = read_script(
        write(
            tmp_path,
            '{"reply": "first"}',
            '{"match": "cit(y|ies)", "reply": {"collection": "places"}}',
            "",
            '{"purpose": "arbitrate", "reply": "A"}',
            '{"reply": "second"}',
        )
    )

    async def work() -> list[str]:
        asked = [ask("ships"), ask("which cities"), ask("ships", "arbitrate.reform"), ask("a city"), ask("ships")]
        return [(await model.complete(request)).text for request in asked]

    assert anyio.run(work) == ["first", '{"collection": "places"}', "A", '{"collection": "places"}', "second"]
    with pytest.raises(ModelUnavailable, match="no reply"):
        anyio.run(model.complete, ask("ships"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "Expecting property name"),
        ("[1]", "a line is an object"),
        ('{"match": "x"}', "a line is an object with reply"),
        ('{"reply": "x", "mtach": "y"}', "a line is an object with reply"),
        ('{"reply": "x", "match": "("}', "unterminated subpattern"),
        ('{"reply": "x", "wait_s": "soon"}', "could not convert"),
    ],
)
def test_a_line_of_the_wrong_form_is_told_with_its_place(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(LoadError, match=told) as caught:
        read_script(write(tmp_path, '{"reply": "x"}', line))
    assert "s.jsonl, line 2" in str(caught.value)


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot be read"):
        read_script(tmp_path / "none.jsonl")
