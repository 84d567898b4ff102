from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from groundql.bench.running.batch import BatchFolder, Fault, request_id
from groundql.bench.running.plan import tasks_of
from groundql.bench.running.runner import Reason
from groundql.bench.running.suspending import BatchDesk
from groundql.core.answer import Question
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.core.ports import Env
from groundql.errors import LoadError
from groundql.solvers.recipes import SOLVERS
from unit.bench.running.doubles import REPLY, Probe, case, run, scripted, tasks

ASKED = ModelRequest(
    (Message("system", "s"), Message("user", "wörter")),
    schema={"type": "object"},
    temperature=0.7,
    seed=3,
    max_tokens=50,
)


def opened(folder: Path, model: str = "groq:small") -> BatchFolder:
    provider, _, name = model.partition(":")
    found = BatchFolder(folder, provider, name)
    found.read()
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def put(folder: Path, name: str, *records: Any) -> None:
    (folder / name).write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


def completed(name: str, text: str, **more: Any) -> dict[str, Any]:
    body = {
        "model": "gpt-4o-mini",
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}},
    }
    return {"id": "b", "custom_id": name, "response": {"status_code": 200, "body": {**body, **more}}, "error": None}


def test_a_request_is_written_in_the_form_of_the_batch_api(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    name, found = folder.ask(ASKED, 0, 0)
    assert found is None
    assert [p.name for p in folder.write()] == ["requests-001.jsonl"]
    assert lines(tmp_path / "requests-001.jsonl") == [
        {
            "custom_id": name,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": "small",
                "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "wörter"}],
                "max_tokens": 50,
                "temperature": 0.7,
                "seed": 3,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "strict": False, "schema": {"type": "object"}},
                },
            },
        }
    ]


def test_a_model_that_thinks_gets_room_for_it_and_no_temperature(tmp_path: Path) -> None:
    folder = opened(tmp_path, "openai:gpt-5-mini")
    folder.ask(ASKED, 0, 0)
    (path,) = folder.write()
    body = lines(path)[0]["body"]
    assert body["max_completion_tokens"] > 10_000
    assert "temperature" not in body
    assert "max_tokens" not in body


def test_ids_tell_requests_apart_by_all_that_decides_a_reply() -> None:
    others = [
        ModelRequest(ASKED.messages, ASKED.schema, 0.7, 4, 50),
        ModelRequest(ASKED.messages, ASKED.schema, 0.6, 3, 50),
        ModelRequest(ASKED.messages, None, 0.7, 3, 50),
        ModelRequest(ASKED.messages[:1], ASKED.schema, 0.7, 3, 50),
    ]
    ids = [request_id("m", r, 0, 0) for r in [ASKED, *others]]
    ids += [request_id("m", ASKED, 1, 0), request_id("m", ASKED, 0, 1), request_id("n", ASKED, 0, 0)]
    assert len(set(ids)) == len(ids)
    assert all(len(name) <= 64 for name in ids)
    assert request_id("m", ModelRequest(ASKED.messages, ASKED.schema, 0.7, 3, 50, "other step"), 0, 0) == ids[0]


