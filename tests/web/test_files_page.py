"""The page Files as a person uses it: choosing, dropping, by keyboard, on a phone, in the dark; and files in the chat."""

import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web]
DROP = """name => {
  const data = new DataTransfer();
  data.items.add(new File(["dropped"], name));
  document.querySelector("main").dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
}"""


async def test_files_come_in_are_found_moved_and_deleted(stack: Stack, owner: Person, open_page: Opener) -> None:
    home = stack.urls["workspace"]
    async with open_page(owner.add("member")) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.goto(f"{home}/files?in=drafts")
        await page.set_input_files("#choose", {"name": "Übersicht.txt", "mimeType": "text/plain", "buffer": b"one invoice"})  # fmt: skip
        await page.locator("#rows").get_by_text("Übersicht.txt").wait_for()
        await page.evaluate(DROP, "dropped.txt")
        await page.locator("#rows").get_by_text("dropped.txt").wait_for()
        assert await axe(page) == [] and not await overflows(page)
        await page.keyboard.press("j")
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Übersicht.txt").wait_for()
        await page.get_by_label("Text").fill("two invoices")
        await page.get_by_role("button", name="Save").press("Enter")
        await page.get_by_role("status").get_by_text("Saved").wait_for()
        assert await axe(page) == []
        await page.goto(f"{home}/files")
        await page.keyboard.press("/")
        await page.keyboard.type("INVOICES")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="drafts/Übersicht.txt").wait_for()
        assert await axe(page) == []
        await page.goto(f"{home}/files?in=drafts")
        await page.get_by_text("More").first.click()
        await page.get_by_label("New name or place").first.fill("assets/gone.txt")
        await page.keyboard.press("Enter")
        await page.get_by_role("status").get_by_text("Moved").wait_for()
        await page.get_by_text("More").first.click()
        await page.get_by_role("button", name="Delete").first.click()
        await page.get_by_role("status").get_by_text("Deleted").wait_for()


async def test_a_name_that_is_none_is_said_at_its_line(stack: Stack, owner: Person, open_page: Opener) -> None:
    home = stack.urls["workspace"]
    async with open_page(owner.add("viewer"), width=390, height=800, dark=True) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.goto(f"{home}/files")
        await page.set_input_files("#choose", {"name": "CON.txt", "mimeType": "text/plain", "buffer": b"x"})
        await page.locator("#coming").get_by_text("take it for a device").wait_for()
        assert await axe(page) == [] and not await overflows(page)
        await page.get_by_role("button", name="Hide CON.txt").click()
        assert await page.locator("#coming").is_hidden()
        watched.faults.clear()  # the refusal above is a 422, which the browser's console names


async def test_without_javascript_a_form_puts_files_in(stack: Stack, owner: Person, open_page: Opener) -> None:
    home = stack.urls["workspace"]
    async with open_page(owner.add("member"), javascript=False) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.get_by_role("button").first.click()
        await page.goto(f"{home}/files?in=uploads")
        await page.set_input_files("#choose", {"name": 'a "b".txt', "mimeType": "text/plain", "buffer": b"x"})
        await page.get_by_role("button", name="Put in").click()
        await page.get_by_role("status").get_by_text("It is here").wait_for()
        assert await page.get_by_role("link", name='a "b".txt').count() == 1


async def test_a_file_is_attached_in_the_chat_and_read_there(stack: Stack, owner: Person, open_page: Opener) -> None:
    home = stack.urls["workspace"]
    async with open_page(owner.add("member")) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.goto(home)
        await page.locator("#m").fill("read")
        await page.set_input_files("#attach", {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"tea is at five"})  # fmt: skip
        await page.locator("#attached").get_by_text("uploads/notes.txt").wait_for()
        assert await axe(page) == []
        await page.locator("#m").press("Enter")
        await page.locator(".said").get_by_text("tea is at five").wait_for()
        await page.get_by_text("This conversation has read text from outside").wait_for()
