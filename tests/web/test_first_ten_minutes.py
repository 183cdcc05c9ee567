"""The first ten minutes, by keyboard: the one-time link, the example page, live on the site, a vote without JavaScript."""

import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.factories.people import OWNER, PASSWORD
from tests.factories.stack import Stack, running_stack
from tests.web.conftest import Opener, axe

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(240)]


@pytest.fixture
def fresh() -> Iterator[Stack]:
    """An installation that nobody owns yet."""
    with running_stack(own=True) as found:
        yield found


async def become_owner(page: Page, link: str) -> None:
    await page.goto(link)
    assert await axe(page) == []
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")
    for text in ("Ada Owner", OWNER, PASSWORD, PASSWORD):
        await page.keyboard.type(text)
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/queue")


async def approve_the_first(page: Page) -> str:
    """j, Enter, d, a; the address of the page that is live then."""
    rows = page.locator(".rows li")
    assert await rows.count() == 1, "what the welcome page promises is there when the queue is first shown"
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/queue/*-*")
    await page.keyboard.press("d")
    await page.keyboard.press("a")
    live = page.locator("#decision .notice.live")
    await expect(live).to_contain_text(re.compile(r"Live on the site after \d+ ms"))
    await expect(rows.locator("input")).to_have_count(0)
    await expect(rows.locator("small").filter(has_text=re.compile(r"·\s*$"))).to_have_count(0)
    address = await live.get_by_role("link").get_attribute("href")
    assert address
    return address


async def test_the_first_ten_minutes(fresh: Stack, open_page: Opener) -> None:
    assert fresh.owner_link
    async with open_page() as console:
        page = console.page
        await become_owner(page, fresh.owner_link)
        address = await approve_the_first(page)
        await page.goto(f"{fresh.urls['console']}/analytics")
        before = await page.locator("main").inner_text()
        async with open_page(javascript=False, width=390, height=844) as reader:
            await reader.page.goto(address)
            await expect(reader.page.get_by_role("heading", level=1)).to_have_text("Welcome to the public side")
            await reader.page.get_by_role("button", name="Yes").click()
            await expect(reader.page.locator("#voted")).to_be_visible()
        await expect(page.locator("main")).not_to_have_text(before, timeout=20_000)
        await expect(page.locator("main")).to_contain_text("Welcome to the public side", timeout=20_000)
    totals = fresh.settled_totals()
    assert totals["vote"] == 1
    assert totals["view"] >= 1
