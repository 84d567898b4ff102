from __future__ import annotations

import pytest

from groundql.core.budget import Usage
from groundql.core.chat import Finish, Message, ModelReply, ModelRequest
from groundql.errors import ModelCutOff, ModelMalformed, ModelRefused
from groundql.llm.scripted import Scripted
from groundql.llm.structured import Fault, ReplyFault, complete_json, read_reply

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"collection": {"enum": ["heroes"]}, "pipeline": {"type": "array", "items": {"type": "object"}}},
    "required": ["collection", "pipeline"],
}
GOOD = '{"collection": "heroes", "pipeline": []}'
ASKED = ModelRequest((Message("user", "all heroes"),), schema=SCHEMA, purpose="draft")


@pytest.mark.parametrize(
    ("reply", "fault", "says"),
    [
        (ModelReply(GOOD), None, ""),
        (ModelReply(f"Sure!\n```json\n{GOOD}\n```"), None, ""),
        (ModelReply(" \n"), Fault.EMPTY, "empty"),
        (ModelReply("no", Finish.REFUSAL), Fault.REFUSED, "no"),
        (ModelReply(GOOD, Finish.LENGTH), Fault.CUT_OFF, "length"),
        (ModelReply("I cannot say."), Fault.NOT_JSON, "could not be read as JSON"),
        (ModelReply('{"pipeline": []}'), Fault.WRONG_SCHEMA, "'collection' is a required property"),
        (ModelReply('{"collection": "x", "pipeline": []}'), Fault.WRONG_SCHEMA, 'collection: "x" is none of: "heroes"'),
        (ModelReply('{"collection": "heroes", "pipeline": [{}, 5]}'), Fault.WRONG_SCHEMA, r"pipeline\[1\]: 5 is not"),
    ],
)
def test_every_reply_comes_to_a_value_or_one_named_fault(reply: ModelReply, fault: Fault | None, says: str) -> None:
    reading = read_reply(reply, SCHEMA)
    assert reading.fault is fault
    if fault:
        with pytest.raises(AssertionError, match=says):
            raise AssertionError("; ".join(reading.problems))
    else:
        assert reading.value == {"collection": "heroes", "pipeline": []}


async def test_each_repair_turn_quotes_only_the_last_reply_and_what_is_wrong_with_it() -> None:
    model = Scripted(["first try", '{"pipeline": []}', GOOD])
    structured = await complete_json(model, ASKED)
    first, second, third = model.requests
    assert [len(request.messages) for request in (first, second, third)] == [1, 3, 3]
    assert second.messages[1] == Message("assistant", "first try")
    assert "could not be read as JSON" in second.messages[2].text
    assert third.messages[1] == Message("assistant", '{"pipeline": []}')
    assert "'collection' is a required property" in third.messages[2].text
    assert (first.purpose, third.purpose) == ("draft", "draft.reform")
    assert structured.repairs == 2
    assert structured.usage.calls == 3


async def test_two_repair_turns_are_the_most() -> None:
    model = Scripted(lambda _: "never JSON")
    with pytest.raises(ModelMalformed) as raised:
        await complete_json(model, ASKED)
    assert len(model.requests) == 3
    assert isinstance(raised.value, ReplyFault)
    assert (raised.value.fault, raised.value.text) == (Fault.NOT_JSON, "never JSON")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ModelReply("I will not", Finish.REFUSAL, Usage(calls=1)), ModelRefused),
        (ModelReply("{", Finish.LENGTH, Usage(calls=1)), ModelCutOff),
    ],
)
async def test_refusals_and_cut_off_replies_are_not_asked_again(reply: ModelReply, error: type[Exception]) -> None:
    model = Scripted([reply, GOOD])
    with pytest.raises(error):
        await complete_json(model, ASKED)
    assert len(model.requests) == 1


async def test_a_further_check_can_send_a_fitting_value_back() -> None:
    model = Scripted([GOOD, '{"collection": "heroes", "pipeline": [{}]}'])
    structured = await complete_json(model, ASKED, check=lambda v: [] if v["pipeline"] else ["pipeline: is empty"])
    assert structured.value["pipeline"] == [{}]
    assert "pipeline: is empty" in model.requests[1].messages[-1].text


async def test_text_in_a_reply_stays_text() -> None:
    text = '{"collection": "heroes", "pipeline": [{"$match": {"name": "__import__(\'os\').abort()"}}]}'
    structured = await complete_json(Scripted([text]), ASKED)
    assert structured.value["pipeline"][0]["$match"]["name"] == "__import__('os').abort()"


async def test_a_request_without_a_schema_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="schema"):
        await complete_json(Scripted([GOOD]), ModelRequest((Message("user", "x"),)))
