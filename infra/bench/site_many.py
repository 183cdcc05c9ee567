"""A large site: how long any page and any search takes, and how soon a site that starts anew answers."""

import random
import time
from collections.abc import Sequence
from typing import Any

from infra.bench.approvals import Waiting, percentile
from infra.bench.http import Connection
from infra.bench.published import publish, restarted, until_found
from infra.bench.report import Targets
from infra.bench.site_seed import seed
from infra.bench.target import Say, Target
from infra.bench.usage import rss_mb

ITEMS = 100_000
ASKED = 1_000
SEARCHED = 300
SEED = 7
WORDS = (
    "measured",
    "page",
    "benchmark",
    "text",
    "word",
    "bench",
    "li",
    "one two",
    "nothing of this",
    "reading wort",
    "zzz",
)
LISTS = ("/", "/en/", "/page/", "/page/en/", "/feed.xml", "/sitemap.xml", "/robots.txt", "/privacy")
TARGETS: Targets = (
    ("pages on the site", ("items_100k", "items"), "", 0),
    ("any page, p99 (ms)", ("items_100k", "page_ms_p99"), "<=", 30),
    ("any search, p99 (ms)", ("items_100k", "search_ms_p99"), "<=", 30),
    ("from the site's start to a page (s)", ("items_100k", "start_s"), "<", 5),
    ("the site's memory (MB)", ("items_100k", "rss_mb"), "", 0),
)


async def many(target: Target, size: float, say: Say) -> dict[str, Any]:
    """`items_100k`: milliseconds, seconds, MB. Pages are asked for one at a time, most of them for the first time since the start."""
    await publish(target, 1, say)
    items = await seed(target, max(500, int(ITEMS * size)), say)
    target, start_s = await restarted(target, items[0].path)
    say(f"the site answered {start_s:.1f} s after its start; pages and searches")
    await until_found(target, items[-1].word)
    async with Connection(target.site) as connection:
        pages = [await _timed(connection, path) for path in _paths(items)]
        searches = [await _timed(connection, f"/search?q={query}") for query in _queries(items)]
    figures = {
        "items": len(items),
        "page_ms_p99": round(percentile(pages, 0.99), 1),
        "search_ms_p99": round(percentile(searches, 0.99), 1),
        "page_ms_max": round(max(pages), 1),
        "search_ms_max": round(max(searches), 1),
        "start_s": round(start_s, 2),
        "rss_mb": round(rss_mb(target.instances("site"))),
    }
    return {"items_100k": figures}


def _paths(items: Sequence[Waiting]) -> list[str]:
    chosen = random.Random(SEED).sample([each.path for each in items], min(ASKED, len(items)))  # noqa: S311 - the same pages each time
    return [*LISTS, *chosen, *LISTS]


def _queries(items: Sequence[Waiting]) -> list[str]:
    rest = random.Random(SEED).sample([each.word for each in items], min(SEARCHED, len(items)))  # noqa: S311 - as above
    return [each.replace(" ", "+") for each in (*WORDS, *WORDS, *rest)]


async def _timed(connection: Connection, path: str) -> float:
    began = time.perf_counter()
    status, _ = await connection.get(path)
    assert status == 200, f"{path} was answered with {status}"
    return (time.perf_counter() - began) * 1000
