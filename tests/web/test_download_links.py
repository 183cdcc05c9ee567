"""Download links as a person uses them: made, fetched and taken back by keyboard; on a phone, in the dark."""

import httpx2
import pytest

from infra.cli.access import make_access
from tests.factories.people import Person
from tests.factories.stack import Stack, apart
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web]
NAME = "Übersicht (3) final version with a name that is long enough to need a second line on a phone.txt"


def put(stack: Stack, person: Person, name: str, content: bytes) -> None:
    key = apart(lambda: make_access(stack.state, "token", person.handle, "test"))["key"]
    url = f"{stack.urls['workspace']}/api/v1/files/content"
    answer = httpx2.put(url, params={"path": name}, content=content, headers={"Authorization": f"Bearer {key}"}, timeout=60)  # fmt: skip
    assert answer.status_code == 201, answer.text


async def test_links_are_made_fetched_and_taken_back_by_keyboard(stack: Stack, owner: Person, open_page: Opener) -> None:  # fmt: skip
    person, home = owner.add("member"), stack.urls["workspace"]
    put(stack, person, NAME, b"all there is")
    async with open_page(person, width=390, height=844, dark=True) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.goto(f"{home}/downloads")
        await page.get_by_label("File in your workspace").fill(NAME)
        await page.keyboard.press("Enter")
        await page.get_by_role("status").get_by_text("can be fetched by you").wait_for()
        assert await axe(page) == [] and not await overflows(page)
        async with page.expect_download() as download:
            await page.get_by_role("status").get_by_role("link").press("Enter")
        found = await download.value
        assert found.suggested_filename == NAME and (await found.path()).read_bytes() == b"all there is"
        await page.get_by_label("File in your workspace").fill(NAME)
        await page.get_by_label("Works for").select_option("anybody")
        await page.get_by_role("button", name="Make the link").press("Enter")
        shown = page.get_by_role("status").get_by_label("Link")
        link = await shown.input_value()
        assert httpx2.get(link, timeout=60).content == b"all there is", "without a cookie or a key"
        await page.get_by_role("button", name="Take back").first.press("Enter")
        await page.get_by_role("status").get_by_text("is taken back").wait_for()
        assert await axe(page) == [] and not await overflows(page)
        assert httpx2.get(link, timeout=60).status_code == 404
        await page.get_by_label("File in your workspace").fill("../../etc/passwd")
        await page.keyboard.press("Enter")
        await page.get_by_role("alert").get_by_text("no such download").wait_for()
        watched.faults.clear()  # the refusal above is a 404, which the browser's console names
