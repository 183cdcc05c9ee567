"""Area identity finds what it is for: pages of members in caches, shared hosts, tokens that open more than one door, rows made public (S1, S7, S8)."""

import asyncio
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from infra.prove.areas import chain, identity
from infra.prove.areas.readers import (
    check_closed,
    check_hidden,
    check_hosts,
    check_invitations,
    check_members,
    check_used,
    check_way_in,
)
from infra.prove.check import Book
from infra.prove.fetch import get
from infra.prove.target import Target
from tests.factories.documents import Item, decide
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front, sound
from tests.prove.planting import Hole, by_sql, rows, run, see

CONSOLE = "http://localhost:9"
COOKIE = "site=" + "c" * 43
SECRET = "/doc/en/secret"


def wrong(book: Book) -> list[str]:
    return [f"{check.attempt}: {check.got}" for check in book.checks if not check.ok]


def careful(request: Request) -> Reply:
    """A surface as it must be, with one item for members."""
    path, signed_in = request.path.split("?")[0], request.headers.get("Cookie") == COOKIE
    status, headers, _ = sound(request)
    if path == "/sign-in":
        to = f"{CONSOLE}/identity?audience=site&nonce={'a' * 64}&next=%2F"
        return 303, {**headers, "Location": to, "Set-Cookie": "site_pre=x; HttpOnly; Path=/; SameSite=lax"}, ""
    if path == "/signed-in":
        return 403, headers, "This request came from another site and was refused."
    if path.startswith("/invited/"):
        return (200 if request.method == "GET" else 403), headers, "<form>"
    if status != 200 or (path == SECRET and not signed_in):
        return 404, headers, ""
    return 200, headers, '<form action="/sign-out">' if signed_in else "<p>public</p>"


async def all_checks(answer: object) -> list[str]:
    book = Book("test")
    with front(answer) as base:  # type: ignore[arg-type]
        await check_members(book, base, COOKIE, [SECRET])
        await check_hidden(book, base, [SECRET])
        await check_invitations(book, base)
        await check_way_in(book, "site", base, CONSOLE)
        await check_used(book, "site", "used a second time", base, CONSOLE, "site_pre=x", "token")
    return wrong(book)


async def test_a_careful_surface_has_no_fault() -> None:
    assert await all_checks(careful) == []


def lets_others_keep(request: Request) -> Reply:
    status, headers, body = careful(request)
    kept = {"Cache-Control": "public, max-age=0, s-maxage=1"} if request.headers.get("Cookie") == COOKIE else {}
    return status, {**headers, **kept}, body


def shares_what_members_saw(request: Request) -> Reply:
    return careful(replace(request, headers={**request.headers, "Cookie": COOKIE}))


def believes_the_row(request: Request) -> Reply:
    """Renders an item because a column says that it is public."""
    return (200, SOUND_HEADERS, "hush") if request.path == SECRET else careful(request)


def names_it_in_the_feed(request: Request) -> Reply:
    status, headers, body = careful(request)
    return status, headers, f'<link href="{SECRET}"/>' if request.path == "/feed.xml" else body


def takes_any_token(request: Request) -> Reply:
    """Takes a token again, or one that is for another surface."""
    if request.path != "/signed-in" or request.headers.get("Origin") != CONSOLE:
        return careful(request)
    return 200, {**SOUND_HEADERS, "Set-Cookie": f"{COOKIE}; HttpOnly; Path=/"}, ""


def takes_foreign_posts(request: Request) -> Reply:
    return (200, SOUND_HEADERS, "") if request.path == "/signed-in" and request.method == "POST" else careful(request)


def leads_anywhere(request: Request) -> Reply:
    status, headers, body = careful(request)
    place = parse_qs(urlsplit(request.path).query).get("next", ["/"])[0]
    to = f"{CONSOLE}/identity?next={place}"
    return (303, {**headers, "Location": to}, "") if status == 303 else (status, headers, body)


def lends_its_cookie(request: Request) -> Reply:
    status, headers, body = careful(request)
    return (303, {**headers, "Set-Cookie": "site_pre=x; Domain=example.org"}, "") if status == 303 else (status, headers, body)  # fmt: skip


def tells_good_invitations_apart(request: Request) -> Reply:
    status, headers, body = careful(request)
    return status, headers, request.path if request.path.startswith("/invited/") else body


