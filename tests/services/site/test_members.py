"""Two readerships (rule 27, S7): what is for members reaches nobody else, by no way, in no count and no cache."""

import asyncio
import re
import time
from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from services.site.publication.domain import Row
from services.site.reading.rendering import Renderer
from shared.clock import now
from shared.ids import item_id, new_token
from tests.factories.identity import sign_in
from tests.services.site.conftest import ORIGIN, Living, Sites

PRIVATE = "private, no-store"
SECRET = item_id("doc", "en", "secret")


@pytest.fixture
async def member(site: Living) -> httpx2.AsyncClient:
    browser = site.visitor("198.51.100.9")
    await sign_in(browser, site.gate.people)
    return browser


async def status(browser: httpx2.AsyncClient, url: str) -> int:
    return (await browser.get(url)).status_code


async def found(browser: httpx2.AsyncClient, words: str) -> int:
    return (await browser.get("/search", params={"q": words})).text.count("<li><h2>")


def form_of(page: str) -> dict[str, str]:
    got = re.search(r'name="item_id" value="([\w-]+)"><input type="hidden" name="token" value="(\w+)"', page)
    assert got
    return {"item_id": got[1], "token": got[2]}


async def everything(browser: httpx2.AsyncClient) -> str:
    """All that a reader can find without knowing an address."""
    paths = (
        "/",
        "/doc/",
        "/doc/en/",
        "/en/",
        "/feed.xml",
        "/en/feed.xml",
        "/sitemap.xml",
        "/search?q=hush",
        "/doc/en/open",
    )
    return "".join([(await browser.get(path)).text for path in paths])


async def test_what_is_for_members_is_nowhere_for_the_public(site: Living, member: httpx2.AsyncClient) -> None:
    open_, secret = await site.publish("open", "[to it](secret.md) Text."), await site.publish("secret", "hush", audience="members", title="Hush title")  # fmt: skip
    public = site.visitor()
    nothing = await public.get("/doc/en/nothing")
    hidden = await public.get(secret)
    assert (hidden.status_code, hidden.text) == (404, nothing.text)
    for form in (f"/receipt/{SECRET}", f"/receipt/{SECRET}.json", secret + "/", secret + ".md"):
        assert await status(public, form) == 404
    seen = await everything(public)
    assert "secret" not in seen and "Hush title" not in seen and await found(public, "hush") == 0
    assert "1 page" in (await public.get("/doc/")).text
    all_ = await everything(member)
    assert "Hush title" in all_ and f'href="{secret}"' in all_ and open_ in all_
    assert await status(member, f"/receipt/{SECRET}") == 200
    assert "Only members see this page." in (await member.get(secret)).text


async def test_nothing_that_a_member_sees_may_be_kept_by_others(site: Living, member: httpx2.AsyncClient) -> None:
    open_, secret = await site.publish("open"), await site.publish("secret", audience="members")
    for path in ("/", open_, secret, "/feed.xml", "/sitemap.xml", "/search?q=x", f"/receipt/{SECRET}", "/nothing"):
        for _ in range(2):  # rendered, and from memory
            assert (await member.get(path)).headers["cache-control"] == PRIVATE, path
    public = await site.visitor().get(open_)
    assert public.headers["cache-control"].startswith("public") and public.headers["vary"] == "Cookie"


async def test_a_cookie_neither_gets_nor_fills_what_the_public_shares(site: Living, member: httpx2.AsyncClient) -> None:
    url = await site.publish("open")
    await member.get(url)
    assert url not in site.site.cache.pages
    stranger = site.visitor()
    stranger.cookies.set("site", new_token())
    answer = await stranger.get(url)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, PRIVATE)
    assert url not in site.site.cache.pages and 'site=""; ' in answer.headers["set-cookie"]
    await site.http.get(url)
    assert url in site.site.cache.pages
    assert (await member.get(url)).headers["cache-control"] == PRIVATE
    assert "/sign-out" in (await member.get(url)).text