def test_a_request_on_its_way_is_not_sent_again(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.ask(ASKED, 0, 0)
    folder.write()
    later = opened(tmp_path)
    later.ask(ASKED, 0, 0)
    assert later.write() == []
    assert [p.name for p in later.awaited()] == ["requests-001.jsonl"]


def test_replies_are_read_in_both_forms_with_what_they_cost(tmp_path: Path) -> None:
    one, two = (request_id("openai:gpt-4o-mini", ASKED, 0, n) for n in (0, 1))
    put(tmp_path, "out.jsonl", completed(one, "the text"))
    put(tmp_path, "mine.jsonl", {"custom_id": two, "text": {"collection": "x"}})
    folder = opened(tmp_path, "openai:gpt-4o-mini")
    _, found = folder.ask(ASKED, 0, 0)
    assert isinstance(found, ModelReply)
    assert (found.text, found.usage.prompt_tokens, found.usage.cached_tokens) == ("the text", 1000, 400)
    assert found.usage.cost_usd is not None
    assert found.usage.cost_usd > 0
    _, found = folder.ask(ASKED, 0, 1)
    assert isinstance(found, ModelReply)
    assert found.text == '{"collection": "x"}'
    assert folder.pending == {}


@pytest.mark.parametrize(
    ("choice", "finish"),
    [
        ({"message": {"content": "half"}, "finish_reason": "length"}, Finish.LENGTH),
        ({"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}, Finish.REFUSAL),
        ({"message": {"content": ""}, "finish_reason": "content_filter"}, Finish.REFUSAL),
    ],
)
def test_how_a_reply_ended_is_kept(tmp_path: Path, choice: Any, finish: Finish) -> None:
    name = request_id("groq:small", ASKED, 0, 0)
    put(tmp_path, "out.jsonl", completed(name, "", choices=[choice]))
    _, found = opened(tmp_path).ask(ASKED, 0, 0)
    assert isinstance(found, ModelReply)
    assert found.finish is finish


@pytest.mark.parametrize(
    "lost",
    [
        {"response": None, "error": {"code": "batch_expired", "message": "expired"}},
        {"response": {"status_code": 500, "body": {"error": {"message": "inside"}}}, "error": None},
        {"response": {"status_code": 429, "body": {}}, "error": None},
    ],
)
def test_a_request_that_was_lost_is_sent_again_and_one_turned_down_is_not(tmp_path: Path, lost: Any) -> None:
    folder = opened(tmp_path)
    name, _ = folder.ask(ASKED, 0, 0)
    other, _ = folder.ask(ASKED, 0, 1)
    folder.write()
    refused = {"status_code": 400, "body": {"error": {"message": "context too long"}}}
    put(tmp_path, "out.jsonl", {"custom_id": name, **lost}, {"custom_id": other, "response": refused, "error": None})
    later = opened(tmp_path)
    assert later.ask(ASKED, 0, 0)[1] is None
    assert later.ask(ASKED, 0, 1)[1] == Fault("context too long")
    assert [p.name for p in later.write()] == ["requests-002.jsonl"]
    assert [line["custom_id"] for line in lines(tmp_path / "requests-002.jsonl")] == [name]


@pytest.mark.parametrize("text", ["{", "[]x", '"words"', '{"text": "no id"}', '{"custom_id": "x", "body": 1}'])
def test_a_file_that_is_no_replies_is_told_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(LoadError, match=r"odd\.jsonl"):
        opened(tmp_path)


def through_rounds(
    folder: Path, batch: Path, todo: Any, *solvers: Any, answer: Callable[[dict[str, Any]], str]
) -> tuple[int, dict[Any, Any]]:
    """Do round after round, answering each request file, until the run is finished."""
    for number in range(1, 20):
        desk = BatchDesk(opened(batch))
        halt, done = run(folder, todo, *solvers, open_model=desk.open_model, solve=desk.solve, concurrency=3)
        if halt is None:
            return number, done
        assert halt.reason is Reason.REPLIES
        for path in desk.folder.write():
            replies = [{"custom_id": line["custom_id"], "text": answer(line["body"])} for line in lines(path)]
            put(batch, path.name.replace("requests", "replies"), *replies)
    raise AssertionError("the run did not end")


def test_a_solver_of_several_calls_comes_further_with_each_round(tmp_path: Path) -> None:
    async def act(question: Question, env: Env) -> None:
        said = question.text
        for _ in range(3):
            said = (await env.model.complete(ModelRequest((Message("user", said),)))).text
        assert said == f"{question.text}!!!"

    rounds, done = through_rounds(
        tmp_path / "run", tmp_path / "batch", tasks(4), Probe(act), answer=lambda b: b["messages"][-1]["content"] + "!"
    )
    assert rounds == 4
    assert [(p.failure, p.usage.calls) for p in done.values()] == [("", 3)] * 4
    assert len(list((tmp_path / "batch").glob("requests-*"))) == 3


def test_calls_side_by_side_are_sent_in_one_round_and_equal_ones_are_answered_apart(tmp_path: Path) -> None:
    heard: list[list[str]] = []

    async def act(question: Question, env: Env) -> None:
        found: list[str] = []

        async def call() -> None:
            found.append((await env.model.complete(ModelRequest((Message("user", question.text),)))).text)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(call)
        heard.append(found)

    numbers = iter(range(100))
    rounds, _ = through_rounds(
        tmp_path / "run", tmp_path / "batch", tasks(1), Probe(act), answer=lambda _: str(next(numbers))
    )
    assert rounds == 2
    assert sorted(heard[-1]) == ["0", "1", "2"]


def test_a_recipe_hands_in_through_a_batch_what_it_hands_in_live(tmp_path: Path) -> None:
    todo = tasks_of([case(1), case(2)], ["sag"], 1)
    _, live = run(tmp_path / "live", todo, SOLVERS["sag"], open_model=scripted(lambda _: REPLY))
    rounds, done = through_rounds(tmp_path / "run", tmp_path / "batch", todo, SOLVERS["sag"], answer=lambda _: REPLY)
    assert rounds == 2
    assert {k: (p.mql, p.failure, len(p.tries)) for k, p in done.items()} == {
        k: (p.mql, p.failure, len(p.tries)) for k, p in live.items()
    }


def test_what_the_provider_turned_down_is_the_tasks_failure(tmp_path: Path) -> None:
    batch = tmp_path / "batch"
    desk = BatchDesk(opened(batch))

    async def act(question: Question, env: Env) -> None:
        await env.model.complete(ModelRequest((Message("user", question.text),)))

    run(tmp_path / "run", tasks(1), Probe(act), open_model=desk.open_model, solve=desk.solve)
    (path,) = desk.folder.write()
    refused = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    put(batch, "out.jsonl", {"custom_id": lines(path)[0]["custom_id"], "response": refused, "error": None})
    desk = BatchDesk(opened(batch))
    halt, done = run(tmp_path / "run", tasks(1), Probe(act), open_model=desk.open_model, solve=desk.solve)
    assert halt is None
    assert [(p.failure, p.detail) for p in done.values()] == [("model", "groq:small turned the request down: too long")]
