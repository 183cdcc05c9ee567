"""The console over HTTP: without a session, with a wrong token, and as people who may not decide."""

import json
import re

from infra.prove.areas.console_system import SYSTEM_FORMS, SYSTEM_PAGES, check_system
from infra.prove.areas.guard import FORM, check_cookies, check_private
from infra.prove.check import Book
from infra.prove.fetch import Answer, get, send
from infra.prove.guests import Guest

NOBODY = "00000000-0000-0000-0000-000000000000"
PAGES = ("/queue", f"/queue/{NOBODY}", f"/queue/{NOBODY}/preview", f"/queue/{NOBODY}/history", "/submit", "/switches", "/people", "/guests", "/secrets", f"/secrets/at/agent/x/{NOBODY}", "/identity", "/audit", "/parked", "/health", "/keys", "/me", "/analytics", "/live", *SYSTEM_PAGES)  # fmt: skip
FORMS = (f"/queue/{NOBODY}/decide", f"/queue/{NOBODY}/withdraw", f"/queue/{NOBODY}/claim", "/queue/together", "/switches/four_eyes", "/switches/site_mode", "/switches/publication_mode", "/people/invitations", "/guests", "/secrets", f"/secrets/at/agent/x/{NOBODY}", f"/people/{NOBODY}/role", *SYSTEM_FORMS)  # fmt: skip
API = (("GET", "/api/v1/items"), ("GET", "/api/v1/signals/totals"), ("POST", "/api/v1/items"), ("POST", f"/api/v1/items/{NOBODY}/decisions"), ("POST", f"/api/v1/items/{NOBODY}/withdrawals"))  # fmt: skip
DECIDING = json.dumps({"verdict": "approve", "revision": 1, "content_hash": "0" * 64})
SUBMITTING = {"kind": "doc", "lang": "en", "path": "prove/probe"}
"""An empty document is refused whoever sends it; a whole one is sent only by those who may not."""
COOKIE = "console"


def cookie_name(base: str) -> str:
    return f"__Host-{COOKIE}" if base.startswith("https:") else COOKIE


async def check_strangers(book: Book, base: str, tokens: dict[str, str]) -> None:
    """Nobody is signed in. `tokens`: what some might think opens the API, by its name."""
    for path in PAGES:
        answer = await get(base, path)
        led_away = answer.status == 303 and answer.header("location").startswith("/sign-in")
        book.holds("stranger", f"page leads to signing in: {path}", "" if led_away else f"it answers {answer.status}")
        check_private(book, "stranger", path, answer)
    for path in FORMS:
        answer = await send(base, "POST", path, FORM, "verdict=approve&value=open")
        book.same("stranger", f"form without a session: {path}", 401, answer.status)
    answer = await get(base, "/sign-in")
    check_cookies(book, "stranger", "/sign-in", answer)
    check_private(book, "stranger", "/sign-in", answer)
    for says, body in {"none": "handle=a&password=b", "a wrong one": "handle=a&password=b&token=probe"}.items():
        answer = await send(base, "POST", "/sign-in", FORM, body)
        book.same("stranger", f"signing in without the form's token: {says}", 403, answer.status)
    for says, token in {"no token": "", **tokens}.items():
        await _api(book, "stranger", base, says, token, dict.fromkeys(API, 401))


