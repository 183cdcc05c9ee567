"""Joining by an invitation with the keyboard alone, and going on to the site, with and without JavaScript."""

from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.factories.people import PASSWORD, Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
async def test_an_invitation_is_accepted_by_keyboard(owner: Person, open_page: Opener, width: int, dark: bool) -> None:
    path, handle = owner.invite("moderator", "Kim Doe"), f"kim-{uuid4().hex[:8]}"
    async with open_page(width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(owner.base + path)
        assert await axe(page) == [] and await overflows(page) <= 0
        await expect(page.get_by_label("Your name")).to_be_focused()
        for text in ("", handle, PASSWORD, PASSWORD):
            await page.keyboard.type(text)
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/queue")
        await page.goto(f"{owner.base}/me")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Kim Doe")
        await expect(page.get_by_text("this one")).to_be_visible()
        await page.get_by_role("button", name="Sign out everywhere").click()
        await page.wait_for_url("**/sign-in")


async def test_long_words_break_where_the_page_ends(stack: Stack, owner: Person, open_page: Opener) -> None:
    word = "W" * 100
    person = owner.add("member", word)
    assert person.send("/me/tokens", "/me", name=word, role="viewer").status_code == 200
    assert owner.send("/guests", "/guests", label=word, days="1").status_code == 200
    places = [(person, "/me"), (owner, "/people"), (owner, "/guests")]
    for whose, place in places:
        async with open_page(whose, width=390) as watched:
            await watched.page.goto(whose.base + place)
            assert await overflows(watched.page) <= 0, place
    async with open_page(width=390) as watched:
        await watched.page.goto(f"{stack.urls['site']}/search?q={word}")
        assert await overflows(watched.page) <= 0


async def test_a_link_that_is_over_says_what_to_do(owner: Person, open_page: Opener) -> None:
    async with open_page(width=390, dark=True, strict=False) as watched:
        await watched.page.goto(f"{owner.base}/invitation/{'a' * 43}")
        await expect(watched.page.get_by_role("heading", level=1)).to_have_text("This link is over")
        assert await axe(watched.page) == [] and await overflows(watched.page) <= 0


async def test_one_goes_on_to_the_site_by_itself_and_back_without_a_trap(
    stack: Stack, owner: Person, open_page: Opener
) -> None:
    async with open_page(owner) as watched:
        page, site = watched.page, stack.urls["site"]
        await page.goto(f"{owner.base}/me")
        await page.goto(f"{site}/sign-in?next=/search")
        await page.wait_for_url(f"{site}/search")
        cookies = {each["name"] for each in await page.context.cookies(site)}
        assert "site" in cookies
        await page.go_back()
        await page.wait_for_url(f"{owner.base}/me")  # the page in between, which goes on by itself, is not in the way


async def test_without_javascript_there_is_a_button(stack: Stack, owner: Person, open_page: Opener) -> None:
    async with open_page(owner, javascript=False, width=390) as watched:
        page, site = watched.page, stack.urls["site"]
        await page.goto(f"{site}/sign-in?next=/search")
        await page.get_by_role("button", name="Go on").click()
        await page.wait_for_url(f"{site}/search")
