"""The wire of asking, and one answer as its asker sees it: numbered, held back, and never half believed."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from shared.asking.answer import Answer
from shared.asking.body import pieces
from shared.asking.transport import tunnelled
from shared.asking.wire import (
    BODY,
    CHUNK,
    CREDIT,
    END,
    ERROR,
    FIRST_BODY,
    HEAD,
    KEEP,
    WINDOW,
    Ask,
    HttpAsk,
    frame,
    message,
    pack,
    unpack,
)
from shared.errors import NotFound, Refused, SchleuseError, Transient
from shared.ids import fresh_id

TOLD: list[int] = []


async def told(answer: Answer) -> None:
    TOLD.append(answer.taken)


def new() -> Answer:
    TOLD.clear()
    return Answer(fresh_id(), told)


async def read(answer: Answer) -> list[tuple[str, bytes]]:
    return [(each.kind, each.payload) async for each in answer.frames()]


async def lost(answer: Answer) -> SchleuseError:
    with pytest.raises(SchleuseError) as found:
        await read(answer)
    return found.value


def test_a_message_comes_back_with_its_body_as_it_was() -> None:
    ask = Ask(ask_id=fresh_id(), connector="there", operation="get", body_bytes=5)
    body = b"\n\x00\xff{}"
    assert unpack(Ask, pack(ask, body)) == (ask, body)


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ({"owner": {"kind": "user", "id": "1"}}, "unknown_parameter"),
        ({"asker": "console"}, "unknown_parameter"),
        ({"connector": "no such name"}, "malformed"),
        ({"wait_s": 1e9}, "malformed"),
        ({"ask_id": "x"}, "malformed"),
        ({"body_bytes": -1}, "malformed"),
    ],
)
def test_what_nobody_knows_or_can_be_meant_is_an_error(head: dict[str, object], code: str) -> None:
    raw = json.dumps({"ask_id": str(fresh_id()), "connector": "there", **head}).encode()
    with pytest.raises(Refused) as found:
        unpack(Ask, raw)
    assert found.value.code == code


@pytest.mark.parametrize("raw", [b"", b"\n", b"{", b"[]", b"\xff\xfe\n", b'{"ask_id": "' + b"[" * 100_000])
def test_rubbish_is_refused_and_breaks_nothing(raw: bytes) -> None:
    with pytest.raises(Refused):
        unpack(HttpAsk, raw)


def test_what_an_asker_gives_wrongly_is_refused_without_being_repeated() -> None:
    with pytest.raises(Refused) as found:
        message(Ask, ask_id=fresh_id(), connector="sk planted")
    assert found.value.code == "malformed" and "planted" not in found.value.message


async def test_frames_are_read_in_order_and_the_asker_says_what_it_has_taken() -> None:
    answer = new()
    answer.arrive(frame(HEAD, 0, b"{}"))
    answer.arrive(frame(KEEP, 0))
    for number in range(8):
        answer.arrive(frame(BODY, number + 1, b"x" * CHUNK))
    reading = asyncio.ensure_future(read(answer))
    await asyncio.sleep(0)
    answer.arrive(frame(END, 9, b"{}"))
    found = await reading
    assert [kind for kind, _ in found] == [HEAD, *[BODY] * 8, END]
    assert answer.taken == 8 * CHUNK and answer.over
    assert all(each <= WINDOW for each in TOLD)


async def test_a_frame_that_is_missing_ends_the_answer_as_lost() -> None:
    answer = new()
    answer.arrive(frame(HEAD, 0, b"{}"))
    answer.arrive(frame(BODY, 2, b"the second"))
    error = await lost(answer)
    assert isinstance(error, Transient) and error.code == "answer_lost"


async def test_nobody_there_is_said_at_once_and_a_typed_error_stays_what_it_was() -> None:
    away, refused = new(), new()
    away.arrive(None)
    assert (await lost(away)).code == "connectors_away"
    said = {"status": 404, "code": "secret_unknown", "message": "agent has no secret"}
    refused.arrive(frame(ERROR, 0, json.dumps(said).encode()))
    error = await lost(refused)
    assert isinstance(error, NotFound) and (error.code, error.message) == ("secret_unknown", "agent has no secret")
    through = tunnelled(error)
    assert isinstance(through, NotFound) and through.code == "secret_unknown"


async def test_a_body_waits_for_room_and_stops_when_the_answer_begins() -> None:
    answer = new()
    waiting = asyncio.ensure_future(answer.room_for(FIRST_BODY))
    await asyncio.sleep(0)
    assert not waiting.done(), "the first piece travels with the request; more waits until it is wanted"
    answer.arrive(frame(CREDIT, 0, b"%d" % FIRST_BODY))
    assert await waiting
    answer.arrive(frame(HEAD, 0, b"{}"))
    assert not await answer.room_for(FIRST_BODY)


@pytest.mark.parametrize("size", [0, 1, FIRST_BODY, FIRST_BODY + 1, FIRST_BODY + CHUNK, FIRST_BODY + 3 * CHUNK + 5])
async def test_pieces_of_a_body_are_small_enough_and_make_it_whole(size: int) -> None:
    body = bytes(number % 251 for number in range(size))

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, size, 7001):
            yield body[start : start + 7001]

    found = [each async for each in pieces(parts())]
    assert b"".join(part for part, _ in found) == body
    assert len(found[0][0]) <= FIRST_BODY and all(len(part) <= CHUNK for part, _ in found[1:])
    assert [more for _, more in found] == [True] * (len(found) - 1) + [False]
