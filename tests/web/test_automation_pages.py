"""Automations at the console, on a phone and wide, in light and dark, by the keyboard: allowed on their card, taken back."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from shared.ids import fresh_id
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.talking import Talk
from tests.factories.waiting import until
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]


def a_card(stack: Stack, owner: Person) -> tuple[str, str]:
    """A card that waits, and a word of its instruction."""
    word = f"word{fresh_id().hex[:8]}"
    said = Talk.of(stack, owner.handle).say(f"every morning at 7 summarise my mails about {word}")
    found = re.search(r"/actions/([0-9a-f-]{36})", said["reply"])
    assert found, said
    until(lambda: owner.page(f"/actions/{found[1]}").status_code == 200, 60, "the card is at the console")
    return found[1], word


@pytest.mark.parametrize(("width", "dark"), [(390, True), pytest.param(1440, False, marks=pytest.mark.long)])
async def test_an_automation_is_allowed_and_taken_back_by_keyboard(
    stack: Stack, owner: Person, open_page: Opener, width: int, dark: bool
) -> None:
    card, word = await asyncio.to_thread(a_card, stack, owner)
    async with open_page(owner, width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/actions/{card}")
        assert word in await page.locator("pre.exact").first.inner_text(), "what it does comes first"
        assert await axe(page) == [] and await overflows(page) <= 0
        await page.keyboard.press("a")
        await expect(page.locator('#decision [data-state="done"]')).to_be_visible(timeout=60_000)
        await page.get_by_role("link", name="How it stands, and taking it back").click()
        row = page.locator(f'li[data-card="{card}"]')
        await expect(row.locator('[data-state="active"]')).to_be_visible(timeout=60_000)
        assert await axe(page) == [] and await overflows(page) <= 0
        await row.get_by_label("Why").focus()
        await page.keyboard.type("enough")
        await page.keyboard.press("Enter")
        await expect(page.locator("#ended")).to_contain_text(word, timeout=60_000)
        await expect(page.locator("#ended tr", has_text=word)).to_contain_text("taken back by")
        assert await axe(page) == []
