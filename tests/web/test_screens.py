"""The pictures of the README, taken from the running system. Written only when SCHLEUSE_SCREENS is set, so that a test run changes no file."""

import os
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Page, expect

from tests.factories.documents import Item, decide, submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until
from tests.web.conftest import SCREENS, Opener

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(60)]

LOCKS = """# Zwölf Schleusen am Oberlauf

Seit dem Frühjahr laufen alle zwölf Schleusen wieder nach Fahrplan. {price}

## Was neu ist

| Schleuse | Hub | Dauer |
| --- | ---: | ---: |
| Niederfinow | 36,0 m | 20 min |
| Rothensee | 18,7 m | 18 min |
| Uelzen | 23,0 m | 22 min |

!!! note "Gut zu wissen"
    Sportboote werden gemeinsam mit der Berufsschifffahrt geschleust.

```python
def minutes(lift: float, rate: float = 1.15) -> float:
    return lift / rate
```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where pictures go: beside the README's others, or away."""
    if os.environ.get("SCHLEUSE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        return SCREENS
    return tmp_path


@pytest.fixture(scope="module")
def locks(stack: Stack, owner: Person) -> Item:
    name = f"schleusen-{uuid4().hex[:4]}"
    item = submit(stack, LOCKS.format(price="Die Gebühr beträgt vier Euro."), kind="announcement", lang="de", name=name)
    decide(stack, item)
    visitors = [Visitor(stack) for _ in range(3)]
    until(lambda: visitors[0].sees(item), 10)
    for visitor in visitors:
        visitor.vote(item)
    revised = LOCKS.format(price="Die Gebühr beträgt ab Mai fünf Euro, Fragen an hafen@example.org.").replace(
        "20 min", "19 min"
    )
    submit(stack, revised, kind="announcement", lang="de", name=name)
    for title in ("Opening hours in summer", "How a lock works", "Report on water levels, third quarter"):
        submit(stack, f"# {title}\n\nText.\n", kind="page", name=f"{title.split()[0].lower()}-{uuid4().hex[:4]}")
    return item


async def take(page: Page, path: Path) -> None:
    await page.screenshot(path=path, animations="disabled")


async def test_queue_and_difference(stack: Stack, owner: Person, locks: Item, folder: Path, open_page: Opener) -> None:
    async with open_page(owner, width=1280, height=800) as watched:
        await watched.page.goto(f"{stack.urls['console']}/queue/{locks.item_id}")
        await expect(watched.page.locator("table.diff")).to_be_visible()
        preview = watched.page.frame_locator("iframe.preview")
        await expect(preview.locator("h1")).to_be_visible()
        await take(watched.page, folder / "queue.png")


async def test_history(stack: Stack, owner: Person, locks: Item, folder: Path, open_page: Opener) -> None:
    async with open_page(owner, width=1280, height=800) as watched:
        await watched.page.goto(f"{stack.urls['console']}/queue/{locks.item_id}/history")
        await expect(watched.page.locator("ol.hops li")).not_to_have_count(0)
        await take(watched.page, folder / "history.png")


async def test_the_public_page_on_a_phone_in_the_dark(
    stack: Stack, locks: Item, folder: Path, open_page: Opener
) -> None:
    async with open_page(width=390, height=780, dark=True) as watched:
        await watched.page.goto(stack.urls["site"] + locks.url)
        await take(watched.page, folder / "site-phone-dark.png")
