"""Guests of the site (rule 27): let in by a link, once, until its end or until it is taken back."""

import asyncio
from datetime import timedelta

import httpx2

from schemas.text import sha256
from shared.clock import now
from shared.ids import new_token
from tests.services.site.conftest import ORIGIN, Living

PRIVATE = "private, no-store"


async def status(browser: httpx2.AsyncClient, url: str) -> int:
    return (await browser.get(url)).status_code


async def test_a_guest_comes_in_by_the_button_and_not_by_the_link(site: Living) -> None:
    secret, link = await site.publish("secret", audience="members"), new_token()
    await site.hear("mode.entered", site.gate.mode("members"))
    _, event = site.gate.people.invitation(link)
    await site.hear("person.recorded", event)
    guest, preview = site.visitor(), site.visitor()
    for _ in range(3):
        page = await preview.get(f"/invited/{link}")
    assert page.status_code == 200 and page.text == (await preview.get("/invited/wrong")).text
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", PRIVATE)
    assert await status(preview, secret) == 403
    entered = await guest.post(f"/invited/{link}", headers={"origin": ORIGIN})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert await status(guest, secret) == 200
    rows = await site.value("SELECT string_agg(s::text, ' ') FROM app.standings s")
    assert link not in rows


async def test_whatever_is_wrong_the_answer_is_the_same(site: Living) -> None:
    people, used, over, revoked = site.gate.people, new_token(), new_token(), new_token()
    for link, until in ((used, None), (over, now() - timedelta(seconds=1)), (revoked, None)):
        guest, event = people.invitation(link, until)
        await site.hear("person.recorded", event)
    await site.hear("person.recorded", people.standing(guest, None))
    assert (await site.visitor().post(f"/invited/{used}", headers={"origin": ORIGIN})).status_code == 303
    answers = [
        await site.visitor().post(f"/invited/{link}", headers={"origin": ORIGIN})
        for link in (used, over, revoked, "never", "x" * 500)
    ]
    assert {(each.status_code, each.text, each.headers.get("set-cookie")) for each in answers} == {
        (403, answers[0].text, None)
    }


async def test_taking_an_invitation_back_counts_at_the_next_request(site: Living) -> None:
    secret, link = await site.publish("secret", audience="members"), new_token()
    guest, event = site.gate.people.invitation(link)
    await site.hear("person.recorded", event)
    browser = site.visitor()
    await browser.post(f"/invited/{link}", headers={"origin": ORIGIN})
    assert await status(browser, secret) == 200
    await site.hear("person.recorded", site.gate.people.standing(guest, None))
    assert await status(browser, secret) == 404


async def test_an_invitation_ends_at_its_time(site: Living) -> None:
    secret, link = await site.publish("secret", audience="members"), new_token()
    _, event = site.gate.people.invitation(link, now() + timedelta(seconds=0.6))
    await site.hear("person.recorded", event)
    browser = site.visitor()
    await browser.post(f"/invited/{link}", headers={"origin": ORIGIN})
    assert await status(browser, secret) == 200
    await asyncio.sleep(0.65)
    assert await status(browser, secret) == 404


async def test_one_of_many_at_once_gets_in(site: Living) -> None:
    link = new_token()
    await site.hear("person.recorded", site.gate.people.invitation(link)[1])
    calls = [site.visitor().post(f"/invited/{link}", headers={"origin": ORIGIN}) for _ in range(6)]
    assert sorted([each.status_code for each in await asyncio.gather(*calls)]) == [303] + [403] * 5


async def test_a_new_link_for_the_same_guest_works_and_the_old_one_does_not(site: Living) -> None:
    old, new = new_token(), new_token()
    guest, event = site.gate.people.invitation(old)
    await site.hear("person.recorded", event)
    await site.visitor().post(f"/invited/{old}", headers={"origin": ORIGIN})
    again = site.gate.people.standing(guest, "guest", link_hash=sha256(new.encode()), until=now() + timedelta(hours=1))
    await site.hear("person.recorded", again)
    assert (await site.visitor().post(f"/invited/{new}", headers={"origin": ORIGIN})).status_code == 303
