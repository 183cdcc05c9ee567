"""The page Your data, as a person uses it: by keyboard and on a phone."""

import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web]


async def test_ones_data_is_fetched_and_deleted_by_keyboard(stack: Stack, owner: Person, open_page: Opener) -> None:
    home = stack.urls["workspace"]
    async with open_page(owner.add("member")) as watched:
        page = watched.page
        await page.goto(f"{home}/sign-in")
        await page.goto(f"{home}/data")
        assert await axe(page) == []
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Fetch everything").press("Enter")
        assert (await download.value).suggested_filename.endswith(".zip")
        await page.get_by_label("To confirm").fill("perhaps")
        await page.keyboard.press("Enter")
        await page.get_by_role("alert").get_by_text("Nothing was deleted").wait_for()
        await page.get_by_label("To confirm").fill("Delete everything")
        await page.keyboard.press("Enter")
        await page.get_by_role("status").get_by_text("Deleted").wait_for()
        assert await axe(page) == []
        watched.faults.clear()  # the refusal above is a 422, which the browser's console names


async def test_a_guest_on_a_phone_is_told_that_nothing_is_kept(stack: Stack, open_page: Opener) -> None:
    async with open_page(width=320, height=640, dark=True) as watched:
        await watched.page.goto(f"{stack.urls['workspace']}/data")
        assert await watched.page.get_by_text("nothing of what you write is kept").count() == 1
        assert await axe(watched.page) == [] and not await overflows(watched.page)
