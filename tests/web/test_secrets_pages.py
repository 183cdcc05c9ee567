"""A secret is put, rotated and revoked in the browser, with the keyboard alone; no page ever holds the value."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.factories.leaks import found_in, plant
from tests.factories.people import Person
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]


async def tab_to(page: Any, label: str) -> None:
    """Forward through the form until the field has focus: every one can be reached."""
    target = page.get_by_label(label, exact=True).and_(page.locator("form[method=post] *")).first
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await target.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{label} was not reached")


@pytest.mark.parametrize(("width", "dark"), [(1440, False), pytest.param(390, True, marks=pytest.mark.long)])
async def test_a_secret_lives_its_life_by_keyboard(owner: Person, open_page: Opener, width: int, dark: bool) -> None:
    value, name = plant(), f"key-{uuid4().hex[:8]}"
    async with open_page(owner, width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/secrets")
        await page.get_by_label("Surface").focus()
        for label, text in {"Connector": "weather", "Name": name, "Key": value, "Why": "a test"}.items():
            await tab_to(page, label)
            await page.keyboard.type(text)
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/secrets/at/agent/weather/{name}#main")
        await expect(page.get_by_role("heading", level=1)).to_have_text(name)
        assert await axe(page) == [] and await overflows(page) <= 0
        rotate = page.get_by_role("form", name=f"Rotate {name}")
        await rotate.get_by_label("Key").fill(plant())
        await rotate.get_by_label("Why").fill("a test")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Version 2, in use")).to_be_visible()
        await page.get_by_text("Restore or revoke").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="Use version 1 again")).to_be_visible()
        assert await axe(page) == [] and await overflows(page) <= 0
        revoke = page.get_by_role("form", name=f"Revoke {name}")
        await revoke.get_by_label("Why").fill("a test")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("This secret was revoked.")).to_be_visible()
        await page.get_by_role("link", name="Put a new one in its place").click()
        await expect(page.get_by_label("Name", exact=True)).to_have_value(name)
        assert found_in([await page.content()]) == []


async def test_what_is_refused_is_said_beside_the_form_and_the_value_is_typed_again(
    owner: Person, open_page: Opener
) -> None:
    async with open_page(owner, width=390, strict=False) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/secrets?type=imap")
        for label, text in {"Connector": "mail", "Name": "inbox", "Host": "imap.example.org", "Port": "none", "User name": "m", "Password": plant(), "Why": "r"}.items():  # fmt: skip
            await page.get_by_label(label, exact=True).fill(text)
        await page.get_by_role("button", name="Seal and put").click()
        await expect(page.get_by_role("alert")).to_contain_text("the field port of imap")
        await expect(page.get_by_label("Host")).to_have_value("imap.example.org")
        await expect(page.get_by_label("Password", exact=True)).to_have_value("")
        assert await axe(page) == [] and await overflows(page) <= 0
        assert found_in([await page.content()]) == []
