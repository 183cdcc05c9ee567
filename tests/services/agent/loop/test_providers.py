"""A provider's model: streams, tools, faults of every kind with what they cost, aborts, side calls. The bill of the provider is the ledger's (SP-02, SP-07)."""

import asyncio
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest

from services.agent.builtin.purposes import SUMMARY, TITLE, TOOL
from services.agent.loop import metering
from services.agent.owners.domain import Me
from services.agent.tools.domain import EVERYBODY, Arguments, Asked, Found, Tool
from shared.errors import Refused
from tests.counterparts.scripted import Answer, Scripted
from tests.services.agent.loop.conftest import Loop, person, provided

SPEAK: list[Literal["openai", "anthropic"]] = ["openai", "anthropic"]


class Number(Arguments):
    number: int


async def _double(asked: Asked, given: Number) -> Found:
    await asyncio.sleep(0)
    return Found({"doubled": given.number * 2}, f"twice {given.number}")


DOUBLE = Tool("double", "Twice a number.", Number, _double, EVERYBODY)


def titled(*answers: Answer) -> Any:
    """Titles are answered as titles, whatever else is asked in between."""
    rest = list(answers)

    def script(asked: dict[str, Any]) -> Answer:
        if TITLE in str(asked):
            return Answer(["Twice ", "two"], read=7, written=3)
        return rest.pop(0)

    return script


async def bill_equals(loop: Loop, me: Me, turn_id: UUID, provider: Scripted) -> None:
    rows = await loop.rows(me, turn_id)
    assert sum(row["cost"] for row in rows) == provider.cost("1.00", "2.00")


@pytest.mark.parametrize("speaks", SPEAK)
async def test_it_streams_calls_tools_and_pairs_what_it_keeps(loop: Loop, speaks: Any) -> None:
    me = person()
    loop.tools = [DOUBLE]
    script = titled(
        Answer(["I ", "look."], [("call_1", "double", '{"number": 2}'), ("call_2", "double", '{"number": 3}')]),
        Answer(["It ", "is ", "4."]),
        Answer(["Again."]),
    )
    async with provided(loop, Scripted(speaks, script)) as provider:
        ref = await loop.desk.submit(me, None, "twice two?")
        seen = await loop.follow(me, ref)
        record = await loop.desk.wait(me, ref.turn_id)
        assert record.reply == "I look.\n\nIt is 4."
        assert "".join(each.data["text"] for each in seen if each.kind == "text") == record.reply
        kinds = [each.kind for each in seen if each.kind not in {"text", "cost"}]
        assert kinds == ["started", "tool", "tool", "tools", "done"]
        assert [each.number for each in seen] == list(range(1, len(seen) + 1))
        kept = await loop.conversations.messages(me, ref.conversation_id)
        assert [each.part for each in kept] == ["user", "tools", "reply"]
        assert [call.result for call in kept[1].calls] == [{"doubled": 4}, {"doubled": 6}]
        assert (await loop.say(me, "again", ref.conversation_id)).reply == "Again."
        assert provider.refused == []
        rows = await loop.rows(me, ref.turn_id)
        assert sorted(row["purpose"] for row in rows) == ["reply", "reply", "title"]
        assert all(not row["estimated"] for row in rows)
        assert record.cost == sum(row["cost"] for row in rows)
        assert (await loop.conversations.open(me, ref.conversation_id)).title == "Twice two"


