"""The chat in a browser: by keyboard, in two tabs, without JavaScript; light, dark and on a phone."""

import os
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.factories.people import OWNER, PASSWORD, Person
from tests.factories.stack import Stack
from tests.web.conftest import SCREENS, Opener, Watched, axe, overflows, watch

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(120)]
GUEST = "You are a guest. Nothing here is kept."


async def sound(page: Page) -> None:
    assert await axe(page) == []
    assert not await overflows(page)


async def enter(page: Page, workspace: str) -> None:
    """As the first owner, by way of the console."""
    await page.goto(workspace + "/sign-in")
    await page.get_by_label("E-mail or short name").fill(OWNER)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(workspace + "/")


async def say(page: Page, text: str, answer: str) -> None:
    await page.locator("#m").fill(text)
    await page.keyboard.press("Enter")
    await expect(page.locator("#msgs li.agent:not([aria-busy])").last).to_contain_text(answer)


async def another_tab(context: BrowserContext, address: str) -> Watched:
    watched = watch(await context.new_page())
    await watched.page.goto(address)
    return watched


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 1440), (True, 390), pytest.param(True, 1440, marks=pytest.mark.long), pytest.param(False, 320, marks=pytest.mark.long)]
)  # fmt: skip
async def test_a_guest_talks_by_keyboard_and_nothing_is_kept(stack: Stack, owner: Person, open_page: Opener, dark: bool, width: int) -> None:  # fmt: skip
    async with open_page(width=width, dark=dark) as watched:
        page = watched.page
        await page.goto(stack.urls["workspace"])
        await expect(page.get_by_text(GUEST)).to_be_visible()
        await expect(page.locator("#m")).to_be_focused()
        await sound(page)
        await page.keyboard.type("hello")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("<img src=x onerror=alert(1)>")
        await page.keyboard.press("Control+A")
        await page.keyboard.type("help")
        await page.keyboard.press("Enter")
        await expect(page.locator("#msgs li.agent:not([aria-busy]) li").first).to_be_visible()
        await expect(page.locator("#m")).to_be_focused()
        await expect(page.locator("#said")).to_contain_text("summarise")
        assert "/c/" in page.url and await page.locator("#m").input_value() == ""
        await sound(page)
        for path, words in (
            ("/conversations", "not kept"),
            ("/usage", "All guests together"),
            ("/leave", "End it and forget"),
        ):
            await page.goto(stack.urls["workspace"] + path)
            await expect(page.get_by_text(words).first).to_be_visible()
            await sound(page)
        await page.get_by_role("button", name="End it and forget").press("Enter")
        await expect(page.get_by_text("Everything of it is gone.")).to_be_visible()


async def test_two_tabs_of_one_person_show_the_same(stack: Stack, owner: Person, open_page: Opener) -> None:
    async with open_page() as watched:
        page, workspace = watched.page, stack.urls["workspace"]
        await enter(page, workspace)
        other = await another_tab(page.context, workspace)
        await say(page, "merk dir: Rechnungen gehen an die Buchhaltung", "Gemerkt")
        await expect(other.page.locator("#side")).to_contain_text("merk dir")
        await other.page.goto(page.url)
        await expect(other.page.locator("#msgs")).to_contain_text("Gemerkt")
        await say(other.page, "what do you remember?", "Buchhaltung")
        await expect(page.locator("#msgs li.agent:not([aria-busy])").last).to_contain_text("This is what I remember")
        await page.locator(".tools summary").last.press("Enter")
        await sound(page)
        await page.locator("#manage summary").press("Enter")
        await page.get_by_label("Name").fill("Invoices")
        await page.keyboard.press("Enter")
        await expect(other.page).to_have_title("Invoices · Schleuse Workspace")
        await say(page, "make the customer page public", "goes through the lock")
        await picture(page, "chat")
        other.check()
        await page.get_by_role("main").evaluate("document.activeElement.blur()")
        await page.keyboard.press("n")
        await page.wait_for_url(workspace + "/")
        await page.locator("#m").fill("a draft that is not sent")
        await page.reload()
        await expect(page.locator("#m")).to_have_value("a draft that is not sent")


async def test_an_answer_goes_on_after_the_stream_was_lost(stack: Stack, owner: Person, open_page: Opener) -> None:
    async with open_page(strict=False) as watched:
        page = watched.page
        await page.goto(stack.urls["workspace"])
        await say(page, "hello", "What may I do")
        await page.context.set_offline(True)
        await page.locator("#m").fill("help")
        await page.keyboard.press("Enter")
        await expect(page.locator("#notice")).to_contain_text("Nothing was sent")
        await expect(page.locator("#m")).to_have_value("help")
        await page.context.set_offline(False)
        await say(page, "help", "This is what I understand")
        await page.route("**/live?**", lambda route: route.abort())
        await page.reload()
        await expect(page.locator("#notice")).to_contain_text("does not answer")
        await page.unroute("**/live?**")
        await expect(page.locator("#notice")).to_be_hidden()


async def test_without_javascript_a_form_does(stack: Stack, owner: Person, open_page: Opener) -> None:
    async with open_page(javascript=False, width=390) as watched:
        page = watched.page
        await page.goto(stack.urls["workspace"])
        await page.get_by_label("Message", exact=True).fill("hello")
        await page.get_by_role("button", name="Send").press("Enter")
        await expect(page.get_by_text("What may I do for you?")).to_be_visible()


async def picture(page: Page, name: str) -> None:
    """For the README; written only when SCHLEUSE_SCREENS is set."""
    if os.environ.get("SCHLEUSE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        await page.set_viewport_size({"width": 1200, "height": 760})
        await page.screenshot(path=Path(SCREENS) / f"{name}.png")
