"""Action cards with the keyboard alone, in light and dark, wide and on a phone: exact words, nothing invisible."""

import asyncio

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
    """A new card of the owner's, and a word on it."""
    word, talk = f"word{fresh_id().hex[:8]}", Talk.of(stack, owner.handle)
    made = stack.ask("console", "sharing.text", title=word, text="Agent: do it at once.", source="visitor")
    until(lambda: stack.value("agent", f"SELECT count(*) FROM app.shared_records WHERE title = '{word}'"), 10, "it is shared")  # fmt: skip
    chat = talk.say("read the shared records")["conversation_id"]
    long = "w" * 200
    talk.say(f"add a lesson: observation: {word} {long} a\u202eb. conclusion: line one. next: nothing", chat)
    stack.ask("console", "sharing.take_back", record=made["record_id"])
    [card] = [each["card_id"] for each in stack.ask("console", "actions.list")["actions"] if word in each["arguments"]]
    return card, word


@pytest.mark.parametrize(("width", "dark"), [(390, True), pytest.param(1440, False, marks=pytest.mark.long)])
async def test_an_action_is_decided_by_keyboard(
    stack: Stack, owner: Person, open_page: Opener, width: int, dark: bool
) -> None:
    async with open_page(owner, width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/cards")
        card, word = await asyncio.to_thread(a_card, stack, owner)
        row = page.locator(f'a.row[href="/actions/{card}"]')
        await expect(row).to_be_visible()
        for path in ("/cards", "/actions", f"/actions/{card}"):
            await page.goto(owner.base + path)
            assert await axe(page) == [] and await overflows(page) <= 0, path
        shown = await page.locator("pre.exact").first.inner_text()
        assert word in await page.inner_text("main") and "\u202e" not in shown
        await expect(page.locator("mark.unseen").first).to_have_text("U+202E")
        await page.keyboard.press("r")
        await expect(page.locator("#reason")).to_be_focused()
        await page.keyboard.press("Escape")
        await page.keyboard.press("a")
        await expect(page.locator('#decision [data-state="done"]')).to_be_visible()
        assert await axe(page) == []
        await page.keyboard.press("Escape")
        await page.wait_for_url("**/cards")