FAULTS: dict[str, tuple[Answer, str]] = {
    "key": (Answer(status=401, body={"error": {"message": "no"}}), "does not accept the key"),
    "model": (Answer(status=404, body={"error": {"message": "no model", "code": "model_not_found"}}), "no such model"),
    "bad": (Answer(status=400, body={"error": {"message": "odd"}}), "status 400"),
    "quota": (Answer(status=429, body={"error": {"message": "x", "code": "insufficient_quota"}}), "no credit"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_what_a_provider_refuses_is_said_in_words_and_costs_nothing(loop: Loop, name: str) -> None:
    me = person()
    answer, words = FAULTS[name]
    async with provided(loop, Scripted(script=titled(answer))) as provider:
        record = await loop.say(me, "hello")
        assert record.outcome == "failed"
        assert words in record.error
        replies = [each for each in await loop.rows(me, record.turn_id) if each["purpose"] == "reply"]
        assert [(each["kind"], each["cost"]) for each in replies] == [("aborted", 0)]
        assert len(await loop.turn(me, record.turn_id)) == 1
        await bill_equals(loop, me, record.turn_id, provider)


async def test_a_retry_after_an_error_that_reported_usage_is_a_row_of_its_own(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metering, "wait_before", lambda error, tried: 0.0)
    me = person()
    usage = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}
    down = Answer(status=503, body={"error": {"message": "overloaded"}, "usage": usage})
    async with provided(
        loop, Scripted(script=titled(down, Answer(status=500, body={}), Answer(["Here."])))
    ) as provider:
        record = await loop.say(me, "hello")
        assert record.reply == "Here."
        rows = [each for each in await loop.rows(me, record.turn_id) if each["purpose"] == "reply"]
        assert [(each["kind"], each["tokens_in"], each["tokens_out"]) for each in rows] == [
            ("aborted", 40, 8),
            ("aborted", 0, 0),
            ("settled", 12, 5),
        ]
        await bill_equals(loop, me, record.turn_id, provider)


async def test_what_came_before_a_stream_broke_is_kept_and_paid_for(loop: Loop) -> None:
    me = person()
    async with provided(loop, Scripted(script=titled(Answer(["One ", "two ", "three"], cut_after=2)))):
        record = await loop.say(me, "count")
        assert (record.outcome, record.reply) == ("failed", "One two ")
        assert "lost" in record.error
        [row] = [each for each in await loop.rows(me, record.turn_id) if each["purpose"] == "reply"]
        assert (row["kind"], row["estimated"], row["tokens_out"]) == ("aborted", True, 2)
        assert row["tokens_in"] > 0


async def test_an_error_event_in_a_stream_with_its_usage_is_believed(loop: Loop) -> None:
    me = person()
    fault = 'data: {"error": {"message": "overloaded", "type": "server_error", "usage": {"prompt_tokens": 30, "completion_tokens": 4}}}'
    async with provided(loop, Scripted(script=titled(Answer(["One ", "two ", "three"], cut_after=2, fault=fault)))):
        record = await loop.say(me, "count")
        assert (record.outcome, record.reply) == ("failed", "One two ")
        [row] = [each for each in await loop.rows(me, record.turn_id) if each["purpose"] == "reply"]
        assert (row["tokens_in"], row["tokens_out"], row["estimated"]) == (30, 4, False)


@pytest.mark.parametrize("speaks", SPEAK)
async def test_whoever_leaves_after_six_pieces_pays_for_what_was_produced(loop: Loop, speaks: Any) -> None:
    """SP-02. The turn was tied to whoever asked for it."""
    me = person()
    words = [f"word{number} " for number in range(400)]
    async with provided(loop, Scripted(speaks, script=titled(Answer(words, gap_s=0.02)))) as provider:
        ref = await loop.desk.submit(me, None, "go on", tied=True)
        stream, pieces = loop.desk.watch(me, ref.conversation_id, (ref.turn_id, 0)), 0
        async for happening in stream:
            pieces += happening.kind == "text"
            if pieces == 6:
                break
        await stream.aclose()
        record = await loop.desk.wait(me, ref.turn_id)
        assert record.outcome == "aborted"
        assert record.reply.startswith("word0 word1 ")
        [row] = [each for each in await loop.rows(me, ref.turn_id) if each["purpose"] == "reply"]
        assert (row["kind"], row["estimated"]) == ("aborted", True)
        assert 6 <= row["tokens_out"] < 100
        [kept] = await loop.turn(me, ref.turn_id)
        assert kept["outcome"] == "aborted"
        assert (await loop.conversations.messages(me, ref.conversation_id))[-1].aborted
        await asyncio.sleep(0.1)
        assert provider.pieces < 100


async def test_the_stop_button_stops_and_a_page_that_left_does_not(loop: Loop) -> None:
    me = person()
    async with provided(loop, Scripted(script=titled(Answer(["a "] * 400, gap_s=0.02)))):
        ref = await loop.desk.submit(me, None, "go on")
        stream = loop.desk.watch(me, ref.conversation_id)
        async for happening in stream:
            if happening.kind == "text":
                break
        await stream.aclose()
        await asyncio.sleep(0.1)
        assert loop.desk.running == 1
        await loop.desk.stop_turn(me, ref.conversation_id)
        record = await loop.desk.wait(me, ref.turn_id)
        assert record.outcome == "aborted"
        again = await loop.follow(me, ref, after=2)
        assert again[0].number == 3
        assert again[-1].kind == "stopped"


async def test_no_side_call_begins_once_the_cap_is_reached(loop: Loop) -> None:
    me = person()
    loop.setting.cap = Decimal(0)
    async with provided(loop, Scripted(script=titled())) as provider:
        record = await loop.say(me, "hello")
        assert record.outcome == "refused"
        assert "cap" in record.error
        assert provider.asked == []
        assert await loop.rows(me, record.turn_id) == []


async def test_a_model_without_a_price_is_refused_to_who_has_a_cap(loop: Loop) -> None:
    me = person()
    loop.setting.cap = Decimal(5)
    async with provided(loop, Scripted(), prices="") as provider:
        record = await loop.say(me, "hello")
        assert (record.outcome, provider.asked) == ("refused", [])
        assert "price" in record.error


async def test_an_answer_that_reports_nothing_is_estimated_and_one_that_reports_zero_is_not(loop: Loop) -> None:
    me = person()
    async with provided(
        loop, Scripted(script=titled(Answer(["Some ", "words."], says=False), Answer(["x"], read=0, written=0)))
    ):
        first = await loop.say(me, "hello")
        [row] = [each for each in await loop.rows(me, first.turn_id) if each["purpose"] == "reply"]
        assert (row["estimated"], row["tokens_out"]) == (True, 3)
        second = await loop.say(me, "again", first.conversation_id)
        [row] = await loop.rows(me, second.turn_id)
        assert (row["estimated"], row["tokens_in"], row["tokens_out"], row["cost"]) == (False, 0, 0, 0)


async def test_arguments_that_do_not_fit_are_told_to_the_model_and_kept(loop: Loop) -> None:
    me = person()
    loop.tools = [DOUBLE]
    script = titled(
        Answer(calls=[("c1", "double", '{"number": "many", "owner": "somebody"}'), ("c2", "double", "{broken")]),
        Answer(calls=[("c3", "no_such_tool", "{}"), ("c4", "double", "[1]")]),
        Answer(["I give up."]),
    )
    async with provided(loop, Scripted(script=script)) as provider:
        record = await loop.say(me, "go")
        assert (record.outcome, record.reply) == ("ok", "I give up.")
        assert [(each.tool, each.state) for each in record.calls][:3] == [
            ("double", "failed"),
            ("double", "failed"),
            ("no_such_tool", "refused"),
        ]
        assert "owner: Extra inputs are not permitted" in record.calls[0].shown
        assert provider.refused == []


async def test_a_model_that_asks_for_ever_more_tools_is_made_to_answer(loop: Loop) -> None:
    me = person()
    loop.tools = [DOUBLE]
    asked = 0

    def script(request: dict[str, Any]) -> Answer:
        nonlocal asked
        if TITLE in str(request):
            return Answer(["t"])
        asked += 1
        if request.get("tool_choice") == "none":
            return Answer(["Enough."])
        return Answer(calls=[(f"c{asked}", "double", '{"number": 1}')])

    async with provided(loop, Scripted(script=script)):
        record = await loop.say(me, "go")
        assert (record.reply, record.iterations, record.outcome) == ("Enough.", 12, "ok")


async def test_cv_02_two_turns_at_once_are_answered_one_after_the_other_and_a_third_finds_a_history_that_pairs(
    loop: Loop,
) -> None:
    """CV-02."""
    me = person()
    loop.tools = [DOUBLE]
    calls = [("c1", "double", '{"number": 1}'), ("c2", "double", '{"number": 2}')]

    def script(request: dict[str, Any]) -> Answer:
        if TITLE in str(request):
            return Answer(["t"])
        last = request["messages"][-1]["role"]
        return Answer(["Done."]) if last == "tool" else Answer(calls=calls, gap_s=0.005)

    async with provided(loop, Scripted(script=script)) as provider:
        first = await loop.desk.submit(me, None, "one")
        second = await loop.desk.submit(me, first.conversation_id, "two")
        assert (first.before, second.before) == (0, 1)
        await asyncio.gather(*(loop.desk.wait(me, each.turn_id) for each in (first, second)))
        third = await loop.say(me, "three", first.conversation_id)
        assert third.outcome == "ok"
        assert provider.refused == []
        parts = [each.part for each in await loop.conversations.messages(me, first.conversation_id)]
        assert parts == ["user", "tools", "reply"] * 3


async def test_a_tool_that_is_refused_says_so_to_the_model_and_a_broken_one_ends_no_turn(loop: Loop) -> None:
    me = person()

    async def refuse(asked: Asked, given: Arguments) -> Found:
        raise Refused("not today", code="today")

    async def fail(asked: Asked, given: Arguments) -> Found:
        raise ZeroDivisionError

    loop.tools = [
        Tool("refuses", "x", Arguments, refuse, EVERYBODY),
        Tool("fails", "x", Arguments, fail, EVERYBODY),
    ]
    script = titled(Answer(calls=[("c1", "refuses", "{}"), ("c2", "fails", "{}")]), Answer(["So it is."]))
    async with provided(loop, Scripted(script=script)):
        record = await loop.say(me, "go")
        assert [(each.state, each.shown[:9]) for each in record.calls] == [
            ("refused", "not today"),
            ("failed", "fails bro"),
        ]
        assert record.outcome == "ok"


async def test_every_side_call_is_a_row_of_its_turn_and_the_sum_is_the_bill(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SP-07: a title, a summary of what no longer fits, the prompt of somebody's own tool, and a retry after an error that reported usage."""
    monkeypatch.setattr(metering, "wait_before", lambda error, tried: 0.0)
    me = person()
    usage = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}
    failed = [Answer(status=503, body={"error": {"message": "overloaded"}, "usage": usage})]

    async def prompt(asked: Asked, given: Arguments) -> Found:
        return Found(await loop.turns.side.ask(asked, "tool", TOOL, "say it in short"))

    def script(asked: dict[str, Any]) -> Answer:
        said = str(asked)
        if TITLE in said:
            return Answer(["A title"], read=7, written=3)
        if SUMMARY in said:
            return Answer(["What was said."], read=90, written=9)
        if TOOL in said:
            return Answer(["short"], read=11, written=2)
        last = asked["messages"][-1]
        if last["role"] == "tool":
            return Answer(["Done."], read=30, written=4)
        if "use it" in str(last["content"]):
            return failed.pop() if failed else Answer(calls=[("c1", "mine", "{}")], read=33, written=6)
        return Answer(["Yes."])

    loop.tools = [Tool("mine", "x", Arguments, prompt, EVERYBODY)]
    async with provided(loop, Scripted(script=script)) as provider:
        first = await loop.say(me, "long " * 20_000)
        await loop.say(me, "longer " * 15_000, first.conversation_id)
        provider.bill.clear()
        third = await loop.say(me, "use it " * 15_000, first.conversation_id)
        assert (third.outcome, third.reply) == ("ok", "Done.")
        rows = await loop.rows(me, third.turn_id)
        assert sorted(row["purpose"] for row in rows) == ["reply", "reply", "reply", "summary", "tool"]
        assert [row["purpose"] for row in await loop.rows(me, first.turn_id)].count("title") == 1
        await bill_equals(loop, me, third.turn_id, provider)
        assert third.cost == provider.cost("1.00", "2.00")
        assert any("What was said." in str(asked) for asked in provider.asked[-2:])
