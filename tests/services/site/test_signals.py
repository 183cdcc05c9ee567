"""What visitors do: once each, within limits, durable before the answer, without a trace of who they are (rules 25, 30a)."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from schemas.site.v1 import Signal
from services.site.signals.domain import FormTokens, packed
from services.site.signals.limits import RateLimit
from services.site.signals.visitors import Visitors
from shared.clock import now
from shared.ids import item_id
from tests.services.site.conftest import INGEST, ORIGIN, Living, Sites
from tests.services.site.gatework import Gatework

HERE = {"origin": ORIGIN}
OF = item_id("doc", "en", "a")


async def form(site: Living, url: str = "/doc/en/a") -> dict[str, str]:
    page = (await site.http.get(url)).text
    found = dict(re.findall(r'<input type="hidden" name="(item_id|token)" value="([^"]+)"', page))
    assert set(found) == {"item_id", "token"}
    return found


async def post(
    client: httpx2.AsyncClient, what: str, data: Mapping[str, str], headers: Mapping[str, str] = HERE
) -> httpx2.Response:
    return await client.post(f"/signals/{what}", data=dict(data), headers=dict(headers))


async def signals(site: Living) -> list[Signal]:
    """Every signal in every event that was staged, read by the contract."""
    return [Signal.model_validate(each) for event in await site.told("signals.recorded") for each in event["signals"]]


async def test_a_view_is_counted_by_the_picture_on_the_page(site: Living) -> None:
    page = (await site.http.get(await site.publish("a"))).text
    (src,) = re.findall(r'<img class="seen" src="([^"]+)"', page)
    picture = await site.http.get(src)
    assert (picture.headers["content-type"], picture.headers["cache-control"]) == ("image/gif", "private, no-store")
    (view,) = await signals(site)
    assert (view.kind, view.item_id, view.path) == ("view", OF, "/doc/en/a")
    assert await site.value("SELECT count(*) FROM app.signals") == 1


async def test_the_picture_tells_nothing_about_what_is_not_published(site: Living) -> None:
    await site.publish("a")
    await site.publish("inner", audience="members")
    known = await site.http.get(f"/s/{OF}.gif")
    for other in (item_id("doc", "en", "inner"), uuid4()):
        answer = await site.http.get(f"/s/{other}.gif")
        assert (answer.status_code, answer.content) == (known.status_code, known.content)
        assert dict(answer.headers) == dict(known.headers)
    assert len(await signals(site)) == 1


async def test_a_form_comes_back_to_its_page(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    for what, extra, anchor in (
        ("vote", {"value": "1"}, "#voted"),
        ("reaction", {"reaction": "clear"}, "#reacted"),
        ("feedback", {"text": "Größer,\r\nbitte 👍"}, "#fed-back"),
    ):
        answer = await post(site.http, what, fields | extra)
        assert (answer.status_code, answer.headers["location"]) == (303, "/doc/en/a" + anchor)
    vote, reaction, feedback = await signals(site)
    assert (vote.value, reaction.reaction, feedback.text) == (1, "clear", "Größer,\nbitte 👍")
    assert len({vote.visitor, reaction.visitor, feedback.visitor}) == 1


async def test_thirty_parallel_votes_count_one(site: Living) -> None:
    """PB-08."""
    await site.publish("a")
    fields = await form(site)
    answers = await asyncio.gather(*(post(site.http, "vote", fields | {"value": "1"}) for _ in range(31)))
    assert sorted(each.status_code for each in answers) == [303] * 30 + [429]
    assert await site.value("SELECT count(*) FROM app.votes WHERE value = 1") == 1
    refused = next(each for each in answers if each.status_code == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60


async def test_votes_undone_and_redone_are_never_negative(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    for value in ("1", "0", "-1", "0", "0", "1", "-1", "0"):
        assert (await post(site.http, "vote", fields | {"value": value})).status_code == 303
    assert await site.value("SELECT sum(value) FROM app.votes") == 0
    assert await site.value("SELECT count(*) FROM app.votes") == 1


async def test_invented_forwarding_headers_change_nothing(site: Living) -> None:
    """PB-08: only a trusted proxy says who the visitor is."""
    await site.publish("a")
    fields = await form(site)
    codes = []
    for number in range(40):
        invented = {
            "x-forwarded-for": f"203.0.113.{number}",
            "x-real-ip": f"203.0.113.{number}",
            "forwarded": "for=1.2.3.4",
        }
        codes.append((await post(site.http, "vote", fields | {"value": "1"}, HERE | invented)).status_code)
    assert codes == [303] * 30 + [429] * 10
    assert await site.value("SELECT count(*) FROM app.votes") == 1


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        ("198.51.100.7", "203.0.113.1", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.1", "203.0.113.1"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.1, 10.0.0.2", "203.0.113.1"),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
async def test_a_trusted_proxy_says_who_the_visitor_is(site: Living, client: str, forwarded: str, address: str) -> None:
    visitors = Visitors(site.db, ("10.0.0.1", "10.0.0.2"))
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    assert await visitors.name(client, headers) == await visitors.name(address, {})


async def test_visitors_are_told_apart_and_neither_address_nor_agent_is_kept(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    for address, agent in (("198.51.100.1", "Firefox"), ("198.51.100.2", "Firefox"), ("198.51.100.1", "Chrome")):
        async with site.visitor(address, agent) as visitor:
            await post(visitor, "vote", fields | {"value": "1"})
    assert await site.value("SELECT count(*) FROM app.votes") == 3
    for table in ("signals", "votes", "outbox"):
        kept = await site.value(f"SELECT string_agg(t::text, ' ') FROM app.{table} t")
        bodies = await site.value("SELECT string_agg(convert_from(body, 'utf8'), ' ') FROM app.outbox")
        assert not re.search(r"198\.51\.100|Firefox|Chrome", kept + bodies)


async def test_counts_are_shown_a_little_later(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    await post(site.http, "vote", fields | {"value": "1"})
    for tick in site.site.watch.ticks:
        tick()
    assert "Yes · 1" in (await site.http.get("/doc/en/a")).text


@pytest.mark.parametrize(
    ("what", "extra", "status"),
    [
        ("vote", {"value": "2"}, 422),
        ("vote", {}, 422),
        ("reaction", {"reaction": "<script>"}, 422),
        ("feedback", {"text": "   "}, 422),
        ("feedback", {"text": "x" * 4001}, 413),
        ("feedback", {"text": "a\x00b"}, 422),
        ("feedback", {"text": "ok", "token": "0" * 32}, 403),
        ("feedback", {"text": "ok", "token": "é" * 9}, 403),
        ("feedback", {"text": "ok", "item_id": "no uuid"}, 404),
        ("feedback", {"text": "ok", "item_id": str(uuid4())}, 404),
    ],
)
async def test_bad_input_is_refused_in_words(site: Living, what: str, extra: dict[str, str], status: int) -> None:
    await site.publish("a")
    answer = await post(site.http, what, await form(site) | extra)
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert await signals(site) == []


async def test_text_at_the_limit_and_lone_surrogates(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    assert (await post(site.http, "feedback", fields | {"text": "ß" * 4000})).status_code == 303
    raw = f"item_id={fields['item_id']}&token={fields['token']}&text=%ED%A0%80"
    headers = HERE | {"content-type": "application/x-www-form-urlencoded"}
    assert (await site.http.post("/signals/feedback", content=raw, headers=headers)).status_code == 422
    big = await site.http.post("/signals/feedback", content="text=" + "a" * 70_000, headers=headers)
    assert big.status_code == 413


async def test_a_form_of_another_site_is_refused(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    answer = await post(site.http, "vote", fields | {"value": "1"}, {"origin": "http://evil.example"})
    assert answer.status_code == 403
    assert await signals(site) == []


async def test_a_shut_site_takes_no_signals(site: Living) -> None:
    await site.publish("a")
    fields = await form(site)
    await site.hear("mode.entered", site.gate.mode("off"))
    assert (await post(site.http, "vote", fields | {"value": "1"})).status_code == 403
    assert (await site.http.get(f"/s/{OF}.gif")).status_code == 403


async def test_signals_that_come_together_share_an_event(site: Living) -> None:
    await site.publish("a")
    await site.http.get(f"/s/{OF}.gif")
    visitors = [site.visitor(f"198.51.100.{number}") for number in range(60)]
    await asyncio.gather(*(visitor.get(f"/s/{OF}.gif") for visitor in visitors))
    assert len(await signals(site)) == 61
    assert len(await site.told("signals.recorded")) < 20


async def ingest(site: Living, lines: list[dict[str, Any]], token: str = INGEST, **more: Any) -> httpx2.Response:
    return await site.http.post(
        "/signals/ingest", json={"batch": lines, **more}, headers={"authorization": f"Bearer {token}"}
    )


def line(
    path: str, address: str = "198.18.70.105", at: str = "2015-05-17T10:05:03Z", of: UUID | None = None
) -> dict[str, str]:
    return {"id": str(of or uuid4()), "address": address, "agent": "Mozilla", "at": at, "path": path}


async def test_a_line_counts_for_its_page_whoever_may_read_it(site: Living) -> None:
    url = await site.publish("secret", audience="members")
    await ingest(site, [line(url)])
    assert [each.item_id for each in await signals(site)] == [item_id("doc", "en", "secret")]


async def test_lines_of_a_log_become_views_exactly_once(site: Living) -> None:
    await site.publish("ü b".replace(" ", "-"))
    lines = [line("/doc/en/%C3%BC-b"), line("/blog/x", at="2015-05-17T12:00:00+02:00"), line("/blog/x", "198.18.1.1")]
    assert (await ingest(site, lines)).json() == {"accepted": 3, "repeated": 0}
    assert (await ingest(site, [*lines, line("/new"), lines[0]])).json() == {"accepted": 1, "repeated": 4}
    first, second, third, fourth = await signals(site)
    assert (first.item_id, first.path) == (item_id("doc", "en", "ü-b"), "/doc/en/%C3%BC-b")
    assert (second.item_id, second.path, second.at.isoformat()) == (None, "/blog/x", "2015-05-17T10:00:00+00:00")
    assert first.visitor == second.visitor != third.visitor
    assert fourth.path == "/new"
    assert await site.value("SELECT count(*) FROM app.signals") == 4


async def test_the_same_address_is_another_visitor_on_another_day(site: Living) -> None:
    await ingest(site, [line("/a"), line("/a", at="2015-05-18T10:00:00Z")])
    assert len({each.visitor for each in await signals(site)}) == 2


async def test_a_log_is_cut_into_events_as_asked(site: Living) -> None:
    await ingest(site, [line(f"/{number}") for number in range(250)])
    assert [len(each["signals"]) for each in await site.told("signals.recorded")] == [100, 100, 50]
    await ingest(site, [line("/x") for _ in range(5)], per_event=1)
    assert len(await site.told("signals.recorded")) == 8


async def test_the_door_for_logs_needs_its_token_and_names_bad_lines(site: Living) -> None:
    assert (await ingest(site, [line("/a")], token="guess")).status_code == 401
    bad: list[tuple[dict[str, Any], str]] = [
        (line("/a") | {"id": "1"}, "UUID"),
        (line("/a") | {"at": "yesterday"}, "isoformat"),
        (line("/a") | {"at": "2015-05-17T10:05:03"}, "offset"),
        (line("/a\x00"), "NUL"),
        (line("/" + "a" * 2001), "2000"),
        ({"id": str(uuid4())}, "path"),
    ]
    for broken, word in bad:
        answer = await ingest(site, [line("/good"), broken])
        assert answer.status_code == 422
        assert "line 1" in answer.json()["error"]
        assert word in answer.json()["error"]
    assert (await ingest(site, [], per_event=0)).status_code == 422
    assert (await ingest(site, [line("/a")] * 5001)).status_code == 413
    assert await site.value("SELECT count(*) FROM app.signals") == 0


async def test_raw_signals_go_after_seven_days(sites: Sites, site: Living) -> None:
    await ingest(site, [line("/old"), line("/new")])
    await site.sql("UPDATE app.signals SET received_at = now() - interval '7 days 1 hour' WHERE path = '/old'")
    from services.site.signals.usecases.prune_signals import prune_signals  # noqa: PLC0415

    assert await prune_signals(site.db) == 1
    assert await site.value("SELECT string_agg(path, ',') FROM app.signals") == "/new"


async def test_day_keys_are_shared_and_forgotten(sites: Sites, site: Living) -> None:
    await site.sql("INSERT INTO app.visitor_keys VALUES (current_date - 2, 'x'), (current_date - 1, 'y')")
    await site.publish("a")
    await site.http.get(f"/s/{OF}.gif")
    other = await sites.start(Gatework(site.gate.decider, site.gate.gate, site.gate.seq, site.gate.hash))
    await other.hear("head.sealed", site.gate.head(other.site.books.door.nonce))
    await other.http.get(f"/s/{OF}.gif")
    assert len({each.visitor for each in await signals(site)}) == 1
    assert await site.value("SELECT count(*) FROM app.visitor_keys") == 2


def test_the_limit_slides_and_forgets_nobody_early() -> None:
    clock = [0.0]
    limit = RateLimit(lambda: clock[0])
    assert [limit.wait("v") for _ in range(30)] == [0] * 30
    clock[0] = 59.0
    assert limit.wait("v") == 2
    assert limit.wait("w") == 0
    clock[0] = 60.0
    assert [limit.wait("v") for _ in range(30)] == [0] * 30
    assert limit.wait("v") > 0


def test_form_tokens_last_over_midnight_and_name_one_item() -> None:
    tokens = FormTokens(b"k" * 32)
    day = now().date()
    token = tokens.make(OF, day)
    assert tokens.is_good(token, OF, day)
    assert tokens.is_good(token, OF, day.fromordinal(day.toordinal() + 1))
    assert tokens.is_good(token, OF, day.fromordinal(day.toordinal() - 1))
    assert not tokens.is_good(token, OF, day.fromordinal(day.toordinal() + 2))
    assert not tokens.is_good(token, uuid4(), day)


def test_groups_keep_both_limits() -> None:
    assert [len(group) for group in packed([b"x"] * 250)] == [100, 100, 50]
    assert [len(group) for group in packed([b"x" * 100_000] * 5)] == [2, 2, 1]
    assert list(packed([])) == []
