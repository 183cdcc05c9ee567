"""A mail account is added, given a new password and removed on one's own page; no page ever holds the password (rule 15)."""

import os
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.factories.asking import declare
from tests.factories.leaks import found_in, plant
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows
from tests.web.test_secrets_pages import tab_to

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(180)]


@pytest.mark.parametrize(("width", "dark"), [(1440, False), pytest.param(390, True, marks=pytest.mark.long)])
async def test_an_account_lives_its_life_by_keyboard(
    stack: Stack, owner: Person, open_page: Opener, width: int, dark: bool
) -> None:
    name = f"mail-{uuid4().hex[:6]}"
    declare(stack, name, kind="mail", hosts=["imap.example.org", "smtp.example.org:587"])
    async with open_page(owner.add("viewer"), width=width, dark=dark, strict=False) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/me")
        await page.get_by_role("link", name="Mail accounts").click()
        await expect(page.get_by_text("You have no mail account here yet.")).to_be_visible()
        form = page.get_by_role("form", name="Add a mail account")
        await form.get_by_label("Connector").select_option(name)
        await form.get_by_label("Label").focus()
        await page.keyboard.type("Büro")
        texts = {
            "Address": "mara@example.org", "Server for Reading (IMAP)": "imap.example.org", "Server for Sending (SMTP)": "smtp.example.org",
            "Password": plant(),
        }  # fmt: skip
        for label, text in texts.items():
            await tab_to(page, label)
            await page.keyboard.type(text)
        await form.get_by_label("Port for Sending (SMTP)").fill("none")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("the field port of smtp")
        await expect(form.get_by_label("Password", exact=True)).to_have_value("")
        await form.get_by_label("Port for Sending (SMTP)").fill("587")
        await form.get_by_label("Password", exact=True).fill(plant())
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Büro")).to_be_visible()
        await expect(page.get_by_text("In use")).to_have_count(2)
        await page.get_by_text("New password, or remove").focus()
        await page.keyboard.press("Enter")
        assert await axe(page) == [] and await overflows(page) <= 0
        await page.get_by_label("New password", exact=True).fill(plant())
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("In use")).to_have_count(2)
        if shots := os.environ.get("MAIL_SHOTS"):
            await page.get_by_text("New password, or remove").click()
            await page.screenshot(path=Path(shots) / f"mail-{width}.png", full_page=True)
        assert found_in([await page.content()]) == []
        if not await page.get_by_role("button", name="Remove Büro").is_visible():
            await page.get_by_text("New password, or remove").click()
        await page.get_by_role("button", name="Remove Büro").click()
        await expect(page.get_by_text("You have no mail account here yet.")).to_be_visible()