async def test_an_audience_changes_with_a_revision_in_every_index_at_once(
    site: Living, member: httpx2.AsyncClient
) -> None:
    url, public = await site.publish("secret", "hush"), site.visitor()
    assert (await status(public, url), await found(public, "hush")) == (200, 1)
    await site.publish("secret", "hush", audience="members", revision=2)
    assert await status(public, url) == 410, "it was public once"
    assert "/doc/en/secret" not in await everything(public) and await found(public, "hush") == 0
    assert (await status(member, url), await found(member, "hush")) == (200, 1)
    await site.publish("secret", "hush", revision=3)
    assert (await status(public, url), await found(public, "hush"), await found(member, "hush")) == (200, 1, 1)


async def test_another_instance_follows_within_two_seconds(sites: Sites, site: Living) -> None:
    second = await sites.start(site.gate)
    await second.greet()
    url = await site.publish("secret", "hush")
    await second.look()
    assert await status(second.http, url) == 200
    await site.publish("secret", "hush", audience="members", revision=2)
    began = time.monotonic()
    while await status(second.http, url) != 410:
        assert time.monotonic() - began < 2
        await asyncio.sleep(0.02)
    assert "/doc/en/secret" not in await everything(second.http)


@pytest.mark.parametrize("end", ["withdrawn", "undone", "expired"])
async def test_an_address_that_was_only_for_members_never_was_for_the_public(
    site: Living, member: httpx2.AsyncClient, end: str
) -> None:
    until = now() + timedelta(seconds=0.5) if end == "expired" else None
    url = await site.publish("secret", audience="members", expire_at=until)
    assert await status(member, url) == 200
    if end == "withdrawn":
        await site.hear("item.retracted", site.gate.retract(SECRET))
    elif end == "undone":
        await site.hear("item.retracted", site.gate.undo(SECRET))
    else:
        await asyncio.sleep(0.55)
    assert (await status(site.visitor(), url), await status(member, url)) == (404, 410)


async def test_votes_and_views_of_members_stay_theirs(site: Living, member: httpx2.AsyncClient) -> None:
    url, public = await site.publish("secret", audience="members"), site.visitor()
    form = form_of((await member.get(url)).text)
    headers = {"origin": ORIGIN}
    for path, more in (("vote", {"value": "1"}), ("reaction", {"reaction": "clear"}), ("feedback", {"text": "x"})):
        refused = await public.post(f"/signals/{path}", data=form | more, headers=headers)
        assert refused.status_code == 404
        assert (await member.post(f"/signals/{path}", data=form | more, headers=headers)).status_code == 303
    pictures = [await browser.get(f"/s/{id_}.gif") for browser in (public, member) for id_ in (SECRET, uuid4())]
    assert len({(each.content, each.status_code, str(each.headers)) for each in pictures}) == 1
    kinds = await site.value("SELECT array_agg(kind ORDER BY kind) FROM app.signals")
    assert kinds == ["feedback", "reaction", "view", "vote"]
    await site.publish("secret", revision=2)
    site.site.tallies.tick()
    assert "Yes · 1" not in (await public.get(url)).text, "what members thought is not told"
    assert "Yes · 1" in (await member.get(url)).text


async def test_a_form_that_meets_an_ended_session_is_not_lost(site: Living, member: httpx2.AsyncClient) -> None:
    url = await site.publish("secret", audience="members")
    form = form_of((await member.get(url)).text) | {"text": "A long <thought>"}
    await site.sql("UPDATE app.identity_sessions SET renew_at = clock_timestamp()")
    answer = await member.post("/signals/feedback", data=form, headers={"origin": ORIGIN})
    assert answer.status_code == 401 and "A long &lt;thought&gt;</textarea>" in answer.text
    assert answer.headers["cache-control"] == PRIVATE and form["token"] in answer.text
    await sign_in(member, site.gate.people)
    assert (await member.post("/signals/feedback", data=form, headers={"origin": ORIGIN})).status_code == 303


