"""Undo by key and by toast, also after a reload; a claim that is taken over."""

from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.factories.documents import listed, submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until
from tests.web.conftest import Opener, axe, overflows

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(150)]


async def test_u_takes_a_bulk_approval_back_also_after_a_reload(stack: Stack, owner: Person, open_page: Opener) -> None:
    person, mark, visitor = owner.add("moderator", "Ulla Undo"), uuid4().hex[:8], Visitor(stack)
    items = [submit(stack, f"# Undo {mark} {n}\n\nx\n", name=f"undo-{mark}-{n}") for n in range(2)]
    async with open_page(person) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue/together?all=yes&q={mark}")
        await page.keyboard.press("a")
        toast = page.get_by_role("status").locator(".toast")
        await expect(toast).to_contain_text("2 items approved", timeout=20_000)
        await expect(toast).to_contain_text("left")
        assert await axe(page) == []
        until(lambda: all(visitor.sees(item) for item in items), 20)
        await page.goto(f"{stack.urls['console']}/queue")
        await expect(page.locator("#undo-head")).to_be_visible()
        assert await axe(page) == []
        await page.keyboard.press("u")
        await expect(page.get_by_role("heading", level=1)).to_have_text("2 undone", timeout=20_000)
        until(lambda: all(visitor.get(item.url).status_code == 410 for item in items), 10)
        assert [listed(stack, item)["state"] for item in items] == ["submitted"] * 2


async def test_an_item_says_how_long_it_can_be_undone(stack: Stack, owner: Person, open_page: Opener) -> None:
    person, item = owner.add("moderator", "Uwe Undo"), submit(stack, f"# Single {uuid4().hex[:8]}\n\nx\n")
    async with open_page(person, width=390, dark=True) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        await page.get_by_role("button", name="Approve and publish").click()
        panel = page.locator("#decision")
        await expect(panel).to_contain_text("Live on the site", timeout=20_000)
        await expect(panel).to_contain_text("9:")
        assert await overflows(page) == 0
        await panel.get_by_role("button", name="Undo").click()
        await expect(panel).to_contain_text("Uwe Undo undid the decision")
        await expect(panel.get_by_role("button", name="Approve and publish")).to_be_visible()
        assert await axe(page) == []


async def test_a_claim_is_taken_over_and_given_up_by_leaving(stack: Stack, owner: Person, open_page: Opener) -> None:
    one, two = owner.add("moderator", "Cora Claim"), owner.add("moderator", "Till Taker")
    item = submit(stack, f"# Claimed {uuid4().hex[:8]}\n\nx\n")
    where = f"{stack.urls['console']}/queue/{item.item_id}"
    async with open_page(one) as first, open_page(two) as second:
        await first.page.goto(where)
        await second.page.goto(where)
        await expect(second.page.locator("#decision")).to_contain_text("Cora Claim has this open")
        await second.page.get_by_role("button", name="Take it over").click()
        await expect(second.page.get_by_role("button", name="Release the claim")).to_be_visible()
        await expect(first.page.locator("#decision")).to_contain_text("Till Taker has this open")
        await expect(first.page.get_by_role("button", name="Approve and publish")).to_be_visible()
        await second.page.goto(f"{stack.urls['console']}/notices")
        await expect(first.page.locator("#decision")).not_to_contain_text("Till Taker has this open")
