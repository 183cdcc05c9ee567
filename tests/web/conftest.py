"""Debian's Chromium, driven by Playwright; contexts that are signed in; console errors are failures."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.factories.people import Person
from tests.factories.stack import ROOT

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
AXE = ROOT / ".cache" / "node_modules" / "axe-core" / "axe.min.js"
HAS_CHROMIUM, HAS_AXE = CHROMIUM.exists(), AXE.exists()
SCREENS = ROOT / "tests" / "web" / "screens"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
]


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    if not HAS_CHROMIUM:
        pytest.skip(f"{CHROMIUM} is missing; `make test` installs it where it may")
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        await found.close()


@dataclass
class Watched:
    """A page and what its console said: errors, refused content, failed requests."""

    page: Page
    faults: list[str]

    def check(self) -> None:
        assert self.faults == []


Opener = Callable[..., AbstractAsyncContextManager[Watched]]


@pytest.fixture
def open_page(browser: Browser) -> Opener:
    """`async with open_page(person, width=…, dark=…, javascript=…) as watched`; any console error fails the test at the end."""

    @asynccontextmanager
    async def opening(
        person: Person | None = None,
        *,
        width: int = 1440,
        height: int = 900,
        dark: bool = False,
        javascript: bool = True,
        strict: bool = True,
    ) -> AsyncIterator[Watched]:
        scheme: Any = "dark" if dark else "light"
        context = await browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=javascript,
            reduced_motion="reduce",
            locale="en-GB",
        )
        context.set_default_timeout(15_000)
        if person is not None:
            await sign_in(context, person)
        watched = watch(await context.new_page())
        try:
            yield watched
            if strict:
                watched.check()
        finally:
            await context.close()

    return opening


async def sign_in(context: BrowserContext, person: Person) -> None:
    """The same session as the person's plain client."""
    await context.add_cookies(
        [{"name": name, "value": value, "url": person.base} for name, value in person.http.cookies.items()]
    )


def watch(page: Page) -> Watched:
    watched = Watched(page, [])
    page.on(
        "console", lambda message: watched.faults.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: watched.faults.append(str(error)))
    return watched


@cache
def _axe() -> str:
    return AXE.read_text(encoding="utf-8")


async def axe(page: Page) -> list[str]:
    """Violations that axe-core finds, each with its first place. The policy of the page is passed by, as a browser extension does."""
    if not HAS_AXE:
        pytest.skip("axe-core is not in .cache (npm could not be used); accessibility was not checked")
    await page.evaluate(_axe())
    found = await page.evaluate("async () => (await axe.run({resultTypes: ['violations']})).violations")
    return [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0].get('failureSummary', '')[:300]}"
        for each in found
    ]


async def overflows(page: Page) -> int:
    """Pixels by which the page scrolls sideways."""
    width: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width