async def check_guest(book: Book, base: str, guest: Guest, item: str | None) -> None:
    """`item`: a real one to look at the preview of, if there is any."""
    actor, cookie = guest.role, {"Cookie": f"{cookie_name(base)}={guest.session}"}
    may_submit = guest.role == "member"
    expected = dict.fromkeys(API[:2], 200) | {API[2]: 422 if may_submit else 403} | dict.fromkeys(API[3:], 403)
    await _api(book, actor, base, "own token", guest.token, expected, "" if may_submit else "# Probe\n\nBy prove.")
    page = await get(base, "/me", cookie)
    book.same(actor, "is signed in at all", 200, page.status)
    check_private(book, actor, "/me", page)
    found = re.search(r'name="token" value="([^"]+)"', page.body)
    for path in FORMS:
        answer = await send(base, "POST", path, {**FORM, **cookie}, "verdict=approve&value=open&token=probe")
        book.same(actor, f"form with a wrong token: {path}", 403, answer.status)
        if found:
            answer = await send(
                base, "POST", path, {**FORM, **cookie}, f"verdict=approve&value=open&role=owner&token={found.group(1)}"
            )
            book.same(actor, f"form with the right token, without the right: {path}", 403, answer.status)
    book.holds(actor, "pages carry a form token", "" if found else "there is none")
    await _other_session(book, actor, base, guest, found.group(1) if found else "")
    await check_system(book, base, guest, cookie)
    if item is not None:
        check_framed(book, actor, await get(base, f"/queue/{item}", cookie))
        check_preview(book, actor, await get(base, f"/queue/{item}/preview", cookie))


async def _other_session(book: Book, actor: str, base: str, guest: Guest, token: str) -> None:
    """A form token is worth nothing beside another cookie."""
    cookie = {"Cookie": f"{cookie_name(base)}={guest.session[::-1]}"}
    answer = await send(base, "POST", "/me/keys", {**FORM, **cookie}, f"token={token}")
    book.same(actor, "the form token beside another session", 401, answer.status)


async def _api(
    book: Book, actor: str, base: str, says: str, token: str, expected: dict[tuple[str, str], int], markdown: str = ""
) -> None:
    for (method, path), status in expected.items():
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        body = (
            ""
            if method == "GET"
            else json.dumps({**SUBMITTING, "markdown": markdown})
            if path == "/api/v1/items"
            else DECIDING
        )
        answer = await send(base, method, path, headers, body)
        book.same(actor, f"API with {says}: {method} {path}", status, answer.status)


def check_framed(book: Book, actor: str, page: Answer) -> None:
    """Foreign HTML stands in the console in a frame without any right, and nowhere else (S13)."""
    frames = re.findall(r"<iframe\b[^>]*>", page.body)
    book.same(actor, "the item's page is shown", 200, page.status)
    book.holds(actor, "the preview stands in a frame", "" if frames else "there is no frame")
    for frame in frames:
        book.holds(
            actor, "the frame has an empty sandbox", "" if re.search(r'\ssandbox(=""|=\'\')?[\s>/]', frame) else frame
        )
    book.holds(actor, "no frame brings its document along", "srcdoc" if "srcdoc" in page.body else "")


def check_preview(book: Book, actor: str, page: Answer) -> None:
    """The framed document can run, send, load and embed nothing, whoever opens it."""
    policy = {
        name: values
        for name, _, values in (
            part.strip().partition(" ") for part in page.header("content-security-policy").split(";")
        )
    }
    book.same(actor, "the preview is shown", 200, page.status)
    book.same(actor, "preview: nothing by default", "'none'", policy.get("default-src"))
    book.same(actor, "preview: sandboxed by itself, without any right", "", policy.get("sandbox", "not sandboxed"))
    book.holds(
        actor,
        "preview: no scripts, frames, connections or forms",
        ", ".join(
            f"{name} {policy[name]}"
            for name in ("script-src", "frame-src", "connect-src", "object-src", "form-action")
            if policy.get(name, "'none'") != "'none'"
        ),
    )
    book.same(actor, "preview: framed by the console alone", "'self'", policy.get("frame-ancestors"))
    dangerous = re.findall(
        r"<script\b|\son\w+\s*=|javascript:|<iframe\b|<object\b|<embed\b|\shx-|\sdata-",
        re.sub(r"<html\b[^>]*>", "", page.body),
        re.I,
    )
    book.holds(actor, "preview: nothing in it that acts", ", ".join(dangerous[:5]))
    check_private(book, actor, "preview", page)
