"""The page System stays open all day: figures change where they stand, and the keyboard reaches everything."""

import pytest
from playwright.async_api import Page, expect

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.web.conftest import Opener

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]
ROWS = "[...document.querySelectorAll('.parts tbody tr')].map((row) => Math.round(row.getBoundingClientRect().top))"


async def test_figures_change_in_place(stack: Stack, owner: Person, open_page: Opener) -> None:
    until((stack.layout.run / "report" / "top.json").exists, 30, "the first figures are written")
    async with open_page(owner) as watched:
        page = watched.page
        await page.goto(stack.urls["console"] + "/system")
        before, before_text = await page.evaluate(ROWS), await charts(page)
        await page.wait_for_function(
            "(old) => [...document.querySelectorAll('[data-points]')].map((each) => each.getAttribute('d')).join() !== old",
            arg=before_text,
        )
        assert await page.evaluate(ROWS) == before, "nothing moves under the hand"
        await expect(page.locator("[data-chip]")).to_be_visible()
        await expect(page.locator("#stale")).to_be_hidden()


async def charts(page: Page) -> str:
    found: str = await page.evaluate(
        "[...document.querySelectorAll('[data-points]')].map((each) => each.getAttribute('d')).join()"
    )
    return found


async def test_a_console_that_hears_nothing_says_that_the_figures_are_old(
    stack: Stack, owner: Person, open_page: Opener
) -> None:
    async with open_page(owner, strict=False) as watched:
        page = watched.page
        await page.goto(stack.urls["console"] + "/system")
        await page.route("**/system/figures.json", lambda route: route.abort())
        await expect(page.locator("#stale")).to_be_visible(timeout=10_000)


async def test_lines_are_searched_by_keyboard(stack: Stack, owner: Person, open_page: Opener) -> None:
    until((stack.layout.run / "report" / "grants.json").exists, 60, "the first inventory is written")
    async with open_page(owner) as watched:
        page = watched.page
        await page.goto(stack.urls["console"] + "/system/grants")
        await page.keyboard.press("/")
        await page.keyboard.type("decisions_by_people")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("1 found")).to_be_visible()
        await expect(page.locator(".rights tbody tr")).to_have_count(1)
