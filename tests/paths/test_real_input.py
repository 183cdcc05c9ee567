"""Real input: all pages through the lock with every word and every link between them; every view of an access log, exactly."""

import shutil
import threading
import time
from pathlib import Path
from uuid import uuid4

import pytest
from bs4 import BeautifulSoup

from tests.factories.access_log import page_views
from tests.factories.documents import SAMPLES, Item, real_input
from tests.factories.markdown import files_in, inner_links, page_words, source_words
from tests.factories.stack import Stack, schleuse
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
WHICH = ["samples", pytest.param("real", marks=pytest.mark.long)]
SECONDS = 60.0
"""From handing in to all visible."""


def folder_of(which: str) -> Path:
    return SAMPLES if which == "samples" else real_input()


@pytest.mark.parametrize("which", WHICH)
def test_all_pages_with_every_word_and_every_link(stack: Stack, visitor: Visitor, tmp_path: Path, which: str) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(folder_of(which) / "docs", docs, ignore=shutil.ignore_patterns("LICENSE"))
    sources = {lang: files_in(docs / lang) for lang in ("de", "en")}
    kind = {"samples": "report", "real": "doc"}[which]
    began = time.monotonic()
    items = [item for lang in sources for item in publish(stack, docs / lang, kind, lang)]
    assert len(items) == sum(map(len, sources.values()))
    decided = stack.cli("items", "decide", *(item.item_id for item in items), "--verdict", "approve")
    assert decided == {"decided": len(items), "refused": []}
    pages = {item: until(lambda item=item: text_of(visitor, item), SECONDS) for item in items}
    assert time.monotonic() - began < SECONDS
    for item, html in pages.items():
        source = sources[item.lang][item.path]
        lost = source_words(source) - page_words(html)
        assert not lost, f"{item.lang}/{item.path} lost {lost.most_common(8)}"
    check_links(sources, {item: text_of(visitor, item) for item in items})


def publish(stack: Stack, folder: Path, kind: str, lang: str) -> list[Item]:
    found = stack.cli("publish", str(folder), "--kind", kind, "--lang", lang)
    return [Item(each["item_id"], kind, lang, each["path"]) for each in found["items"]]


def text_of(visitor: Visitor, item: Item) -> str:
    answer = visitor.get(item.url)
    return answer.text if answer.status_code == 200 else ""


def check_links(sources: dict[str, dict[str, str]], pages: dict[Item, str]) -> None:
    """Every link between the pages leads to its page, and to a part of it that is there."""
    soups = {item.url: BeautifulSoup(html, "html.parser") for item, html in pages.items()}
    places = {url: {str(tag["id"]) for tag in soup.find_all(id=True)} for url, soup in soups.items()}
    for item in pages:
        links = [str(link["href"]) for link in soups[item.url].select("article.prose > :not(.ui) a[href]")]
        wanted = inner_links(sources[item.lang][item.path], item.path, set(sources[item.lang]))
        linked = {link.partition("#")[0] for link in links}
        missing = {path for path in wanted if f"/{item.kind}/{item.lang}/{path}" not in linked and path != item.path}
        assert not missing, f"{item.url} does not link to {missing}"
        for link in links:
            address, _, place = link.partition("#")
            if address.startswith("/") or not address:
                target = address or item.url
                assert target in places, f"{item.url} links to {link}, which is not published"
                assert not place or place in places[target], f"{item.url} links to {link}, a part that is not there"


@pytest.mark.parametrize("which", WHICH)
def test_every_view_of_an_access_log_is_counted_exactly(stack: Stack, which: str) -> None:
    log = folder_of("samples") / "access.log" if which == "samples" else folder_of("real") / "signals" / "access.log"
    before, wanted = stack.settled_totals()["view"], page_views(log)
    found = stack.cli("signals", "load", str(log))
    assert found["lines"] == len(log.read_bytes().splitlines())
    assert found["sent"] == wanted
    assert found["sent"] + found["skipped"] == found["lines"]
    until(lambda: stack.totals()["view"] >= before + wanted, 30, "all are counted", 0.1)
    assert stack.settled_totals()["view"] == before + wanted


@pytest.mark.parametrize("which", WHICH)
def test_every_view_is_counted_also_when_bridge_bus_and_database_are_killed(
    stack: Stack, tmp_path: Path, which: str
) -> None:
    log = tmp_path / "long.log"
    source = SAMPLES / "access.log" if which == "samples" else real_input() / "signals" / "access.log"
    log.write_bytes(source.read_bytes() * (25 if which == "samples" else 1))
    before, wanted = stack.settled_totals()["view"], page_views(log)
    done: list[str] = []
    loading = threading.Thread(target=lambda: done.append(load(stack, log)))
    loading.start()
    for part in ("bridge", "nats", "postgres"):
        old = stack.kill(part)
        stack.back(part, old, 60)
    loading.join(200)
    assert done and f'"sent": {wanted}' in done[0], done
    until(lambda: stack.totals()["view"] >= before + wanted, 60, "all are counted", 0.2)
    assert stack.settled_totals()["view"] == before + wanted
    until(stack.green, 40, "everything is healthy", 0.3)


def load(stack: Stack, log: Path) -> str:
    ended = schleuse("signals", "load", str(log), "--state", str(stack.state), "--json", timeout=300)
    return ended.stdout + ended.stderr


def test_loading_the_same_log_twice_counts_twice_but_a_repeat_of_a_chunk_does_not(stack: Stack, tmp_path: Path) -> None:
    log = tmp_path / "small.log"
    path = f"/twice/{uuid4().hex}"
    log.write_text(f'198.18.0.1 - - [17/May/2026:10:00:00 +0000] "GET {path} HTTP/1.1" 200 1 "-" "x"\n' * 3)
    for _ in range(2):
        assert stack.cli("signals", "load", str(log)) == {"lines": 3, "sent": 3, "skipped": 0}
    text = f"SELECT coalesce(sum(n), 0)::int AS n FROM app.signal_counts WHERE item_key = '{path}'"
    until(lambda: stack.value("console", text) == 6, 15)
