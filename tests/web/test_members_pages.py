"""The way in, with a browser, without JavaScript and with the keyboard; what members and guests see: light, dark, on a phone."""

import pytest
from playwright.async_api import Page, expect

from tests.factories.people import OWNER, PASSWORD
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.paths.test_members import members_item
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(120)]


async def check(page: Page, words: str, javascript: bool) -> None:
    await expect(page.get_by_text(words).first).to_be_visible()
    if javascript:  # without it axe cannot run
        assert await axe(page) == [] and not await overflows(page)


@pytest.mark.parametrize(
    ("dark", "width", "javascript"),
    [(False, 1280, True), (True, 390, True), pytest.param(False, 390, False, marks=pytest.mark.long)],
)
async def test_one_sign_in_opens_site_and_workspace(
    stack: Stack, owner: object, open_page: Opener, dark: bool, width: int, javascript: bool
) -> None:
    item = members_item(stack)
    until(lambda: stack.value("site", f"SELECT count(*) FROM app.entries WHERE item_id = '{item.item_id}'") == 1, 10)
    site, workspace = stack.urls["site"], stack.urls["workspace"]
    async with open_page(width=width, dark=dark, javascript=javascript, strict=False) as watched:
        page = watched.page
        for path, words in (("/invited/abc", "You are invited"), ("/signed-in?code=x", "The sign-in did not work")):
            await page.goto(site + path)
            await check(page, words, javascript)
        await page.goto(workspace)
        await check(page, "You are a guest. Nothing here is kept.", javascript)
        await page.goto(f"{site}/sign-in?next={item.url}")
        await page.get_by_label("E-mail or short name").fill(OWNER)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        if not javascript:
            await page.get_by_role("button", name="Go on").press("Enter")
        await page.wait_for_url(site + item.url)
        await check(page, "Only members see this page.", javascript)
        await page.goto(workspace + "/sign-in")
        if not javascript:
            await page.get_by_role("button", name="Go on").press("Enter")
        await page.wait_for_url(workspace + "/")
        await check(page, "Ada Owner", javascript)
        await page.goto(site)
        await check(page, "For members", javascript)
        await page.get_by_role("button", name="Sign out").press("Enter")
        await expect(page.get_by_role("link", name="Sign in")).to_be_visible()
