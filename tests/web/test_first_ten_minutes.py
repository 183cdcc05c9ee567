"""The first ten minutes, by keyboard: the one-time link, the example page, live on the site, a vote without JavaScript."""

import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.factories.people import OWNER, PASSWORD
from tests.factories.stack import Stack, running_stack
from tests.web.conftest import SCREENS, Opener, axe

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
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
    await expect(page.locator(".rows a.row")).to_have_count(1)
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/queue/*-*")
    await page.keyboard.press("d")
    await page.keyboard.press("a")
    live = page.locator("#decision .notice.live")
    await expect(live).to_contain_text(re.compile(r"Live on the site after \d+ ms"))
    address = await live.get_by_role("link").get_attribute("href")
    assert address
    return address


async def test_the_first_ten_minutes(fresh: Stack, open_page: Opener) -> None:
    assert fresh.owner_link
    async with open_page() as console:
        await become_owner(console.page, fresh.owner_link)
        address = await approve_the_first(console.page)
        async with open_page(javascript=False, width=390, height=844) as reader:
            await reader.page.goto(address)
            await expect(reader.page.get_by_role("heading", level=1)).to_have_text("Welcome to the public side")
            await reader.page.get_by_role("button", name="Yes").click()
            await expect(reader.page.locator("#voted")).to_be_visible()
        await console.page.goto(f"{fresh.urls['console']}/analytics")
        await expect(console.page.locator("main")).to_contain_text("Welcome to the public side", timeout=20_000)
        assert fresh.settled_totals()["vote"] == 1
        assert fresh.settled_totals()["view"] >= 1
        SCREENS.mkdir(exist_ok=True)


async def test_the_count_moves_while_one_watches(fresh: Stack, open_page: Opener) -> None:
    """Runs alone too: the example page is approved by the operator if nobody did it yet."""
    fresh.ask("console", "items.decide", all_pending=True, verdict="approve")
    if not fresh.items():
        pytest.skip("the owner has not come yet: there is no example page")
    async with open_page() as console:
        await console.page.goto(f"{fresh.urls['console']}/sign-in")
        await console.page.get_by_label("E-mail or name").fill(OWNER)
        await console.page.get_by_label("Password").fill(PASSWORD)
        await console.page.keyboard.press("Enter")
        await console.page.wait_for_url("**/queue")
        await console.page.goto(f"{fresh.urls['console']}/analytics")
        main = console.page.locator("main")
        before = await main.inner_text()
        async with open_page(javascript=False) as reader:
            await reader.page.goto(fresh.items()[0]["url"])
            await reader.page.get_by_role("button", name="clear").click()
        await expect(main).not_to_have_text(before, timeout=20_000)
