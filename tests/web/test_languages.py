"""The console in German: by what the browser asks for, and by choice."""

import pytest
from playwright.async_api import Browser, expect

from tests.factories.documents import submit
from tests.factories.people import Person
from tests.factories.stack import Stack
from tests.web.conftest import Opener, axe, overflows, sign_in

pytestmark = [pytest.mark.stack, pytest.mark.web, pytest.mark.timeout(150)]
PAGES = ("/queue", "/submit", "/switches", "/statistics", "/spend", "/audit", "/health", "/me", "/keys", "/notices")


def test_german_is_spoken_to_a_browser_that_asks_for_it(stack: Stack, owner: Person) -> None:
    person = owner.add("viewer")
    person.http.headers["Accept-Language"] = "de-DE,de;q=0.9,en;q=0.5"
    for path in PAGES:
        page = person.page(path)
        assert '<html lang="de"' in page.text, path
    assert "Mit der Rolle Betrachtend darf man das nicht: Beiträge einreichen." in person.page("/submit").text
    assert "Unter dieser Adresse gibt es keine Seite." in person.page("/nowhere").text
    with_out = Person(stack.urls["console"])
    with_out.http.headers["Accept-Language"] = "de"
    assert "Anmelden" in with_out.page("/sign-in").text


def test_what_a_person_chose_counts_in_every_browser(owner: Person) -> None:
    person = owner.add("viewer")
    person.send("/me/language", "/me", language="de")
    assert 'lang="de" data-surface' in person.page("/queue").text
    person.http.headers["Accept-Language"] = "de"
    person.send("/me/language", "/me", language="en")
    assert 'lang="en" data-surface' in person.page("/queue").text
    person.send("/me/language", "/me", language="xx")
    assert 'lang="de" data-surface' in person.page("/queue").text, "none of ours: what the browser asks for"


async def test_an_item_is_decided_in_german_by_key(stack: Stack, owner: Person, browser: Browser) -> None:
    person = owner.add("moderator", "Ute Prüferin")
    item = submit(stack, "# Preise\n\nMail an jemand.echtes@wurzbach-kommune.de\n")
    context = await browser.new_context(viewport={"width": 390, "height": 800}, locale="de-DE")
    await sign_in(context, person)
    page = await context.new_page()
    await page.goto(f"{stack.urls['console']}/queue/{item.item_id}")
    await expect(page.get_by_role("button", name="Freigeben und veröffentlichen")).to_be_visible()
    await expect(page.locator(".finds")).to_contain_text("Eine E-Mail-Adresse; soll sie öffentlich werden?")
    assert await axe(page) == [] and await overflows(page) == 0
    await page.keyboard.press("r")
    await page.keyboard.type("zu teuer")
    await page.get_by_role("button", name="Ablehnen").click()
    await expect(page.locator("#state")).to_contain_text("Abgelehnt", timeout=60_000)
    await context.close()


async def test_g_and_a_letter_go_to_the_pages_that_the_list_names(owner: Person, open_page: Opener) -> None:
    async with open_page(owner.add("admin")) as watched:
        page = watched.page
        await page.goto(f"{owner.base}/queue")
        named = await page.locator("#key-list [data-go]").evaluate_all("all => all.map(each => each.dataset.go)")
        assert len(set(named)) == len(named) >= 8
        await page.keyboard.press("g")
        await page.keyboard.press("s")
        await expect(page).to_have_url(f"{owner.base}/switches")
        await expect(page.get_by_role("navigation", name="Settings").get_by_role("link", name="Switches")).to_have_attribute("aria-current", "page")  # fmt: skip
