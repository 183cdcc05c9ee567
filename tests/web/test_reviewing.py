"""A moderator's morning: live queue, claims, keyboard, the difference, bulk approval, conflicts, switches."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.factories.documents import decide, submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until
from tests.web.conftest import Opener

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(60)]


@pytest.fixture(scope="session")
def reviewers(owner: Person) -> tuple[Person, Person]:
    return owner.add("moderator", "Anna Albers"), owner.add("moderator", "Ben Bruhn")


async def test_new_items_are_counted_and_nothing_moves_under_the_hand(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    mark = uuid4().hex[:8]
    submit(stack, f"# Here already {mark}\n\nx\n", name=f"live-{mark}-0")
    async with open_page(reviewers[0]) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue?q={mark}")
        await expect(page.locator(".rows li")).to_have_count(1)
        await page.keyboard.press("j")
        focused = await page.evaluate("document.activeElement.href")
        submit(stack, f"# Came later {mark}\n\nx\n", name=f"live-{mark}-1")
        await expect(page.locator("#news")).to_contain_text(re.compile(r"[1-9]\d* new"))
        await expect(page.locator(".rows li")).to_have_count(1)
        assert await page.evaluate("document.activeElement.href") == focused


async def test_a_claimed_item_says_who_has_it_open(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    item = submit(stack, f"# Claimed {uuid4().hex[:8]}\n\nx\n")
    where = f"{stack.urls['console']}/queue/{item.item_id}"
    async with open_page(reviewers[0]) as first, open_page(reviewers[1]) as second:
        await first.page.goto(where)
        await second.page.goto(where)
        await expect(second.page.locator("#decision")).to_contain_text("Anna Albers has this open")
        await first.page.get_by_role("button", name="Release the claim").click()
        await first.page.wait_for_url("**/queue")
        await second.page.reload()
        await expect(second.page.locator("#decision")).not_to_contain_text("Anna Albers has this open")


async def test_the_second_reviewer_sees_who_decided(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    item = submit(stack, f"# Conflict {uuid4().hex[:8]}\n\nx\n")
    where = f"{stack.urls['console']}/queue/{item.item_id}"
    async with (
        open_page(reviewers[0], javascript=False) as first,
        open_page(reviewers[1], javascript=False, strict=False) as second,
    ):
        await first.page.goto(where)
        await second.page.goto(where)
        await first.page.get_by_role("button", name="Approve and publish").click()
        await second.page.get_by_role("button", name="Approve and publish").click()
        await expect(second.page.get_by_role("alert")).to_contain_text("Anna Albers decided this revision")


async def test_a_newer_revision_is_announced_while_reading(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    item = submit(stack, "# Changing\n\nfirst\n")
    async with open_page(reviewers[0]) as watched:
        await watched.page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        await expect(watched.page.locator("#decide")).to_be_visible()
        submit(stack, "# Changing\n\nsecond\n", name=item.path)
        await expect(watched.page.get_by_role("alert")).to_contain_text("newer revision")


async def test_rejecting_by_key_asks_for_the_reason_first(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    item = submit(stack, f"# Rejected {uuid4().hex[:8]}\n\nx\n")
    async with open_page(reviewers[0]) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        await page.keyboard.press("r")
        assert await page.evaluate("document.activeElement.id") == "reason"
        await page.keyboard.type("a j k a r are only letters here")
        await page.keyboard.press("Escape")
        await page.keyboard.press("r")
        await expect(page.locator("#decision")).to_contain_text("Rejected")
        await expect(page.locator("#decision")).to_contain_text("are only letters here")


async def test_single_keys_can_be_turned_off(stack: Stack, owner: Person, open_page: Opener) -> None:
    person = owner.add("moderator", "Keyless")
    person.send("/me/keys", "/me", single_keys="off")
    item = submit(stack, f"# Keyless {uuid4().hex[:8]}\n\nx\n")
    async with open_page(person) as watched:
        await watched.page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        await watched.page.keyboard.press("a")
        await watched.page.keyboard.press("g")
        await watched.page.keyboard.press("s")
        await expect(watched.page.get_by_role("button", name="Approve and publish")).to_be_visible()


async def test_bulk_approval_says_first_what_becomes_public(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    mark = uuid4().hex[:8]
    items = [submit(stack, f"# Bulk {mark} {n}\n\nx\n", name=f"bulk-{mark}-{n}") for n in range(3)]
    finding = submit(stack, f"# Bulk {mark} key\n\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n", name=f"bulk-{mark}-key")
    visitor = Visitor(stack)
    async with open_page(reviewers[0]) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue?q={mark}")
        for _ in range(4):
            await page.keyboard.press("j")
            await page.keyboard.press("x")
        await page.keyboard.press("b")
        await expect(page.get_by_role("heading", level=1)).to_have_text("3 items will become public")
        await expect(page.locator("input[name=item]:checked")).to_have_count(3)
        await page.keyboard.press("a")
        await expect(page.locator("main")).to_contain_text("3")
        until(lambda: all(visitor.sees(item) for item in items), 10)
        assert not visitor.sees(finding)


async def test_the_difference_is_with_the_approved_revision(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    start = "# Diff\n\nThe old price is 4 euros.\n\nSame line.\n"
    item = submit(stack, start)
    decide(stack, item)
    submit(stack, start.replace("old price is 4", "new price is 5"), name=item.path)
    async with open_page(reviewers[0]) as watched:
        await watched.page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        table = watched.page.locator("table.diff")
        await expect(table).to_contain_text("old price is 4")
        await expect(table).to_contain_text("new price is 5")
        await expect(watched.page.frame_locator("iframe.preview").locator("body")).to_contain_text("new price is 5")


async def test_withdrawing_by_page_says_gone_from_the_site(
    stack: Stack, reviewers: tuple[Person, Person], open_page: Opener
) -> None:
    item = submit(stack, f"# Withdraw {uuid4().hex[:8]}\n\nx\n")
    decide(stack, item)
    async with open_page(reviewers[0]) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
        await page.keyboard.press("w")
        await page.keyboard.type("it was wrong")
        await page.get_by_role("button", name="Withdraw from the site").click()
        await expect(page.locator("#decision")).to_contain_text("Gone from the site since")


async def test_a_switch_shows_its_effect_and_asks_for_a_reason(stack: Stack, owner: Person, open_page: Opener) -> None:
    async with open_page(owner) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/switches")
        await page.locator(".sets").get_by_role("switch").first.click()
        form = page.locator("form.notice")
        await expect(form).to_be_visible()
        await expect(form.get_by_role("textbox")).to_be_visible()


async def test_submitting_a_file_in_the_browser(stack: Stack, owner: Person, open_page: Opener, tmp_path: Path) -> None:
    path = tmp_path / f"browser-{uuid4().hex[:8]}.md"
    path.write_text("# From a file\n\nÜber den Browser.\n", encoding="utf-8")
    async with open_page(owner) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/submit")
        await page.set_input_files("input[type=file]", path)
        await page.locator("form[action='/submit'] button.go, main form button.go").first.click()
        await page.wait_for_url("**/queue/*-*")
        await expect(page.get_by_role("heading", level=1)).to_have_text("From a file")


async def test_the_console_works_without_javascript(stack: Stack, owner: Person, open_page: Opener) -> None:
    mark = uuid4().hex[:8]
    async with open_page(owner, javascript=False) as watched:
        page = watched.page
        await page.goto(f"{stack.urls['console']}/submit")
        await page.get_by_label(re.compile("path", re.IGNORECASE)).first.fill(f"plain-{mark}")
        await page.locator("textarea[name=markdown]").fill(f"# Plain {mark}\n\nno script\n")
        await page.locator("main form button.go").first.click()
        await page.get_by_role("button", name="Approve and publish").click()
        visitor = Visitor(stack)
        until(lambda: visitor.get(f"/page/en/plain-{mark}").status_code == 200, 10)
