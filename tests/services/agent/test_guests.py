"""Guests (rule 22, AG-08): a visit is found by its cookie alone, holds what it says, and is gone without a trace."""

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from schemas.outward import Owner
from services.agent.conversations.domain import MOST_WAITING, ToolCall, TurnRecord
from services.agent.guests import visits as visiting
from services.agent.guests.domain import LINGERS, LONGEST, MOST_A_MINUTE, MOST_TALKS
from services.agent.guests.memory import GuestConversations
from services.agent.guests.visits import Visits, guest
from services.agent.owners.domain import Me
from shared.clock import now
from shared.errors import Conflict, NotFound, TooMany


class Clock:
    at = 1000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    found = Clock()
    monkeypatch.setattr(visiting, "_clock", lambda: found.at)
    yield found


@pytest.fixture
def visits(clock: Clock) -> Visits:
    return Visits()


@pytest.fixture
def talks(visits: Visits) -> GuestConversations:
    return GuestConversations(visits)


def arrive(visits: Visits) -> tuple[str, Me]:
    cookie, visit = visits.begin()
    return cookie, guest(visit)


async def say(talks: GuestConversations, me: Me, conversation: UUID, text: str, reply: str = "yes") -> UUID:
    turn = uuid4()
    await talks.begin(me, conversation, turn, text, "chat")
    await talks.start(me, conversation, turn)
    record = TurnRecord(turn, conversation, "chat", "built-in", text, now(), reply=reply, cost=Decimal("0.01"))
    await talks.end(me, record)
    return turn


async def test_a_session_id_of_anybody_else_names_nobody(visits: Visits) -> None:
    cookie, me = arrive(visits)
    user = str(uuid4())
    for sent in (me.owner.id, user, f"1.{me.owner.id}", f"user:{user}", cookie[:-1], cookie.upper(), "", "\x00", "\ud800", "1." + "x" * 9000):  # fmt: skip
        assert visits.find(sent) is None
    found = visits.find(cookie)
    assert found is not None and found.owner == me.owner


async def test_the_old_cookie_of_a_visit_that_ended_names_nobody(visits: Visits, clock: Clock, talks: GuestConversations) -> None:  # fmt: skip
    cookie, me = arrive(visits)
    conversation = (await talks.open(me, None)).conversation_id
    await say(talks, me, conversation, "hello")
    told: list[Me] = []
    visits.ended.append(told.append)
    clock.at += LINGERS + 1
    assert visits.find(cookie) is None and told == [me]
    with pytest.raises(NotFound):
        await talks.messages(me, conversation)
    again, other = arrive(visits)
    assert again != cookie and other.owner != me.owner and await talks.list(other) == []


async def test_a_visit_lasts_while_a_page_is_open_and_never_a_day(visits: Visits, clock: Clock) -> None:
    cookie, _ = arrive(visits)
    visit = visits.find(cookie)
    assert visit
    with visits.watching(visit):
        clock.at += LINGERS * 3
        visits.sweep()
        assert len(visits) == 1 and visits.is_connected(guest(visit))
        clock.at += LONGEST
        visits.sweep()
    assert len(visits) == 0 and not visits.is_connected(guest(visit))


async def test_another_guest_s_conversation_is_like_none(visits: Visits, talks: GuestConversations) -> None:
    (_, one), (_, two) = arrive(visits), arrive(visits)
    conversation = (await talks.open(one, None)).conversation_id
    await say(talks, one, conversation, "the secret word is mitre")
    user = Me(Owner(kind="user", id=one.owner.id), "U", "owner")
    for me, which in ((two, conversation), (two, uuid4()), (user, conversation)):
        with pytest.raises(NotFound) as refused:
            await talks.messages(me, which)
        assert "mitre" not in refused.value.message
    assert await talks.search(two, "mitre") == [] and len(await talks.search(one, "MITRE secret")) == 1


