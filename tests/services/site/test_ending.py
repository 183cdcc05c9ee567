"""How pages end: an approval that is undone, a time that has come (rules 10, 11)."""

import asyncio
from datetime import timedelta
from uuid import UUID

import httpx2
import pytest

from services.site.publication.chain import BadReceipt
from shared.clock import now
from shared.ids import item_id
from tests.services.site.conftest import Living, Sites

SECRET = item_id("doc", "en", "secret")


async def status(browser: httpx2.AsyncClient, url: str) -> int:
    return (await browser.get(url)).status_code


async def found(browser: httpx2.AsyncClient, words: str) -> int:
    return (await browser.get("/search", params={"q": words})).text.count("<li><h2>")


async def test_an_undone_approval_is_withdrawn(site: Living) -> None:
    url = await site.publish("secret")
    assert await status(site.http, url) == 200
    await site.hear("item.retracted", site.gate.undo(SECRET))
    assert await status(site.http, url) == 410
    assert [each["effect"] for each in await site.told("item.applied")] == ["live", "gone"]
    await site.publish("secret", revision=2)
    assert await status(site.http, url) == 200


async def test_an_undoing_of_another_item_is_refused(site: Living) -> None:
    url = await site.publish("secret")
    with pytest.raises(BadReceipt):
        await site.hear("item.retracted", site.gate.undo(SECRET, about=UUID(int=1)))
    assert await status(site.http, url) == 200


async def test_pages_end_to_the_moment_at_every_instance_and_after_a_restart(sites: Sites, site: Living) -> None:
    second = await sites.start(site.gate)
    await second.greet()
    until = now() + timedelta(seconds=1.2)
    url = await site.publish("secret", "hush", expire_at=until)
    await second.look()
    for each in (site, second):
        assert (await status(each.http, url), await found(each.http, "hush")) == (200, 1)
        assert url in (await each.http.get("/feed.xml")).text
    await asyncio.sleep((until - now()).total_seconds() - 0.15)
    assert {await status(each.http, url) for each in (site, second)} == {200}
    await asyncio.sleep((until - now()).total_seconds() + 0.1)
    for each in (site, second):
        assert (await status(each.http, url), await found(each.http, "hush")) == (410, 0)
        assert url not in (await each.http.get("/feed.xml")).text
    third = await sites.start(site.gate)
    await third.greet()
    assert await status(third.http, url) == 410
