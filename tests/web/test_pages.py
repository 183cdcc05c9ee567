"""Every page in light and dark, wide and on a phone: no violation that axe-core finds, no sideways scroll, no console error."""

from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from tests.factories.documents import Item, decide, submit, withdraw
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until
from tests.web.conftest import Opener, Watched, axe, overflows, sign_in

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(90)]

RICH = """# Everything that a page can hold

A paragraph with **bold**, `code`, a [link](https://example.org/a-very-long-address-that-has-no-place-to-break-anywhere-at-all) and a note[^1].

## Table

| Part | What it does | A column with a long heading that makes it wide | Another one | And one more |
| --- | --- | --- | --- | --- |
| Gate | opens | yes | no | `a_very_long_identifier_in_a_cell_without_spaces_at_all` |

## Code

```python
def a_function_with_a_rather_long_name(first_argument: str, second_argument: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(second_argument.items())  # a comment that goes on and on
```

!!! warning "Mind the gap"
    An admonition with a list:

    - one
    - two

> A quotation.

1. first
2. second

[^1]: The note itself.
"""


@dataclass(frozen=True)
class Places:
    """Items in each state that a page can show."""

    public: Item
    waiting: Item
    gone: Item


@pytest.fixture(scope="module")
def places(stack: Stack, owner: Person) -> Places:
    mark = uuid4().hex[:8]
    public = submit(stack, RICH, kind="doc", name=f"rich-{mark}")
    german = submit(
        stack, "# Größen und Maße\n\nEin Text über Schleusen.\n", kind="announcement", lang="de", name=f"masse-{mark}"
    )
    gone = submit(stack, f"# Gone {mark}\n\nx\n", name=f"gone-{mark}")
    for item in (public, german, gone):
        decide(stack, item)
    visitor = Visitor(stack)
    until(lambda: all(visitor.sees(item) for item in (public, german, gone)), 10)
    withdraw(stack, gone)
    until(lambda: visitor.get(gone.url).status_code == 410, 5)
    visitor.vote(public)
    visitor.view(public)
    visitor.say(public, "Das Maß im dritten Absatz stimmt nicht.")
    waiting = submit(
        stack,
        RICH.replace("opens", "opens inwards") + "\nCall +49 30 901820 or write to kim@example.org.\n",
        kind="doc",
        name=f"rich-{mark}",
    )
    return Places(public, waiting, gone)


def where(page: str, places: Places) -> str:
    return page.format(public=places.public, waiting=places.waiting, gone=places.gone)


CONSOLE = {
    "queue": "/queue",
    "item": "/queue/{waiting.item_id}",
    "item one column": "/queue/{waiting.item_id}?view=one",
    "history": "/queue/{public.item_id}/history",
    "together": "/queue/together?item={waiting.item_id}",
    "submit": "/submit",
    "switches": "/switches",
    "setting a switch": "/switches?set=publication_mode&to=frozen",
    "setting the agent": "/switches?set=agent-cap-users&to=5.00",
    "notices": "/notices",
    "statistics": "/statistics?whose=all",
    "analytics": "/analytics",
    "analytics of an item": "/analytics/item?key={public.item_id}",
    "audit": "/audit",
    "parked": "/parked",
    "health": "/health",
    "system": "/system",
    "grants": "/system/grants",
    "grants found": "/system/grants?q=policies&surface=bridge",
    "people": "/people",
    "guests": "/guests",
    "secrets": "/secrets?type=imap",
    "new password": "/me/password",
    "me": "/me",
    "keys": "/keys",
    "not found": "/queue/00000000-0000-4000-8000-000000000000",
}
SITE = {
    "index": "/",
    "index de": "/de/",
    "section": "/doc/en/",
    "kind": "/doc/",
    "item": "{public.url}",
    "search": "/search?q=everything",
    "empty search": "/search?q=xyzzyxyzzy",
    "receipt": "/receipt/{public.item_id}",
    "privacy": "/privacy",
    "not found": "/nothing/here",
    "gone": "{gone.url}",
}
WORK = ("/queue/all", "/apps", "/cards/apps", "/answers", "/mappings", "/jobs", "/leaks", "/proposals", "/links", "/analytics/figures", "/provenance")  # fmt: skip
LOOKS = {"wide light": (1440, False), "phone dark": (390, True)}
ALLOWED = (
    "Failed to load resource: the server responded with a status of 404",
    "Failed to load resource: the server responded with a status of 410",
)


def errors(watched: Watched) -> list[str]:
    """What the browser complained about; that a page which is not there answers 404 or 410 is right."""
    return [fault for fault in watched.faults if not fault.startswith(ALLOWED)]


async def check(open_page: Opener, address: str, person: Person | None, look: str) -> None:
    width, dark = LOOKS[look]
    async with open_page(person, width=width, dark=dark, strict=False) as watched:
        answer = await watched.page.goto(address)
        assert answer is not None and answer.status < 500
        assert await overflows(watched.page) <= 0, "the page scrolls sideways"
        assert await axe(watched.page) == []
        await watched.page.set_viewport_size({"width": 320, "height": 640})
        assert await overflows(watched.page) <= 0, "the page scrolls sideways at 320 px"
        assert errors(watched) == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", CONSOLE)
async def test_a_page_of_the_console(
    stack: Stack, owner: Person, places: Places, open_page: Opener, name: str, look: str
) -> None:
    await check(open_page, stack.urls["console"] + where(CONSOLE[name], places), owner, look)


@pytest.mark.parametrize(("width", "dark"), [pytest.param(1440, False, marks=pytest.mark.long), (320, True)])
async def test_the_pages_of_work_in_german(
    stack: Stack, owner: Person, browser: Browser, width: int, dark: bool
) -> None:
    """In one browser, one after another: axe, width and weight."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    size: ViewportSize = {"width": width, "height": 800}
    context = await browser.new_context(viewport=size, color_scheme=scheme, locale="de-DE", reduced_motion="reduce")
    await sign_in(context, owner)
    page = await context.new_page()
    for path in WORK:
        answer = await page.goto(stack.urls["console"] + path)
        assert answer is not None and answer.status == 200, path
        assert len(await answer.body()) < 150_000, path
        assert await overflows(page) <= 0, f"{path} scrolls sideways"
        assert await axe(page) == [], path
    await context.close()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", SITE)
async def test_a_page_of_the_site(stack: Stack, places: Places, open_page: Opener, name: str, look: str) -> None:
    await check(open_page, stack.urls["site"] + where(SITE[name], places), None, look)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("surface", "path"), [("workspace", "/"), ("console", "/sign-in")])
async def test_a_front_door(stack: Stack, owner: Person, open_page: Opener, surface: str, path: str, look: str) -> None:
    await check(open_page, stack.urls[surface] + path, None, look)


async def test_the_site_needs_no_javascript_and_loads_nothing_foreign(
    stack: Stack, places: Places, open_page: Opener
) -> None:
    async with open_page(javascript=False) as watched:
        asked: list[str] = []
        watched.page.on("request", lambda request: asked.append(request.url))
        await watched.page.goto(stack.urls["site"] + places.public.url)
        await expect(watched.page.get_by_role("heading", level=1)).to_be_visible()
        assert all(url.startswith(stack.urls["site"]) for url in asked), asked
        assert not any(url.endswith(".js") for url in asked)