@pytest.mark.parametrize(
    ("answer", "found_by"),
    [
        (lets_others_keep, "nobody may keep it: signed in"),
        (shares_what_members_saw, "is not served what a member was"),
        (believes_the_row, "what is for members: /doc/en/secret"),
        (names_it_in_the_feed, "no list names what is for members"),
        (takes_any_token, "a genuine token, used a second time"),
        (takes_foreign_posts, "a token posted from an origin that is not the console's: evil"),
        (leads_anywhere, "and back to a path of ours: next=//evil.example"),
        (lends_its_cookie, "cookie site_pre"),
        (tells_good_invitations_apart, "two made-up invitations look the same"),
    ],
)
async def test_a_surface_that_misbehaves_is_found(answer: object, found_by: str) -> None:
    found = await all_checks(answer)
    assert any(found_by in each for each in found), found


def test_a_shared_host_is_found() -> None:
    book = Book("test")
    check_hosts(
        book, {"console": "http://localhost:1", "site": "http://127.0.0.1:2", "workspace": "http://127.0.0.1:3"}
    )
    assert wrong(book) == ["no two surfaces share a host: not as designed: 127.0.0.1"]


async def test_a_closed_site_that_differs_by_address_is_found() -> None:
    def differs(request: Request) -> Reply:
        return 403, SOUND_HEADERS, "secret" if request.path == SECRET else ""

    book = Book("test")
    with front(differs) as base:
        await check_closed(book, base, [SECRET])
    assert wrong(book) == ["the same at every address: /doc/en/secret: not as designed: it differs"]


@pytest.fixture(scope="module")
def members_item(proving: Proving) -> Item:
    name = f"for-members-{uuid4().hex[:8]}"
    one = {"kind": "doc", "lang": "en", "path": name, "text": "# Ours\n\nHush.\n", "audience": "members"}
    [found] = proving.stack.ask("console", "items.submit", items=[one])["items"]
    item = Item(found["item_id"], "doc", "en", name)
    decide(proving.stack, item)
    until(lambda: proving.stack.value("site", f"SELECT count(*) FROM app.entries WHERE item_id = '{item.item_id}'") == 1, 20, "it is stored")  # fmt: skip
    return item


async def _whole(target: Target, book: Book) -> None:
    book.checks += await identity.check(target)


async def _chain(target: Target, book: Book) -> None:
    book.checks += await chain.check(target)


def test_the_running_system_has_no_fault(proving: Proving, members_item: Item) -> None:
    found = rows(_whole, Target.load(proving.stack.state))
    assert [str(check) for check in found if check.failed] == []
    assert any(members_item.url in check.attempt for check in found)


def test_a_row_made_public_by_hand_is_not_rendered_and_found(proving: Proving, members_item: Item) -> None:
    update = f"UPDATE app.entries SET audience = '{{}}' WHERE item_id = '{members_item.item_id}'"
    hole = by_sql("a row made public", _chain, members_item.url.rsplit("/", 1)[1], "site_db", update.format("public"), update.format("members"))  # fmt: skip

    def plant(stack: object) -> None:
        run(proving.stack, "site_db", update.format("public"))
        until(lambda: proving.stack.value("site", "SELECT count(*) FROM app.faults WHERE cleared_at IS NULL") == 1, 10, "the site has noticed")  # fmt: skip
        assert asyncio.run(get(proving.stack.urls["site"], members_item.url)).status == 404

    see(replace(hole, plant=plant), proving.stack)


def test_a_standing_changed_by_hand_is_found(proving: Proving) -> None:
    plant = "INSERT INTO app.standings SELECT gen_random_uuid(), 1, 'owner', now(), NULL, NULL, NULL, now(), '\\x00', '\\x00', 'nobody'"

    async def examine(target: Target, book: Book) -> None:
        await identity.check_kept(target, book, "agent")

    see(
        by_sql("a standing", examine, "every standing is what the console signed", "agent_db", plant, "DELETE FROM app.standings WHERE key_id = 'nobody'"),
        proving.stack,
    )  # fmt: skip


def test_a_token_kept_as_it_is_is_found(proving: Proving) -> None:
    plant = "INSERT INTO app.sign_in_codes VALUES ('a-code-as-it-was-sent', 'token', '/', now())"

    async def examine(target: Target, book: Book) -> None:
        await identity.check_kept(target, book, "site")

    hole: Hole = by_sql("a code", examine, "1 in codes", "site_db", plant, "DELETE FROM app.sign_in_codes")
    see(hole, proving.stack)