async def test_turns_wait_in_order_and_the_tenth_is_told_busy(visits: Visits, talks: GuestConversations) -> None:
    _, me = arrive(visits)
    conversation = (await talks.open(me, None)).conversation_id
    turns = [uuid4() for _ in range(MOST_WAITING + 1)]
    assert [await talks.begin(me, conversation, turn, f"m{n}", "chat") for n, turn in enumerate(turns)] == [*range(9)]
    with pytest.raises(TooMany, match="8 messages wait"):
        await talks.begin(me, conversation, uuid4(), "one more", "chat")
    waiting = [asyncio.create_task(talks.start(me, conversation, turn)) for turn in (turns[1], turns[2])]
    assert [each.text for each in await talks.start(me, conversation, turns[0])] == ["m0"]
    assert not any(each.done() for each in waiting)
    await talks.end(me, TurnRecord(turns[0], conversation, "chat", "built-in", "m0", now(), reply="r0"))
    assert [each.text for each in await waiting[0]] == ["m0", "r0", "m1"] and not waiting[1].done()
    visit = visits.of(me)
    visits.end(visit)
    with pytest.raises(Conflict):
        await waiting[1]


async def test_a_tool_that_was_cut_off_is_shown_as_interrupted(visits: Visits, talks: GuestConversations) -> None:
    _, me = arrive(visits)
    conversation, turn = (await talks.open(me, None)).conversation_id, uuid4()
    await talks.begin(me, conversation, turn, "do it", "chat")
    await talks.start(me, conversation, turn)
    await talks.calling(me, conversation, turn, [ToolCall("1", "read", {}, "waiting")])
    await talks.end(me, TurnRecord(turn, conversation, "chat", "m", "do it", now(), reply="I"), aborted=True)
    kept = await talks.messages(me, conversation)
    assert [(each.part, each.aborted) for each in kept] == [("user", False), ("tools", False), ("reply", True)]
    assert kept[1].calls[0].state == "interrupted"


async def test_text_of_a_model_or_a_tool_is_mended_and_flagged(visits: Visits, talks: GuestConversations) -> None:
    _, me = arrive(visits)
    conversation, turn = (await talks.open(me, None)).conversation_id, uuid4()
    await talks.begin(me, conversation, turn, r"typed \u0000", "chat")
    await talks.start(me, conversation, turn)
    call = ToolCall("1", "read", {}, "done", {"a": ["x\x00y"]}, r"C:\u0041bc")
    await talks.called(me, conversation, turn, [call])
    await talks.end(me, TurnRecord(turn, conversation, "chat", "m", "p", now(), reply="a\ud800b"))
    user, tools, reply = await talks.messages(me, conversation)
    assert user.text == r"typed \u0000" and not user.flagged
    assert tools.flagged and tools.calls[0].result == {"a": ["x\ufffdy"]} and tools.calls[0].shown == r"C:\u0041bc"
    assert reply.flagged and reply.text == "a\ufffdb"


async def test_a_visit_has_bounds(visits: Visits, talks: GuestConversations, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    _, me = arrive(visits)
    for _ in range(MOST_TALKS):
        conversation = (await talks.open(me, None)).conversation_id
    with pytest.raises(TooMany, match="at most 20 conversations"):
        await talks.open(me, None)
    for n in range(MOST_A_MINUTE):
        if n % 9 == 0:
            conversation = (await talks.list(me))[-1].conversation_id
        await say(talks, me, conversation, "x" * 1000)
    with pytest.raises(TooMany, match="30 messages a minute"):
        await talks.begin(me, conversation, uuid4(), "more", "chat")
    clock.at += 61
    with pytest.raises(TooMany, match="2 MiB"):
        for _ in range(9):
            await say(talks, me, conversation, "x" * 250_000)
    await talks.delete(me, conversation)
    with pytest.raises(NotFound):
        await talks.messages(me, conversation)


async def test_the_visit_idle_longest_makes_room(visits: Visits, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "MOST_VISITS", 3)
    cookies = []
    for _ in range(3):
        cookies.append(arrive(visits)[0])
        clock.at += 1
    first, second = visits.find(cookies[0]), visits.find(cookies[1])
    assert first and second
    with visits.watching(second):
        second.seen = 0
        clock.at += 1
        assert visits.find(cookies[0]) is first
        arrive(visits)
        assert [visits.find(each) is not None for each in cookies] == [True, True, False]
        with visits.watching(first):
            arrive(visits)
            assert visits.find(cookies[0]) is first and len(visits) == 3
