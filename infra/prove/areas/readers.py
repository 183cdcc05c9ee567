"""Who reads what at the site, and how the ways in behave (rule 27, S7, S8). Takes any base url, so that fronts that misbehave can be tried."""

import re
import secrets
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs, urlencode, urlsplit

from infra.prove.areas.guard import EVIL, FORM, check_cookies, check_private
from infra.prove.check import Book
from infra.prove.fetch import Answer, get, send

LISTS = ("/", "/feed.xml", "/sitemap.xml", "/search?q=a", "/doc/", "/page/")
ELSEWHERE = ("//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "javascript:alert(1)", "/\nevil.example")  # fmt: skip
OFF = 403


def check_hosts(book: Book, urls: Mapping[str, str]) -> None:
    """A cookie does not know ports: what two surfaces share a host for, they share a cookie for (S8)."""
    hosts = [urlsplit(url).hostname for url in urls.values()]
    shared = sorted({str(host) for host in hosts if hosts.count(host) > 1})
    book.holds("installation", "no two surfaces share a host", ", ".join(shared))


async def check_members(book: Book, base: str, cookie: str, pages: Iterable[str]) -> None:
    """What somebody gets who has signed in may be kept by nobody, and reaches no cache that the next stranger is served from."""
    for path in (*LISTS, *pages):
        says = path.split("?")[0]
        answer = await get(base, path, {"Cookie": cookie})
        check_private(book, "member", f"signed in: {says}", answer)
        book.holds("stranger", f"is not served what a member was: {says}", _signed_in(await get(base, path)))


def _signed_in(answer: Answer) -> str:
    return "it is a page of somebody who has signed in" if 'action="/sign-out"' in answer.body else ""


async def check_hidden(book: Book, base: str, urls: Iterable[str]) -> None:
    """What was approved for members is not there for others, whatever the rows say, with no cookie and with a made-up one."""
    lists = [await get(base, path) for path in LISTS]
    for url in urls:
        for says, headers in (("a stranger", {}), ("a made-up session", {"Cookie": f"site={secrets.token_urlsafe(32)}"})):  # fmt: skip
            answer = await get(base, url, headers)
            told = "" if answer.status in (OFF, 404, 410) else f"it answers {answer.status}"
            book.holds(says, f"what is for members: {url}"[:200], told)
            check_private(book, says, f"what is for members: {url}"[:200], answer)
        named = [path for path, each in zip(LISTS, lists, strict=True) if each.status == 200 and f'{url}"' in each.body.replace("</loc>", '"')]  # fmt: skip
        book.holds("stranger", f"no list names what is for members: {url}"[:200], ", ".join(named))


async def check_closed(book: Book, base: str, urls: Iterable[str]) -> None:
    """A site that is not open says the same at every address, and names nothing (rule 27)."""
    paths = ("/feed.xml", "/sitemap.xml", "/robots.txt", "/search?q=a", "/there-is-no-such-page", *urls)
    home = await get(base, "/")
    for path in paths:
        answer = await get(base, path)
        same = (answer.status, answer.body) == (home.status, home.body)
        book.holds("stranger", f"the same at every address: {path.split('?')[0]}"[:200], "" if same else "it differs")
        check_private(book, "stranger", f"closed: {path.split('?')[0]}"[:200], answer)


async def check_invitations(book: Book, base: str) -> None:
    """A link that is looked at tells nothing and is not used up; one that is guessed opens nothing."""
    one, other = [await get(base, f"/invited/{secrets.token_urlsafe(32)}") for _ in range(2)]
    book.holds("stranger", "two made-up invitations look the same", "" if one.body == other.body else "they differ")
    check_private(book, "stranger", "an invitation", one)
    book.same("stranger", "an invitation is told to no other page", "no-referrer", one.header("referrer-policy"))
    answer = await send(base, "POST", f"/invited/{secrets.token_urlsafe(32)}", FORM, "x=1")
    book.same("stranger", "a guessed invitation", OFF, answer.status)
    book.same("stranger", "a guessed invitation begins no session", "", answer.header("set-cookie"))


async def check_way_in(book: Book, actor: str, base: str, console: str) -> None:
    """To the console and nowhere else, with a cookie that stays here; a code that is guessed opens nothing."""
    for place in ("/", *ELSEWHERE):
        answer = await get(base, f"/sign-in?{urlencode({'next': place})}")
        there = urlsplit(answer.header("location"))
        book.same(actor, f"sign-in leads to the console: next={place}", console, f"{there.scheme}://{there.netloc}")
        book.same(actor, f"and back to a path of ours: next={place}", ["/"], parse_qs(there.query).get("next"))
    check_cookies(book, actor, "sign-in", answer)
    guessed = await get(base, f"/signed-in?code={secrets.token_urlsafe(32)}")
    book.same(actor, "a guessed code", OFF, guessed.status)
    await _check_origins(book, actor, base)


async def _check_origins(book: Book, actor: str, base: str) -> None:
    """Only the console's page may post a token, and it may post nothing else."""
    foreign = {"evil": EVIL, "hidden": "null", "its own": base, "none": ""}
    for says, origin in foreign.items():
        headers = {**FORM, **({"Origin": origin} if origin else {})}
        answer = await send(base, "POST", "/signed-in", headers, "token=x&next=/")
        refused = answer.status == OFF and "another site" in answer.body
        book.holds(actor, f"a token posted from an origin that is not the console's: {says}", "" if refused else f"it answers {answer.status}")  # fmt: skip


async def check_console_origin(book: Book, actor: str, base: str, console: str) -> None:
    for path in ("/sign-out", "/", "/signals/vote", "/invited/x"):
        answer = await send(base, "POST", path, {**FORM, "Origin": console}, "token=x")
        book.same(actor, f"the console's origin may post nothing but tokens: {path}", OFF, answer.status)


async def come_in(base: str, console: str, pre: str, token: str) -> str:
    """Post a token as the console's page does and come back; the session's cookie, or nothing."""
    body = urlencode({"token": token, "next": "/"})
    answer = await send(base, "POST", "/signed-in", {**FORM, "Origin": console}, body)
    if answer.status == 303:
        answer = await get(base, answer.header("location"), {"Cookie": pre})
    made = re.match(r"((?:__Host-)?(?:site|agent)=[\w-]{20,});", answer.header("set-cookie"))
    return made[1] if made else ""


async def leave(base: str) -> tuple[str, str]:
    """Begin to sign in: the browser's cookie, and the nonce that goes to the console."""
    answer = await get(base, "/sign-in?next=/")
    nonce = parse_qs(urlsplit(answer.header("location")).query).get("nonce", [""])[0]
    return answer.header("set-cookie").split(";")[0], nonce


async def check_used(book: Book, actor: str, says: str, base: str, console: str, pre: str, token: str) -> None:
    """A token that must not work here (again)."""
    opened = await come_in(base, console, pre, token)
    book.holds(actor, f"a genuine token, {says}", "it opens a session" if opened else "")
