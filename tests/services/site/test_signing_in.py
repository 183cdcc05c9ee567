"""Signing in at the site: the console's word through the browser, once, for this browser, for ten minutes."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from shared.clock import now
from tests.factories.identity import CONSOLE, Console, hand_over, nonce_for, sign_in
from tests.services.site.conftest import ORIGIN, Living, Sites

REFUSED = "The sign-in did not work"


async def is_in(browser: httpx2.AsyncClient) -> bool:
    return 'action="/sign-out"' in (await browser.get("/")).text


async def test_a_person_goes_to_the_console_and_comes_back_signed_in(site: Living) -> None:
    url = await site.publish("secret", audience="members")
    browser = site.visitor()
    asked = await browser.get("/sign-in", params={"next": url})
    there = httpx2.URL(asked.headers["location"])
    assert str(there).startswith(f"{CONSOLE}/identity?") and there.params["audience"] == "site"
    assert there.params["next"] == url and re.fullmatch("[0-9a-f]{64}", there.params["nonce"])
    assert re.fullmatch(r"site_pre=[\w-]{43}; HttpOnly; Max-Age=600; Path=/; SameSite=lax", asked.headers["set-cookie"])
    answer = await hand_over(browser, site.gate.people.token(there.params["nonce"]), url)
    assert (answer.status_code, answer.headers["location"]) == (303, url)
    assert re.search(r"site=[\w-]{43}; HttpOnly; Max-Age=43\d\d\d; Path=/; SameSite=lax", answer.headers["set-cookie"])
    assert (await browser.get(url)).status_code == 200
    stored = await site.value("SELECT string_agg(s::text, ' ') FROM app.identity_sessions s")
    assert browser.cookies["site"] not in stored


@pytest.mark.parametrize(
    "changed",
    [
        {"at": now() - timedelta(seconds=61)},
        {"at": now() + timedelta(hours=2)},  # when the tests are collected, which may be long before
        {"aud": "agent"},
        {"iss": "http://127.0.0.1:1"},
        {"role": "root"},
        {"nonce": "f" * 64},
        {"header": {"kid": "0" * 16}},
    ],
)
async def test_a_token_that_is_not_for_here_and_now_lets_nobody_in(site: Living, changed: dict[str, Any]) -> None:
    browser = site.visitor()
    token = site.gate.people.token(**({"nonce": await nonce_for(browser)} | changed))
    answer = await hand_over(browser, token)
    assert answer.status_code == 403 and REFUSED in answer.text
    assert answer.headers["cache-control"] == "private, no-store" and "set-cookie" not in answer.headers
    assert not await is_in(browser)


async def test_a_token_of_the_decision_key_lets_nobody_in(site: Living) -> None:
    browser = site.visitor()
    forger = Console("site")
    head = {"kid": site.gate.people.key.key_id}
    for token in (forger.token(await nonce_for(browser)), forger.token(await nonce_for(browser), header=head)):
        assert (await hand_over(browser, token)).status_code == 403
    assert await site.value("SELECT count(*) FROM app.sign_in_codes") == 0, "strangers leave nothing behind"


async def test_a_token_works_once_and_a_code_works_once(site: Living) -> None:
    browser = site.visitor()
    token = site.gate.people.token(await nonce_for(browser))
    answer = await browser.post("/signed-in", data={"token": token, "next": "/"}, headers={"origin": CONSOLE})
    code = answer.headers["location"]
    assert (await browser.get(code)).status_code == 303
    again = await browser.get(code)
    assert again.status_code == 403 and "set-cookie" not in again.headers
    assert (await hand_over(browser, token)).status_code == 403
    assert (await browser.get("/signed-in?code=guess")).status_code == 403
    assert (await browser.get("/signed-in")).status_code == 403


async def test_a_token_is_bound_to_the_browser_that_asked(site: Living) -> None:
    mine, other = site.visitor(), site.visitor()
    await nonce_for(other)
    token = site.gate.people.token(await nonce_for(mine))
    sent = await mine.post("/signed-in", data={"token": token, "next": "/"}, headers={"origin": CONSOLE})
    stolen = await other.get(sent.headers["location"])
    assert stolen.status_code == 403 and "another browser" in stolen.text
    assert (await site.visitor().get(sent.headers["location"])).status_code == 403, "and one without any cookie"
    assert (await mine.get(sent.headers["location"])).status_code == 303, "whose it is loses nothing by that"


@pytest.mark.parametrize(
    "origin", [ORIGIN, "http://evil.test", "null", "http://localhost:9301", CONSOLE + ".evil.test", ""]
)
async def test_only_the_console_may_post_a_token(site: Living, origin: str) -> None:
    browser = site.visitor()
    token = site.gate.people.token(await nonce_for(browser))
    headers = {"origin": origin, "sec-fetch-site": "same-origin"} if origin else {}
    answer = await browser.post("/signed-in", data={"token": token, "next": "/"}, headers=headers)
    assert answer.status_code == 403 and not await is_in(browser)


@pytest.mark.parametrize("path", ["/sign-out", "/signals/vote", "/signals/feedback", "/invited/x", "/signed-in/"])
async def test_the_console_may_post_nothing_else(site: Living, path: str) -> None:
    answer = await site.http.post(path, data={"token": "x"}, headers={"origin": CONSOLE})
    assert (answer.status_code, answer.text) == (403, "This request came from another site and was refused.")


async def test_a_foreign_host_name_is_not_answered(site: Living) -> None:
    for path in ("/sign-in", "/signed-in?code=x", "/invited/x"):
        assert (await site.http.get(path, headers={"host": "localhost:9300"})).status_code == 421


@pytest.mark.parametrize(
    "place",
    ["//evil.test", "\\\\evil.test", "/\\evil.test", "javascript:alert(1)", "https://evil.test", "/a\nb", "/a\tb"],
)
async def test_nobody_is_sent_elsewhere(site: Living, place: str) -> None:
    browser = site.visitor()
    asked = await browser.get("/sign-in", params={"next": place})
    there = httpx2.URL(asked.headers["location"])
    assert there.params["next"] == "/"
    answer = await hand_over(browser, site.gate.people.token(there.params["nonce"]), place)
    assert answer.headers["location"] == "/"


async def test_a_session_is_renewed_through_the_console_after_ten_minutes(site: Living) -> None:
    browser = site.visitor()
    subject = uuid4()
    await sign_in(browser, site.gate.people, sub=subject)
    ends = await site.value("SELECT ends_at FROM app.identity_sessions")
    await site.sql("UPDATE app.identity_sessions SET renew_at = clock_timestamp()")
    page = await browser.get("/search", params={"q": "x"})
    assert (page.status_code, page.headers["location"]) == (303, "/sign-in?next=%2Fsearch%3Fq%3Dx")
    picture = await browser.get(f"/s/{uuid4()}.gif", headers={"sec-fetch-dest": "image"})
    assert picture.status_code == 200, "only pages go that way"
    await sign_in(browser, site.gate.people, sub=subject)
    assert await is_in(browser)
    assert await site.value("SELECT count(*) FROM app.identity_sessions") == 1
    assert await site.value("SELECT ends_at FROM app.identity_sessions") == ends, "twelve hours in all"


async def test_after_twelve_hours_nobody_is_taken_along_silently(site: Living) -> None:
    browser = site.visitor()
    await sign_in(browser, site.gate.people)
    await site.sql("UPDATE app.identity_sessions SET renew_at = clock_timestamp(), ends_at = clock_timestamp()")
    answer = await browser.get("/")
    assert answer.status_code == 200 and 'site=""; ' in answer.headers["set-cookie"]
    assert not await is_in(browser)


async def test_signing_out_ends_this_browser_only(site: Living) -> None:
    one, other, subject = site.visitor(), site.visitor(), uuid4()
    for browser in (one, other):
        await sign_in(browser, site.gate.people, sub=subject)
    cookie = one.cookies["site"]
    found = re.search(r'/sign-out"><input type="hidden" name="token" value="(\w+)"', (await one.get("/")).text)
    assert found
    assert (await one.post("/sign-out", data={"token": "x"}, headers={"origin": ORIGIN})).status_code == 403
    answer = await one.post("/sign-out", data={"token": found[1]}, headers={"origin": ORIGIN})
    assert answer.headers["location"] == "/"
    one.cookies.set("site", cookie)
    assert not await is_in(one), "a kept cookie is worth nothing"
    assert await is_in(other)


async def test_the_console_ends_sessions_at_every_instance(sites: Sites, site: Living) -> None:
    second = await sites.start(site.gate)
    await second.replay()
    subject, sid = uuid4(), uuid4()
    people = site.gate.people
    browsers = [site.visitor() for _ in range(3)]
    for browser in browsers:
        await sign_in(browser, people, sub=subject, sid=sid)
    twin = second.visitor()
    twin.cookies.set("site", browsers[0].cookies["site"])
    assert await is_in(twin), "sessions lie in the database"
    await site.hear("session.closed", people.ending(sid))
    assert not await is_in(twin) and not await is_in(browsers[1])
    late = site.visitor()
    assert (await hand_over(late, people.token(await nonce_for(late), sub=subject, sid=sid))).status_code == 403


@pytest.mark.parametrize("role", [None, "viewer"])
async def test_a_standing_counts_from_its_moment(site: Living, role: str | None) -> None:
    subject, people = uuid4(), site.gate.people
    before, browser = site.visitor(), site.visitor()
    token = people.token(await nonce_for(before), now() - timedelta(seconds=2), sub=subject)
    await sign_in(browser, people, at=now() - timedelta(seconds=2), sub=subject)
    await site.hear("person.recorded", people.standing(subject, role))
    assert not await is_in(browser), "what was begun before is over"
    assert (await hand_over(before, token)).status_code == 403, "and so is what was under way"
    later = now() + timedelta(seconds=1)
    allowed = await hand_over(before, people.token(await nonce_for(before), later, sub=subject))
    assert allowed.status_code == (403 if role is None else 303)


async def test_an_older_standing_never_replaces_a_newer_one(site: Living) -> None:
    subject, people = uuid4(), site.gate.people
    old, new = people.standing(subject, "member"), people.standing(subject, None)
    await site.hear("person.recorded", new, old, new)
    assert await site.value("SELECT version FROM app.standings WHERE role IS NULL") == 2


async def test_the_newer_of_token_and_standing_says_the_role(site: Living) -> None:
    subject, people, browser = uuid4(), site.gate.people, site.visitor()
    await sign_in(browser, people, sub=subject, role="viewer")
    since = now() - timedelta(minutes=1)
    await site.hear("person.recorded", people.standing(subject, "admin", sessions_from=since))
    found = await site.site.sessions.find(browser.cookies["site"])
    assert found is not None and found.role == "admin"
    await site.hear("person.recorded", people.standing(subject, "member", sessions_from=since, decided_at=since))
    found = await site.site.sessions.find(browser.cookies["site"])
    assert found is not None and found.role == "viewer", "the token is younger than this standing"


async def test_what_is_for_the_workspace_or_signed_by_others_is_refused(site: Living) -> None:
    from shared.errors import BadSignature  # noqa: PLC0415

    agent, forger, subject = Console("agent", site.gate.people.seed), Console("site"), uuid4()
    for name, event in (
        ("person.recorded", agent.standing(subject, "owner")),
        ("person.recorded", forger.standing(subject, "owner")),
        ("session.closed", agent.ending(uuid4())),
        ("session.closed", forger.ending(uuid4())),
    ):
        with pytest.raises(BadSignature):
            await site.hear(name, event)
    assert await site.value("SELECT count(*) FROM app.standings") == 0


async def test_what_is_over_is_deleted(site: Living) -> None:
    browser = site.visitor()
    await sign_in(browser, site.gate.people)
    await site.hear("session.closed", site.gate.people.ending(uuid4()))
    for table, column in (("identity_sessions", "ends_at"), ("used_tokens", "used_at"), ("ended_sign_ins", "ended_at")):
        await site.sql(f"UPDATE app.{table} SET {column} = {column} - interval '2 days'")
    await site.sql("INSERT INTO app.sign_in_codes VALUES ('x', 'y', '/', clock_timestamp() - interval '61 seconds')")
    await site.site.identity_upkeep.clean()
    for table in ("identity_sessions", "used_tokens", "ended_sign_ins", "sign_in_codes"):
        assert await site.value(f"SELECT count(*) FROM app.{table}") == 0
