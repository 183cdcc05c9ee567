"""A table as a grid: five hundred columns and markup in every field, by keyboard, by form alone, small enough to be quick (limit 150 KB)."""

from pathlib import Path
from uuid import uuid4

import pytest

from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import HAS_AXE, Opener, axe, overflows

pytestmark = pytest.mark.stack
LIMIT = 150_000
EVIL = "<b>1</b>"
COLUMNS = 500


@pytest.fixture(scope="session")
def wide(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An installed app with one table of 500 columns and a row with markup in each."""
    slug = f"wide-{uuid4().hex[:8]}"
    folder: Path = tmp_path_factory.mktemp("app") / slug
    folder.mkdir()
    columns = "\n".join(
        f'[[tables.columns]]\nname = "c{number}"\nvisibility = "shareable"' for number in range(COLUMNS - 1)
    )
    head = f'slug = "{slug}"\ntitle = "Wide"\nkind = "application"\n[[tables]]\nname = "rows"\nkey = ["code"]\n'
    (folder / "app.toml").write_text(head + '[[tables.columns]]\nname = "code"\n' + columns + "\n")
    stack.cli("apps", "install", str(folder))
    stack.cli("apps", "decide", slug, "--verdict", "install")
    file = folder.parent / "rows.csv"
    names = ",".join(["code", *(f"C{number}" for number in range(COLUMNS - 1))])
    file.write_text("\n".join([names, *(",".join([f"row{row}", *[EVIL] * (COLUMNS - 1)]) for row in range(60))]) + "\n")
    report = stack.cli("records", "import", slug, "rows", str(file), "--json")
    assert (report["added"], report["bad_count"]) == (60, 0)
    return f"/applications/{slug}/rows"


async def test_a_wide_table_is_small_inert_and_edited_by_keyboard(open_page: Opener, owner: Person, wide: str) -> None:
    many = "&".join(f"c=c{number}" for number in range(80))
    for address in (
        wide,
        f"{wide}?{many}",
        f"{wide}?sort=-code&f=c1:contains:b",
        wide.replace("applications", "records") + "/row?key=%5B%22row1%22%5D",
    ):
        answer = owner.http.get(address, follow_redirects=True)
        assert (answer.status_code, EVIL in answer.text) == (200, False)
        assert len(answer.content) < LIMIT, address
    async with open_page(owner) as watched:
        page = watched.page
        await page.goto(f"{owner.base}{wide}?cols=code,c0,c1")
        await page.locator("tbody tr").first.locator("td").nth(1).click()
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("Enter")
        await page.keyboard.type("mine")
        await page.keyboard.press("Enter")
        await page.locator(".was-kept").wait_for()
        assert await page.locator("tbody tr").first.locator("td").nth(2).inner_text() == "mine"
        if HAS_AXE:
            assert await axe(page) == []


async def test_without_script_and_on_a_phone_rows_are_filtered_and_changed_by_forms(
    open_page: Opener, owner: Person, wide: str
) -> None:
    async with open_page(owner, javascript=False, width=390, dark=True) as watched:
        page = watched.page
        await page.goto(f"{owner.base}{wide}?cols=code,c0")
        await page.fill("input[name=fc]", "code")
        await page.fill("input[name=fv]", "row7")
        await page.get_by_role("button", name="Filter").click()
        await page.get_by_role("link", name="Open row7").click()
        await page.fill("input[name='to.c0']", "by form")
        await page.get_by_role("button", name="Save").click()
        assert await page.input_value("input[name='to.c0']") == "by form"
        assert await overflows(page) == 0
