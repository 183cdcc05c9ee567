"""Area http: the three fronts, the people who may not decide, and the operator's sockets."""

import asyncio
import base64
import ipaddress
import secrets
from http.client import HTTPException
from urllib.parse import urlsplit

from infra.prove.areas.console_http import check_guest, check_strangers
from infra.prove.areas.guard import check_guard, check_private
from infra.prove.areas.site_http import check_items, check_site
from infra.prove.check import Book, Check
from infra.prove.doing import sockets
from infra.prove.fetch import get, way_to
from infra.prove.forge import Forger
from infra.prove.guests import guests
from infra.prove.target import Attempt, Target
from schemas.catalogue import SERVICES
from shared.settings import DATABASES

FRONTS = {"console": ("/sign-in", "/sign-in"), "site": ("/", "/signals/vote"), "workspace": ("/", "/")}
"""Each front with an address that answers anybody, and one that takes a form."""


async def check(target: Target) -> list[Check]:
    book = Book("http")
    check_addresses(target, book)
    tokens = _tokens(target)
    try:
        await asyncio.gather(
            *(_front(target, book, name) for name in FRONTS),
            check_strangers(book, target.config.urls["console"], tokens),
            check_site(book, target.config.urls["site"], {name: token for name, token in tokens.items() if name != "the ingest token"}),
            _items(target, book), _guests(target, book), check_operator(target, book),
        )  # fmt: skip
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the fronts", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


def check_addresses(target: Target, book: Book) -> None:
    """Cookies ignore ports, so names must differ; without OS users everything stays on this machine (S8, S12)."""
    hosts = [urlsplit(url).hostname or "" for url in target.config.urls.values()]
    book.same("installation", "console, site and workspace have host names of their own", len(hosts), len(set(hosts)))
    if not target.separated:
        listening = [way_to(url)[0] for url in target.config.urls.values()]
        outside = [host for host in listening if host != "localhost" and not ipaddress.ip_address(host).is_loopback]
        book.holds("installation", "without OS users of their own all addresses are this machine's", ", ".join(outside))


def _tokens(target: Target) -> dict[str, str]:
    """Things that are secret and open no door over HTTP (S3, S12)."""
    forger = Forger.of(target)
    signed = forger.by_stranger(forger.decision(), forger.key_id)
    return {
        "the operator's token": target.layout.operator_token.read_text().strip(),
        "the ingest token": target.layout.ingest_token.read_text().strip(),
        "a made-up token": f"schleuse_{secrets.token_urlsafe(32)}",
        "a signed decision": f"{base64.b64encode(signed.payload).decode()}.{base64.b64encode(signed.signature).decode()}",
    }


async def _front(target: Target, book: Book, name: str) -> None:
    urls = target.config.urls
    page, form = FRONTS[name]
    others = tuple(url for other, url in urls.items() if other != name)
    await check_guard(book, name, urls[name], others, page, form)
    if name == "workspace":
        check_private(book, name, page, await get(urls[name], page))


_ONE = """SELECT (SELECT '/' || kind || '/' || lang || '/' || path FROM app.items WHERE {} ORDER BY queued_at DESC LIMIT 1)"""
_KINDS = ("live_revision IS NOT NULL AND gone_since IS NULL AND audience = 'public' AND state = 'published'", "gone_since IS NOT NULL AND state = 'withdrawn'", "published_revision IS NULL AND live_revision IS NULL AND state IN ('submitted', 'rejected')")  # fmt: skip


async def _items(target: Target, book: Book) -> None:
    """Looked at twice before it is a difference: an item may move between the question and the page."""
    for last in (False, True):
        found = Book(book.area)
        await _items_once(target, found)
        if last or not any(check.failed for check in found.checks):
            book.checks += found.checks
            return


async def _items_once(target: Target, book: Book) -> None:
    made = [_of_console(_ONE.format(kind)) for kind in _KINDS]
    published, gone, unpublished = (outcome["value"][0][0] for outcome in await target.run("console", made))
    await check_items(book, target.config.urls["site"], published, gone, unpublished)


async def _guests(target: Target, book: Book) -> None:
    (outcome,) = await target.run(
        "console", [_of_console("SELECT item_id::text FROM app.items ORDER BY queued_at DESC LIMIT 1")]
    )
    item = outcome["value"][0][0] if outcome["value"] else None
    async with guests(target) as found:
        for guest in found:
            await check_guest(book, target.config.urls["console"], guest, item)


def _of_console(query: str) -> Attempt:
    return {"kind": "rows", "role": "console", "database": DATABASES["console"], "query": query}


async def check_operator(target: Target, book: Book) -> None:
    """The operator's sockets serve the installing user with the right token, and nobody else (S12)."""
    token = target.layout.operator_token.read_text().strip()
    wrong: list[Attempt] = [{"kind": "sockets", "socket": service, "token": "wrong"} for service in SERVICES]
    right: list[Attempt] = [{**each, "token": token} for each in wrong]
    for says, attempts, expected in (("a wrong token", wrong, "refused"), ("the right token", right, "done")):
        outcomes = await sockets.do(target.layout.state, attempts)
        for service, outcome in zip(SERVICES, outcomes, strict=True):
            book.outcome("installing user", f"operator socket with {says}: {service}", outcome, expected)
    if not target.separated:
        for service in SERVICES:
            book.open("other OS users", f"operator socket with the right token: {service}")
        return
    for user in target.users:
        for service, outcome in zip(SERVICES, await target.run(user, right), strict=True):
            book.outcome(f"OS user {user}", f"operator socket with the right token: {service}", outcome)