ADDRESSES = ("/", "/doc/en/open", "/doc/en/secret", "/doc/en/nothing", "/feed.xml", "/sitemap.xml", "/robots.txt", "/search?q=hush",
             "/privacy", f"/receipt/{SECRET}", f"/receipt/{SECRET}.json", f"/s/{SECRET}.gif", f"/s/{uuid4()}.gif")  # fmt: skip


async def test_in_mode_members_a_stranger_meets_one_page_everywhere(site: Living, member: httpx2.AsyncClient) -> None:
    await site.publish("open")
    await site.publish("secret", audience="members")
    public = site.visitor()
    await everything(public)
    await site.hear("mode.entered", site.gate.mode("members"))
    answers = [await public.get(path) for path in ADDRESSES]
    assert {each.status_code for each in answers} == {403} and len({each.content for each in answers}) == 1
    assert {each.headers["cache-control"] for each in answers} == {PRIVATE}
    assert "Sign in" in answers[0].text and "feed" not in answers[0].text and "/search" not in answers[0].text
    assert {await status(member, path) for path in ("/", "/doc/en/open", "/doc/en/secret", "/feed.xml")} == {200}
    posted = await public.post("/signals/vote", data={"item_id": str(SECRET)}, headers={"origin": ORIGIN})
    assert posted.status_code == 401 and "secret" not in posted.text.replace(str(SECRET), "")


async def test_the_closed_page_leads_through_the_console_and_back(site: Living) -> None:
    await site.hear("mode.entered", site.gate.mode("members"))
    answer = await site.http.get("/doc/en/secret?sign-in")
    assert answer.headers["location"] == "/sign-in?next=%2Fdoc%2Fen%2Fsecret"
    german = await site.http.get("/", headers={"accept-language": "de-AT,de"})
    assert "Diese Website ist für Mitglieder" in german.text and 'lang="de"' in german.text


async def test_in_mode_off_members_and_guests_are_shut_out_too(site: Living, member: httpx2.AsyncClient) -> None:
    url = await site.publish("secret", audience="members")
    await member.get(url)
    await site.hear("mode.entered", site.gate.mode("off"))
    paths = (url, "/", "/sign-in", "/signed-in?code=x", "/invited/x", "/feed.xml", f"/receipt/{SECRET}")
    assert {await status(member, path) for path in paths} == {403}
    assert (await member.post("/invited/x", headers={"origin": ORIGIN})).status_code == 403


@pytest.mark.parametrize("mode", ["members", "off"])
async def test_what_always_answers_names_nothing_that_there_is(site: Living, mode: str) -> None:
    await site.publish("open")
    await site.hear("mode.entered", site.gate.mode(mode))
    below = [await site.http.get(path) for path in ("/static/a/b", "/signals/ingest/x", "/signals/ingestx")]
    assert {each.status_code for each in below} == {403}
    page = await site.http.get("/signals/ingest")
    assert page.status_code == 405 and '"/doc/"' not in page.text and "/search" not in page.text
    assert {await status(site.http, f"/static/{name}") for name in ("base.css", "nothing.css")} == {200, 404}


async def test_a_row_that_was_made_public_by_hand_is_not_shown(site: Living, member: httpx2.AsyncClient) -> None:
    url = await site.publish("secret", audience="members")
    await member.get(url)
    await site.sql("UPDATE app.entries SET audience = 'public'")
    await site.look()
    assert (await status(site.visitor(), url), await status(member, url)) == (404, 404)
    assert "the row's columns say something else" in (await site.told("row.rejected"))[0]["reason"]


async def test_a_receipt_that_became_the_members_while_it_was_read_is_not_shown(
    site: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.publish("secret", "first")
    row = Renderer.row

    async def slow(renderer: Renderer, item: UUID) -> Row:
        await site.publish("secret", "hush", audience="members", revision=2)
        return await row(renderer, item)

    monkeypatch.setattr(Renderer, "row", slow)
    answer = await site.visitor().get(f"/receipt/{SECRET}.json")
    assert answer.status_code == 404 and f"/receipt/{SECRET}.json" not in site.site.cache.pages
