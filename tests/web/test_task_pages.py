"""Tasks and toasts in a browser: by keyboard, in several tabs, without JavaScript; light, dark and on a phone."""

from datetime import timedelta

import pytest
from playwright.async_api import Page, expect

from shared.clock import now
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener
from tests.web.test_chat import another_tab, enter, sound

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(180)]
PATIENCE = 60_000


def soon() -> str:
    return (now() + timedelta(seconds=2)).isoformat(timespec="seconds")


async def remind(page: Page, when: str, text: str) -> None:
    """By keyboard."""
    await page.get_by_label("When", exact=True).fill(when)
    await page.keyboard.press("Tab")
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def test_a_reminder_is_a_toast_in_every_open_page_once(stack: Stack, owner: Person, open_page: Opener) -> None:
    workspace = stack.urls["workspace"]
    async with open_page() as watched:
        page = watched.page
        page.context.set_default_timeout(PATIENCE)
        await enter(page, workspace)
        others = [await another_tab(page.context, workspace + path) for path in ("/usage", "/conversations")]
        tabs = [await another_tab(page.context, workspace + "/tasks"), watched, *others]
        await remind(tabs[0].page, soon(), "Tea for the web test")
        await expect(tabs[0].page.get_by_text("Understood: once on")).to_be_visible(timeout=PATIENCE)
        for tab in tabs:
            await expect(tab.page.locator(".toast", has_text="Tea for the web test")).to_be_visible(timeout=PATIENCE)
            await expect(tab.page.locator("#unread")).to_contain_text("unread", timeout=PATIENCE)
        await sound(others[0].page)
        await others[1].page.reload()
        await expect(others[1].page.locator("#unread")).to_be_visible(timeout=PATIENCE)
        assert await others[1].page.locator(".toast", has_text="Tea for the web test").count() == 0, "once"
        await page.get_by_role("button", name="Done").last.focus()
        await page.keyboard.press("Escape")
        for tab in tabs:
            await expect(tab.page.locator(".toast", has_text="Tea for the web test")).to_have_count(0, timeout=PATIENCE)
        for tab in tabs:
            tab.check()


@pytest.mark.parametrize(("dark", "width"), [(True, 390), pytest.param(False, 320, marks=pytest.mark.long)])
async def test_tasks_by_keyboard_for_a_guest(stack: Stack, open_page: Opener, dark: bool, width: int) -> None:
    async with open_page(width=width, dark=dark, strict=False) as watched:
        page = watched.page
        page.context.set_default_timeout(PATIENCE)
        await page.goto(stack.urls["workspace"] + "/tasks")
        await expect(page.get_by_text("You are a guest.")).to_be_visible(timeout=PATIENCE)
        await sound(page)
        await remind(page, "every blue moon", "Stretch")
        await expect(page.get_by_role("alert").first).to_contain_text("blue", timeout=PATIENCE)
        await remind(page, "every weekday at 7:30", "Stretch")
        await expect(page.get_by_role("status").first).to_contain_text("Monday to Friday at 07:30", timeout=PATIENCE)
        await expect(page.locator("tbody tr")).to_have_count(5, timeout=PATIENCE)
        await sound(page)
        await page.locator("summary", has_text="Change it").press("Enter")
        await page.get_by_label("When").fill("at 8")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Understood: every Monday to Friday at 08:00")).to_be_visible(timeout=PATIENCE)
        await page.get_by_role("button", name="Pause").press("Enter")
        await expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=PATIENCE)
        await page.goto(stack.urls["workspace"] + "/tasks")
        await sound(page)


async def test_tasks_work_without_javascript(stack: Stack, open_page: Opener) -> None:
    async with open_page(javascript=False) as watched:
        page = watched.page
        page.context.set_default_timeout(PATIENCE)
        await page.goto(stack.urls["workspace"] + "/tasks")
        await remind(page, "in 3 hours", "Without JavaScript")
        await expect(page.locator("h1")).to_have_text("Without JavaScript", timeout=PATIENCE)
        await page.get_by_role("button", name="Delete").click()
        await expect(page.locator("h1")).to_have_text("Tasks", timeout=PATIENCE)
        await expect(page.get_by_role("link", name="Without JavaScript")).to_have_count(0, timeout=PATIENCE)
        await page.goto(stack.urls["workspace"] + "/notifications")
        await expect(page.locator("h1")).to_have_text("Notifications", timeout=PATIENCE)
