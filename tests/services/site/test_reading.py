"""The pages: addresses, lists, languages, caching, search."""

import asyncio
import html
import re
import subprocess
import sys
from datetime import timedelta
from email.utils import format_datetime
from xml.etree import ElementTree

import pytest

from services.site.reading.cache import CSP
from shared.clock import now
from shared.ids import item_id
from tests.services.site.conftest import ORIGIN, Living

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.mark.parametrize(
    "wrong",
    ["/doc/de/learn/index.md", "/doc/de/learn/index/", "/doc/de/learn/", "/doc/de/learn", "/doc/de/learn/index.html"],
)
async def test_other_spellings_lead_to_the_one_address(site: Living, wrong: str) -> None:
    url = await site.publish("learn/index", lang="de")
    answer = await site.http.get(wrong)
    assert (answer.status_code, answer.headers["location"]) == (308, url)


async def test_lists_have_one_address_too(site: Living) -> None:
    await site.publish("a", lang="de")
    for wrong, right in (("/doc", "/doc/"), ("/doc/de", "/doc/de/"), ("/de", "/de/")):
        answer = await site.http.get(wrong)
        assert (answer.status_code, answer.headers["location"]) == (308, right)


async def test_addresses_with_umlauts_and_odd_characters_work(site: Living) -> None:
    path = "über/ärger&co(1)+x'y"
    url = await site.publish(path, "Odd.", title="Odd & <b>")
    page = await site.http.get(url)
    assert page.status_code == 200
    listed = re.search(r'<h2><a href="([^"]+)"', (await site.http.get("/doc/en/")).text)
    assert listed is not None
    assert (await site.http.get(listed[1].replace("&amp;", "&").replace("&#39;", "'"))).text == page.text
    assert "Odd &amp; &lt;b&gt;" in page.text
    assert ElementTree.fromstring((await site.http.get("/sitemap.xml")).content) is not None


async def test_links_follow_what_is_published(site: Living) -> None:
    url = await site.publish("guide/one", "See [two](two.md) and [three](../three.md#part).")
    assert "See two and three." in (await site.http.get(url)).text
    await site.publish("guide/two")
    await site.publish("three")
    text = (await site.http.get(url)).text
    assert '<a href="/doc/en/guide/two">two</a>' in text
    assert '<a href="/doc/en/three#h-part">three</a>' in text
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "three")))
    assert "three</a>" not in (await site.http.get(url)).text


async def test_a_page_names_itself_in_other_languages(site: Living) -> None:
    url = await site.publish("a", title="House", lang="en")
    assert 'hreflang="de"' not in (await site.http.get(url)).text
    german = await site.publish("a", title="Haus", lang="de")
    assert f'<link rel="alternate" hreflang="de" href="{ORIGIN}{german}">' in (await site.http.get(url)).text
    page = (await site.http.get(german)).text
    assert '<html lang="de"' in page
    assert "War diese Seite hilfreich?" in page


async def test_a_cached_page_is_answered_with_its_tags(site: Living) -> None:
    url = await site.publish("a")
    first = await site.http.get(url)
    second = await site.http.get(url)
    assert url in site.site.cache.pages
    for answer in (first, second):
        assert answer.headers["cache-control"] == "public, max-age=0, s-maxage=1, must-revalidate"
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    known = await site.http.get(url, headers={"if-none-match": first.headers["etag"]})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", first.headers["etag"])
    assert (await site.http.get(url, headers={"if-none-match": '"other"'})).status_code == 200
    assert (await site.http.head(url)).headers["etag"] == first.headers["etag"]


async def test_no_date_says_that_a_list_still_stands_when_a_page_was_withdrawn(site: Living) -> None:
    await site.publish("a", title="Stays")
    await site.publish("b", title="Goes")
    paths = ("/", "/doc/en/", "/feed.xml", "/sitemap.xml", "/doc/en/a")
    for path in paths:
        assert "last-modified" not in (await site.http.get(path)).headers
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "en", "b")))
    later = format_datetime(now() + timedelta(seconds=1), usegmt=True)
    for path in (*paths, *paths):  # the second time from memory
        answer = await site.http.get(path, headers={"if-modified-since": later})
        assert answer.status_code == 200
        assert "Goes" not in answer.text


async def test_what_is_no_public_page_is_kept_by_nobody(site: Living) -> None:
    await site.publish("a")
    for url in ("/nothing", "/search?q=a", "/doc/en/a.md", f"/s/{item_id('doc', 'en', 'a')}.gif"):
        assert (await site.http.get(url)).headers["cache-control"] == "private, no-store"


async def test_a_new_revision_replaces_the_page_and_its_tag(site: Living) -> None:
    url = await site.publish("a", "One.")
    first = await site.http.get(url)
    await site.publish("a", "Two.", revision=2)
    second = await site.http.get(url, headers={"if-none-match": first.headers["etag"]})
    assert second.status_code == 200
    assert "Two." in second.text
    assert "One." not in second.text


