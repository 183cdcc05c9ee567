"""Checks over HTTP against fronts that misbehave (S3, S5, S7, S8, S12, S13)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from infra.prove.areas.console_http import check_framed, check_guest, check_preview, check_strangers
from infra.prove.areas.fronts import check_addresses
from infra.prove.areas.guard import check_cookies, check_guard, check_private, policy_fault
from infra.prove.areas.site_http import cached_too_long, check_items, check_site
from infra.prove.check import Book
from infra.prove.fetch import Answer, get
from infra.prove.guests import Guest
from tests.prove.fakes import SOUND_HEADERS, Reply, Request, front, sound

OTHERS = ("http://localhost:1", "http://127.0.0.2:2")


def wrong(book: Book) -> list[str]:
    return [f"{check.attempt}: {check.got}" for check in book.checks if not check.ok]


async def guarded(answer: Callable[[Request], Reply]) -> list[str]:
    book = Book("test")
    with front(answer) as base:
        await check_guard(book, "front", base, OTHERS, "/", "/form")
    return wrong(book)


async def test_a_sound_front_has_no_fault() -> None:
    assert await guarded(sound) == []


def believes_any_host(request: Request) -> Reply:
    return sound(replace(request, headers={**request.headers, "Host": request.host}))


def takes_foreign_forms(request: Request) -> Reply:
    return sound(
        replace(
            request,
            headers={name: each for name, each in request.headers.items() if name not in ("Origin", "Sec-Fetch-Site")},
        )
    )


def trusts_a_hidden_origin(request: Request) -> Reply:
    return takes_foreign_forms(request) if request.headers.get("Origin") == "null" else sound(request)


def shares_by_port(request: Request) -> Reply:
    """Takes forms from another front of the same installation."""
    return takes_foreign_forms(request) if request.headers.get("Origin") in OTHERS else sound(request)


def lets_others_read(request: Request) -> Reply:
    status, headers, body = sound(request)
    return status, {**headers, "Access-Control-Allow-Origin": "*"}, body


def without(name: str) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        status, headers, body = sound(request)
        return status, {key: value for key, value in headers.items() if key != name}, body

    return answer


def with_policy(policy: str) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        status, headers, body = sound(request)
        return status, {**headers, "Content-Security-Policy": policy}, body

    return answer


@pytest.mark.parametrize(
    ("answer", "found_by"),
    [
        (believes_any_host, "host evil.example"),
        (takes_foreign_forms, "POST from another origin: evil"),
        (trusts_a_hidden_origin, "from another origin: hidden"),
        (shares_by_port, "the front at 127.0.0.2"),
        (lets_others_read, "no foreign origin may read"),
        (without("X-Content-Type-Options"), "x-content-type-options"),
        (without("Referrer-Policy"), "referrer-policy"),
        (without("X-Frame-Options"), "x-frame-options"),
        (without("Content-Security-Policy"), "content security policy"),
        (with_policy(SOUND_HEADERS["Content-Security-Policy"] + "; script-src 'unsafe-inline'"), "'unsafe-inline'"),
        (with_policy(SOUND_HEADERS["Content-Security-Policy"] + "; img-src https://evil.example"), "evil.example"),
    ],
)
async def test_a_front_that_misbehaves_is_found(answer: Callable[[Request], Reply], found_by: str) -> None:
    found = await guarded(answer)
    assert any(found_by in each for each in found), found


@pytest.mark.parametrize(
    "policy", ["", "default-src 'self'", "default-src 'none'", "default-src 'none'; base-uri 'none'; frame-ancestors *"]
)
def test_a_loose_policy_is_found(policy: str) -> None:
    assert policy_fault(policy)


@pytest.mark.parametrize("value", ["", "public, max-age=60", "public, no-store", "private"])
def test_a_page_that_others_may_keep_is_found(value: str) -> None:
    book = Book("test")
    check_private(book, "front", "members page", Answer(200, {"cache-control": value}, ""))
    assert wrong(book)


@pytest.mark.parametrize(
    "value", ["public, max-age=60", "s-maxage=600", "public, s-maxage=1, stale-while-revalidate=30", ""]
)
def test_a_public_page_that_outlives_its_withdrawal_is_found(value: str) -> None:
    assert cached_too_long(value)


@pytest.mark.parametrize(
    "flags",
    [
        "",
        "; HttpOnly; SameSite=Lax; Path=/; Domain=example.org",
        "; HttpOnly; Path=/; SameSite=None",
        "; SameSite=Lax; Path=/",
    ],
)
def test_a_cookie_that_travels_is_found(flags: str) -> None:
    book = Book("test")
    check_cookies(book, "front", "/", Answer(200, {"set-cookie": f"console=x{flags}"}, ""))
    assert wrong(book)


PREVIEW = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"


def preview(policy: str = PREVIEW, body: str = "<p>text</p>") -> list[str]:
    book = Book("test")
    check_preview(
        book, "viewer", Answer(200, {"content-security-policy": policy, "cache-control": "private, no-store"}, body)
    )
    return wrong(book)


def test_a_sound_preview_has_no_fault() -> None:
    assert preview() == []


@pytest.mark.parametrize(
    ("policy", "body"),
    [
        (PREVIEW.removesuffix("; sandbox"), ""),
        (PREVIEW + " allow-scripts", ""),
        (PREVIEW.replace("default-src 'none'", "default-src 'self'"), ""),
        (PREVIEW + "; script-src 'self'", ""),
        (PREVIEW.replace("frame-ancestors 'self'", "frame-ancestors *"), ""),
        (PREVIEW, '<button data-act="approve">x</button>'),
        (PREVIEW, '<div hx-post="/queue">x</div>'),
        (PREVIEW, "<script>x</script>"),
        (PREVIEW, '<img src="x" onerror="y">'),
    ],
)
def test_a_preview_that_could_act_is_found(policy: str, body: str) -> None:
    assert preview(policy, body)


@pytest.mark.parametrize(
    "frame", ["", '<iframe src="/p">', '<iframe sandbox="allow-scripts" src="/p">', '<iframe sandbox="" srcdoc="x">']
)
def test_a_frame_with_rights_is_found(frame: str) -> None:
    book = Book("test")
    check_framed(book, "viewer", Answer(200, {}, f"<main>{frame}</main>"))
    assert wrong(book)


def test_a_frame_without_rights_is_right() -> None:
    book = Book("test")
    check_framed(
        book, "viewer", Answer(200, {}, '<iframe class="preview" sandbox="" src="/queue/1/preview" title="x">')
    )
    assert wrong(book) == []


def opens_to(token: str) -> Callable[[Request], Reply]:
    """A front whose doors one token opens."""

    def answer(request: Request) -> Reply:
        status = 200 if token in request.headers.get("Authorization", "nothing") else 401
        return status, SOUND_HEADERS, ""

    return answer


async def test_the_operators_token_over_http_is_found() -> None:
    book = Book("test")
    with front(opens_to("operator-secret")) as base:
        await check_strangers(book, base, {"the operator's token": "operator-secret"})
        await check_site(book, base, {"the operator's token": "operator-secret"})
    found = wrong(book)
    assert any("API with the operator's token" in each for each in found)
    assert any("the operator's door with the operator's token" in each for each in found)


async def test_a_token_signed_with_the_decision_key_is_found() -> None:
    book = Book("test")
    with front(opens_to("signed")) as base:
        await check_strangers(book, base, {"a signed decision": "signed"})
    assert any("API with a signed decision" in each for each in wrong(book))


async def test_a_page_without_a_session_is_found() -> None:
    book = Book("test")
    with front(sound) as base:
        await check_strangers(book, base, {})
    found = wrong(book)
    assert any("page leads to signing in: /queue" in each for each in found)
    assert any("form without a session: /switches/site_mode" in each for each in found)
    assert any("signing in without the form's token" in each for each in found)


async def test_a_viewer_who_may_decide_is_found() -> None:
    def answer(request: Request) -> Reply:
        return 200, SOUND_HEADERS, '<input type="hidden" name="token" value="abc">'

    book = Book("test")
    with front(answer) as base:
        await check_guest(book, base, Guest("viewer", uuid4(), "session", "token"), None)
    found = wrong(book)
    assert any("POST /api/v1/items/" in each and "decisions" in each for each in found)
    assert any("with the right token, without the right: /switches/site_mode" in each for each in found)


async def test_a_withdrawn_page_that_is_still_there_is_found() -> None:
    book = Book("test")
    with front(sound) as base:
        await check_items(book, base, None, "/doc/en/gone", "/doc/en/waiting")
    found = wrong(book)
    assert any("an item that is withdrawn" in each for each in found)
    assert any("an item that is waiting for review" in each for each in found)


async def test_a_cookie_of_the_site_is_found() -> None:
    def answer(request: Request) -> Reply:
        status, headers, body = sound(request)
        return status, {**headers, "Set-Cookie": "visitor=1"}, body

    book = Book("test")
    with front(answer) as base:
        await check_site(book, base, {})
    assert any("no cookie is set" in each for each in wrong(book))


@pytest.mark.parametrize(
    "urls", [("http://localhost:1", "http://localhost:2"), ("http://127.0.0.1:1", "http://0.0.0.0:2")]
)
def test_shared_hosts_and_open_addresses_are_found(urls: tuple[str, str]) -> None:
    class Unseparated:
        separated = False

        class config:  # noqa: N801 - stands for the attribute
            pass

    target: Any = Unseparated()
    target.config.urls = dict(zip(("console", "site"), urls, strict=True))
    book = Book("test")
    check_addresses(target, book)
    assert wrong(book)


async def test_no_answer_is_an_error_and_not_a_pass() -> None:
    with pytest.raises(OSError):
        await get("http://127.0.0.1:9", "/")
