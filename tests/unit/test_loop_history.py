"""A conversation as a model reads it, what a call uses at most, and faults in words. Pure."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
from pydantic_ai.exceptions import ModelHTTPError, ModelRateLimitError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from services.agent.conversations.domain import Message, Part, ToolCall
from services.agent.loop.channels import Channels, from_wire, to_wire
from services.agent.loop.domain import Happening, Kind
from services.agent.loop.faults import billed, is_refusal, may_retry, ours, words_of
from services.agent.loop.figures import of_error, produced, size_of
from services.agent.loop.history import INTERRUPTED, NO_ANSWER, bounded, to_models
from services.agent.tools.readable import words_of as page_words
from shared.errors import Refused, Transient

AT = datetime(2026, 11, 30, tzinfo=UTC)
TURN, OTHER = UUID(int=1), UUID(int=2)


def message(part: Part, text: str = "", **more: Any) -> Message:
    return Message(1, part, text, AT, **more)


def test_every_call_is_followed_by_its_result_whatever_became_of_it() -> None:
    calls = (
        ToolCall("a", "recall", {}, "done", {"text": "x\0"}),
        ToolCall("b", "remember", {"text": "y"}, "interrupted"),
    )
    found = to_models([message("user", "hello"), message("tools", calls=calls), message("reply", "done", aborted=True)])
    assert [type(each) for each in found] == [ModelRequest, ModelResponse, ModelRequest, ModelResponse]
    called = [part.tool_call_id for part in found[1].parts if isinstance(part, ToolCallPart)]
    results = [part for part in found[2].parts if isinstance(part, ToolReturnPart)]
    assert called == [each.tool_call_id for each in results] == ["a", "b"]
    assert [each.content for each in results] == [{"text": "x\ufffd"}, {"state": "interrupted", "message": INTERRUPTED}]
    assert found[3].parts == [TextPart("done\n[This answer was cut off.]")]


def test_a_message_that_nobody_answered_is_not_answered_with_the_next() -> None:
    found = to_models([message("user", "first"), message("note", "approved"), message("user", "second")])
    assert [[part.content for part in each.parts] for each in found] == [  # type: ignore[union-attr]
        ["first", "[Note of the workplace, not of the user] approved"],
        [NO_ANSWER],
        ["second"],
    ]
    assert isinstance(found[0].parts[0], UserPromptPart)


def test_a_long_result_is_cut_and_says_so() -> None:
    assert bounded({"a": 1}) == {"a": 1}
    assert bounded("x" * 50_000).endswith("[848 more characters were left out.]")


def test_a_call_can_use_a_token_for_every_byte_at_most() -> None:
    size = size_of([ModelRequest([UserPromptPart("ä" * 1000)])], {"max_tokens": 7}, ModelRequestParameters())
    assert size.estimate.tokens_in > 2000
    assert size.estimate.tokens_out == 7
    assert 500 <= size.likely_in < size.estimate.tokens_in
    assert produced(ModelResponse([TextPart("abcdefgh")]), 1) == 2
    assert produced(ModelResponse([TextPart("abc")]), 3) == 3


@pytest.mark.parametrize(
    ("body", "figures"),
    [
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 2}}, (3, 2)),
        ({"error": {"usage": {"input_tokens": 4}}}, (4, 0)),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": True}}, (None, 1)),
        ({"usage": {"prompt_tokens": "many"}}, None),
        ({"error": "no"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_what_an_error_says_that_was_used(body: object, figures: tuple[int | None, int] | None) -> None:
    found = of_error(body)
    assert (found and (found.tokens_in, found.tokens_out)) == figures


def test_faults_say_what_to_do_and_whether_asking_again_may_help() -> None:
    busy = ModelHTTPError(503, "small", {})
    assert may_retry(busy) and words_of(busy) == "The provider cannot answer now (status 503); try again."
    assert not may_retry(ModelHTTPError(400, "small", {}))
    assert words_of(ModelRateLimitError("small", "slow down")) == "The provider takes no more requests now; try again in a minute."  # fmt: skip
    inside = RuntimeError("a client's")
    inside.__cause__ = Refused("wait for the card", code="card")
    assert ours(inside) is inside.__cause__ and is_refusal(inside) and words_of(inside) == "wait for the card"
    assert not may_retry(inside) and not is_refusal(Transient("later"))
    assert words_of(ZeroDivisionError()) is None and billed(ZeroDivisionError()) is None
    carrying = ZeroDivisionError()
    carrying.response = httpx2.Response(500, json={"usage": {"prompt_tokens": 1, "completion_tokens": 2}})  # type: ignore[attr-defined]
    assert billed(carrying) is not None


def happening(turn: UUID, number: int, kind: Kind = "text") -> Happening:
    return Happening(UUID(int=9), turn, number, kind, {"text": str(number)})


async def test_a_stream_goes_on_where_it_was_and_hears_nothing_twice() -> None:
    channels = Channels(lambda place, happening: None)
    place = ("user", "7", UUID(int=9))
    for number in (1, 2, 3):
        channels.publish(place, happening(TURN, number))
    channels.hear(place, happening(TURN, 2))
    with channels.reading(place, (TURN, 1)) as late, channels.reading(place, None) as fresh:
        channels.publish(place, happening(TURN, 4, "done"))
        channels.publish(place, happening(OTHER, 1))
        channels.close()
        assert [each.number async for each in late] == [2, 3, 4, 1]
        assert [(each.turn_id, each.number) async for each in fresh][-1] == (OTHER, 1)
    with channels.reading(("guest", "7", UUID(int=9)), None) as other:
        assert [each async for each in other] == []
    assert from_wire(to_wire(place, happening(TURN, 4))) == (place, happening(TURN, 4))


def test_of_a_page_only_what_a_reader_sees_is_read() -> None:
    page = "<html><head><title>t</title></head><body><p>One <b>two</b></p><script>x()</script><div>three&amp;</div></body></html>"
    assert page_words("text/html", page) == "One two\nthree&"
    assert page_words("text/plain", "a < b") == "a < b"