async def test_a_foreign_host_name_is_refused_also_for_a_cached_page(site: Living) -> None:
    url = await site.publish("a")
    await site.http.get(url)
    assert (await site.http.get(url, headers={"host": "evil.example"})).status_code == 421


async def test_raw_html_of_an_author_is_harmless(site: Living) -> None:
    body = (
        '<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) <form action="/signals/vote">'
    )
    page = (await site.http.get(await site.publish("a", body))).text
    assert "<script" not in page
    assert "onerror=" not in page.replace("onerror=alert(1)&gt;", "")
    assert 'href="javascript' not in page
    assert page.count("<form") == 4  # vote, reaction, feedback, comment


async def test_the_feed_lists_the_newest_with_absolute_addresses(site: Living) -> None:
    for number in range(40):
        await site.publish(f"p{number:02}", title=f"Page {number} & more", summary="<b>bold</b>")
    await site.publish("de", title="Deutsch", lang="de")
    feed = ElementTree.fromstring((await site.http.get("/feed.xml")).content)
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 30
    assert entries[0].findtext(f"{ATOM}title") == "Deutsch"
    link = entries[1].find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == f"{ORIGIN}/doc/en/p39"
    german = ElementTree.fromstring((await site.http.get("/de/feed.xml")).content)
    assert [each.findtext(f"{ATOM}title") for each in german.findall(f"{ATOM}entry")] == ["Deutsch"]
    assert (await site.http.get("/fr/feed.xml")).status_code == 404


async def test_long_lists_come_in_pages(site: Living) -> None:
    entries = [site.gate.publish(f"p{number:03}") for number in range(205)]
    await site.hear("item.published", *entries)
    first, second = (await site.http.get("/doc/en/")).text, (await site.http.get("/doc/en/?page=2")).text
    assert 'href="/doc/en/?page=2"' in first
    assert "p000" in first
    assert "p204" not in first
    assert "p204" in second
    assert (await site.http.get("/doc/en/?page=3")).status_code == 404


async def test_an_item_is_shown_until_its_end(site: Living) -> None:
    url = await site.publish("a", expire_at=now() + timedelta(days=1))
    assert (await site.http.get(url)).status_code == 200
    site.site.books.shelf.expire(now() + timedelta(days=2))
    assert (await site.http.get(url)).status_code == 410


async def test_the_receipt_can_be_checked_elsewhere(site: Living) -> None:
    await site.publish("a", "Checked.")
    of = item_id("doc", "en", "a")
    page = (await site.http.get(f"/receipt/{of}")).text
    receipt = (await site.http.get(f"/receipt/{of}.json")).text
    shown = re.search(r"<code>(import base64.*?)</code>", page, re.DOTALL)
    assert shown is not None
    script = html.unescape(shown[1])
    assert await asyncio.to_thread(checked, script, receipt) == "good\n"
    assert await asyncio.to_thread(checked, script, receipt.replace('"content": "eyJ', '"content": "eyK')) == ""


def checked(script: str, receipt: str) -> str:
    """What the script on the receipt page says about a receipt."""
    run = subprocess.run([sys.executable, "-c", script], input=receipt, text=True, capture_output=True, check=False)
    return run.stdout


async def test_search_finds_published_words_only(site: Living) -> None:
    await site.publish("bridge", "The old **Brückenwärter** opens at dawn.", title="Keeper", lang="de")
    await site.publish("other", "Nothing here.", title="Other")
    await site.publish("inner", "Brückenwärter secrets.", audience="members")
    for query in ("brückenwärter", "BRÜCKENW", "brueckenwaerter", "bruckenwarter", "opens dawn", "keeper"):
        page = (await site.http.get("/search", params={"q": query})).text
        assert 'href="/doc/de/bridge"' in page, query
        assert "secrets" not in page
        assert "/doc/en/other" not in page
    assert "No published page" in (await site.http.get("/search?q=secrets")).text
    assert "&lt;i&gt;" in (await site.http.get("/search?q=<i>")).text
    await site.hear("item.retracted", site.gate.retract(item_id("doc", "de", "bridge")))
    assert "bridge" not in (await site.http.get("/search?q=keeper")).text


async def test_an_empty_site_says_so(site: Living) -> None:
    page = await site.http.get("/")
    assert page.status_code == 200
    assert "Nothing has been published yet" in page.text


async def test_the_navigation_follows_the_first_and_last_of_a_kind(site: Living) -> None:
    await site.publish("a")
    assert 'href="/report/' not in (await site.http.get("/")).text
    await site.publish("r", kind="report")
    assert 'href="/report/' in (await site.http.get("/doc/en/a")).text
    await site.hear("item.retracted", site.gate.retract(item_id("report", "en", "r")))
    assert 'href="/report/' not in (await site.http.get("/doc/en/a")).text


async def test_no_page_carries_script_or_style(site: Living) -> None:
    url = await site.publish("a", "```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    for address in (url, "/", "/doc/", "/search?q=x", "/privacy", "/de/privacy", "/nothing"):
        page = (await site.http.get(address)).text
        assert "<script" not in page
        assert "style=" not in page
        assert "http-equiv" not in page
