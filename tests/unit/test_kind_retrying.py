"""When a call is tried again (and when not), and which credential it then shows."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from services.connectors.kinds.http import KIND
from services.connectors.kinds.kind import HttpHead
from services.connectors.kinds.retrying import Retrying, retry_after
from shared.errors import Refused, Transient
from tests.counterparts.calls import Call, prepare, secret, tunnel
from tests.counterparts.server import Seen, serving, whole

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Stumbling:
    """Answers with each status in turn, then with 200. `after`: its Retry-After. `hang_up`: says nothing at all so often."""

    statuses: list[int] = field(default_factory=list)
    after: str = "0"
    hang_up: int = 0

    async def handle(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if self.hang_up:
            self.hang_up -= 1
            writer.close()
        elif self.statuses:
            writer.write(whole(self.statuses.pop(0), b"not now", ("Retry-After", self.after)))
        else:
            writer.write(whole(200, seen.body or b"here"))


async def ask(there: Stumbling, method: str = "GET", body: bytes = b"", **declared: Any) -> tuple[Call, list[Seen]]:
    with serving(there.handle) as found:
        settings = {"base": found.url, "methods": [method], **declared}
        call = prepare(KIND, settings, http=tunnel(method, "/", {}, body), sending=[body[:5], body[5:]])
        await KIND.run(call)
        return call, found.seen


async def test_what_was_turned_away_is_sent_again_with_its_body() -> None:
    call, seen = await ask(Stumbling([429, 503]), "POST", b"hello again")
    assert [each.body for each in seen] == [b"hello again"] * 3
    assert (call.status, call.sent) == ("200", b"hello again")
    assert call.notes == ["tried again after status 429", "tried again after status 503"]


async def test_the_last_try_s_answer_is_passed_on() -> None:
    call, seen = await ask(Stumbling([429] * 9))
    assert (call.status, len(seen)) == ("429", 3)
    assert call.headers["retry-after"] == "0"


async def test_whoever_asks_for_more_time_than_there_is_is_not_asked_again() -> None:
    call, seen = await ask(Stumbling([503], after="31"))
    assert (call.status, len(seen)) == ("503", 1)


async def test_what_may_have_been_done_is_not_done_twice() -> None:
    for method, times in (("POST", 1), ("GET", 2)):
        call, seen = await ask(Stumbling([502]), method, b"x" if method == "POST" else b"")
        assert len(seen) == times
        assert call.status == ("502" if method == "POST" else "200")
    with pytest.raises(Transient):
        await ask(Stumbling(hang_up=1), "POST", b"x")
    _, seen = await ask(Stumbling(hang_up=1))
    assert len(seen) == 2


async def test_a_large_body_is_sent_once() -> None:
    call, seen = await ask(Stumbling([429]), "POST", b"x" * (2 * 1024 * 1024))
    assert (call.status, len(seen)) == ("429", 1)


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert retry_after({"retry-after": "7"}, NOW) == 7
    assert retry_after({"retry-after": format_datetime(NOW + timedelta(seconds=9), usegmt=True)}, NOW) == 9
    assert retry_after({"retry-after": format_datetime(NOW - timedelta(days=9), usegmt=True)}, NOW) == 0
    endless = "Mon, 01 Jan 2024 00:00:00 +99999999999999"
    for odd in ("", "soon", "-1", "1e9", "９", "Mon, 99 Foo 2026", endless):
        assert retry_after({"retry-after": odd}, NOW) is None


def test_waits_grow_and_fit_into_the_time_left() -> None:
    retrying = Retrying(5)
    waits = [retrying.after_status(tried, "GET", 503, {}, NOW, 60) for tried in range(6)]
    assert waits[5] is None
    assert all(wait is not None and 0.25 * 2**tried <= wait <= 0.5 * 2**tried for tried, wait in enumerate(waits[:5]))
    assert retrying.after_status(0, "GET", 503, {}, NOW, 0.1) is None


async def test_while_versions_overlap_the_one_before_is_shown_when_the_new_one_is_not_accepted() -> None:
    async def handle(seen: Seen, writer: asyncio.StreamWriter) -> None:
        right = seen.header("authorization") == "Bearer the-old-value"
        writer.write(whole(200 if right else 401, b""))

    with serving(handle) as there:
        settings = {"base": there.url, "auth": ["bearer"]}
        new, old = secret("api_key", 2, key="the-new-value"), secret("api_key", 1, key="the-old-value")
        call = prepare(KIND, settings, http=tunnel("GET", "/"), secrets=[new], earlier=[old])
        await KIND.run(call)
        assert call.status == "200"
        assert call.notes == ["agent/there/main v2 was not accepted; agent/there/main v1 was shown instead"]
        alone = prepare(KIND, settings, http=tunnel("GET", "/"), secrets=[new])
        await KIND.run(alone)
        assert alone.status == "401"


@pytest.mark.parametrize("parts", [[b"less"], [b"much more than", b" was said before"]])
async def test_a_body_of_another_length_than_was_said_is_not_sent_as_whole(parts: list[bytes]) -> None:
    there = Stumbling()
    with serving(there.handle) as found:
        settings = {"base": found.url, "methods": ["POST"]}
        call = prepare(KIND, settings, http=tunnel("POST", "/", {}, b"0123456789"), sending=parts)
        with pytest.raises(Refused, match="than the 10 bytes that were said"):
            await KIND.run(call)
        assert found.seen == []


async def test_a_body_that_breaks_off_is_never_sent_as_whole() -> None:
    """Even where the method could be repeated and nobody said how long the body is."""

    async def lost() -> AsyncIterator[bytes]:
        yield b"the first half"
        raise Transient("a part of the request's body was lost on its way", code="body_lost")

    there = Stumbling()
    with serving(there.handle) as found:
        head = HttpHead("PUT", "https://there.connector/", (("transfer-encoding", "chunked"),))
        call = prepare(KIND, {"base": found.url, "methods": ["PUT"]}, http=head)
        call.body = lost  # type: ignore[method-assign]
        with pytest.raises(Transient) as caught:
            await KIND.run(call)
        assert caught.value.code == "body_lost"
        assert found.seen == []
