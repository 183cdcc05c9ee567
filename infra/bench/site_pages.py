"""A page of the site: from memory, made anew, and through nginx's cache, beside the same bytes as a file of nginx's, all in the clear."""

import asyncio
from collections.abc import Sequence
from typing import Any

from infra.bench.approvals import Waiting
from infra.bench.edge import NAME, nginx_in_front
from infra.bench.http import Connection
from infra.bench.published import publish, restarted, until_found
from infra.bench.rates import AT_ONCE, ask_again, cached_page
from infra.bench.report import Targets
from infra.bench.target import Say, Target
from infra.bench.usage import cpu_seconds

REQUESTS = 20_000
PAGES = 2_000
"""Each asked for once, so that each is made anew."""
TARGETS: Targets = (
    ("page from memory (/s and core)", ("page_cached_per_s",), "", 0),
    ("the same bytes as a file of nginx's (/s and core)", ("nginx_static_per_s",), "", 0),
    ("page from memory, of nginx's file", ("ratio_cached",), ">=", 0.35),
    ("page through nginx's cache (/s and core)", ("nginx_cached_per_s",), "", 0),
    ("page through nginx's cache, of nginx's file", ("ratio_nginx_cached",), ">=", 0.8),
    ("page made anew, its receipt verified (/s and core)", ("page_uncached_per_s",), ">=", 1500),
)


async def pages(target: Target, size: float, say: Say) -> dict[str, Any]:
    """Requests a second and CPU core of the process that answers, best of three."""
    items = await publish(target, max(100, int(PAGES * size)), say)
    requests = max(1000, int(REQUESTS * size))
    found: dict[str, float] = {}
    async with nginx_in_front(target, items[0].path) as (port, workers):
        for run in range(3):
            say(f"pages, run {run + 1} of 3")
            target, _ = await restarted(target, items[0].path)  # no page is in memory
            await until_found(target, items[-1].word)
            one = {"page_uncached_per_s": await _made_anew(target, items)}
            one["page_cached_per_s"] = (await cached_page(target, items[0], requests))[0]
            for name, path in (("nginx_static_per_s", "/bench-static"), ("nginx_cached_per_s", items[0].path)):
                one[name] = await _leg(path, port + 1, workers, requests)
            found = {name: max(rate, found.get(name, 0.0)) for name, rate in one.items()}
    static = found["nginx_static_per_s"]
    ratios = {"ratio_cached": found["page_cached_per_s"] / static, "ratio_nginx_cached": found["nginx_cached_per_s"] / static}  # fmt: skip
    return {name: round(rate) for name, rate in found.items()} | {name: round(each, 3) for name, each in ratios.items()}


async def _made_anew(target: Target, items: Sequence[Waiting]) -> float:
    """Each page once."""
    pids = target.instances("site")
    cpu = cpu_seconds(pids)
    await asyncio.gather(*(_each(target, items[share::AT_ONCE]) for share in range(AT_ONCE)))
    return len(items) / (cpu_seconds(pids) - cpu)


async def _each(target: Target, items: Sequence[Waiting]) -> None:
    async with Connection(target.site) as connection:
        for item in items:
            status, _ = await connection.get(item.path)
            assert status == 200, f"{item.path} was answered with {status}"


async def _leg(path: str, port: int, workers: list[int], count: int) -> float:
    request = b"GET %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (path.encode(), NAME.encode())
    cpu = cpu_seconds(workers)
    await asyncio.gather(*(ask_again(("127.0.0.1", port), request, count // AT_ONCE) for _ in range(AT_ONCE)))
    return count // AT_ONCE * AT_ONCE / max(cpu_seconds(workers) - cpu, 0.01)
