"""Cards and connectors with the keyboard alone, in light and dark, wide and on a phone."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import expect

from shared.errors import Refused
from shared.ids import fresh_id
from tests.factories.asking import declare
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]


def a_card(stack: Stack, name: str) -> str:
    """The address of a new card: the console asks for something that nobody allowed."""
    with pytest.raises(Refused) as caught:
        stack.ask("console", "ask.call", connector=name, operation="get", arguments={"path": "/"}, quoted="W" * 300)
    address: str = caught.value.message.partition("/cards/")[2][:36]
    return address


def a_connector(stack: Stack) -> str:
    name = f"seen-{fresh_id().hex[:6]}"
    declare(stack, name, base="http://127.0.0.1:1/v1", hosts=[f"*.{'w' * 60}.example", f"{'long-name-' * 5}x.example"])
    return name


async def sound(watched: Any) -> None:
    assert await axe(watched.page) == [] and await overflows(watched.page) <= 0


@pytest.mark.parametrize(("width", "dark"), [(1440, False), pytest.param(390, True, marks=pytest.mark.long)])
async def test_a_card_is_decided_by_keyboard(
    stack: Stack, owner: Person, open_page: Opener, width: int, dark: bool
) -> None:
    name = a_connector(stack)
    async with open_page(owner, width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/cards")
        card = await asyncio.to_thread(a_card, stack, name)
        row = page.locator(f'a.row[href="/cards/{card}"]')
        await expect(row).to_be_visible()
        await sound(watched)
        while not await row.evaluate("row => row === document.activeElement"):
            await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("wants to use")
        await sound(watched)
        await page.keyboard.press("r")
        await expect(page.locator("#reason")).to_be_focused()
        await page.keyboard.press("Escape")
        await page.keyboard.press("a")
        await expect(page.locator('#decision [data-state="allowed"]')).to_be_visible()
        await page.keyboard.press("w")
        await expect(page.locator("#why-withdraw")).to_be_focused()
        await sound(watched)
        await page.keyboard.type("no longer")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.locator('#decision [data-state="revoked"]')).to_be_visible()
        await page.keyboard.press("Escape")
        await page.wait_for_url("**/cards")


@pytest.mark.parametrize(("width", "dark"), [(390, False), pytest.param(1440, True, marks=pytest.mark.long)])
async def test_a_connector_is_switched_by_keyboard(
    stack: Stack, owner: Person, open_page: Opener, width: int, dark: bool
) -> None:
    name = a_connector(stack)
    async with open_page(owner, width=width, dark=dark) as watched:
        page = watched.page
        for path in ("/connectors/new", "/connectors/new?kind=other", f"/connectors/{name}", "/switches"):
            await page.goto(owner.base + path)
            await sound(watched)
        switch = page.get_by_role("switch", name=name)
        await switch.focus()
        await page.keyboard.press("Enter")
        reason = page.get_by_label("Why")
        await expect(reason).to_be_focused()
        await sound(watched)
        await page.keyboard.type("for the night")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("switch", name=name)).to_have_attribute("aria-checked", "false")
        await expect(page.locator(f"#connector-{name}")).to_contain_text("for the night")
