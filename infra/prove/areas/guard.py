"""What every front must do, whoever serves it: the right host only, no foreign forms, the headers of every answer (S7, S8). Takes any base URL."""

import re
from urllib.parse import urlsplit

from infra.prove.check import Book
from infra.prove.fetch import Answer, get, send

EVIL = "https://evil.example"
LOOSE = ("'unsafe-inline'", "'unsafe-eval'", "'unsafe-hashes'", "http:", "https:", "*", "blob:")
HEADERS = {
    "x-content-type-options": r"nosniff",
    "referrer-policy": r"no-referrer",
    "x-frame-options": r"DENY",
    "cross-origin-opener-policy": r"same-origin",
    "permissions-policy": r".*camera=\(\).*",
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def check_guard(book: Book, actor: str, base: str, others: tuple[str, ...], page: str, form: str) -> None:
    """`others`: base urls of the other fronts; `page`: an address that answers anybody; `form`: one that takes a form."""
    await _hosts(book, actor, base, others, page)
    await _origins(book, actor, base, others, form)
    for path in (page, "/there-is-no-such-page"):
        check_headers(book, actor, path.split("?")[0], await get(base, path))


async def _hosts(book: Book, actor: str, base: str, others: tuple[str, ...], page: str) -> None:
    place = urlsplit(base)
    names = [
        "evil.example",
        f"evil.example:{place.port}",
        str(place.hostname) + ".evil.example",
        f"{place.hostname}:1",
        *(urlsplit(other).netloc for other in others),
    ]
    names += [f"{urlsplit(other).hostname}:{place.port}" for other in others]
    for name in names:
        answer = await get(base, page, {"Host": name})
        book.same(actor, f"host {name}", "421", _refusal(answer, 421))
    answer = await get(base, page, {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"})
    book.holds(
        actor,
        "a forwarded host is not believed",
        "evil.example stands in the page" if "evil.example" in answer.body + str(answer.headers) else "",
    )


async def _origins(book: Book, actor: str, base: str, others: tuple[str, ...], form: str) -> None:
    foreign = {
        "evil": {"Origin": EVIL},
        "hidden": {"Origin": "null"},
        "cross-site": {"Sec-Fetch-Site": "cross-site"},
        "same-site": {"Sec-Fetch-Site": "same-site"},
    }
    foreign |= {f"the front at {urlsplit(other).hostname}": {"Origin": other} for other in others}
    for says, headers in foreign.items():
        for method in ("POST", "PUT", "DELETE"):
            answer = await send(base, method, form, {**FORM, **headers}, "probe=1")
            book.same(actor, f"{method} from another origin: {says}", "403", _refusal(answer, 403))
    answer = await send(base, "OPTIONS", form, {"Origin": EVIL, "Access-Control-Request-Method": "POST"})
    book.same(actor, "no foreign origin may read answers", "", answer.header("access-control-allow-origin"))


def _refusal(answer: Answer, status: int) -> str:
    return str(status) if answer.status == status else f"{answer.status}"


def check_headers(book: Book, actor: str, says: str, answer: Answer) -> None:
    for name, pattern in HEADERS.items():
        value = answer.header(name)
        book.holds(actor, f"header {name}: {says}", "" if re.fullmatch(pattern, value) else f"it is {value!r}")
    book.holds(actor, f"content security policy: {says}", policy_fault(answer.header("content-security-policy")))


def policy_fault(policy: str) -> str:
    """Why a policy is too loose: nothing by default, nothing from elsewhere, nothing inline, no frames around it."""
    found = {
        name: values.split() for name, _, values in (part.strip().partition(" ") for part in policy.split(";")) if name
    }
    if found.get("default-src") != ["'none'"]:
        return f"default-src is {' '.join(found.get('default-src', ['missing']))}"
    for name, wanted in (("base-uri", ["'none'"]), ("frame-ancestors", ["'none'"])):
        if found.get(name) != wanted:
            return f"{name} is {' '.join(found.get(name, ['missing']))}"
    loose = [
        f"{name} {value}"
        for name, values in found.items()
        for value in values
        if value in LOOSE or value.startswith(("http://", "https://"))
    ]
    return f"it allows {', '.join(loose)}" if loose else ""


def check_private(book: Book, actor: str, says: str, answer: Answer) -> None:
    """Nobody may keep this answer (S7)."""
    value = answer.header("cache-control")
    book.holds(
        actor,
        f"nobody may keep it: {says}",
        "" if "no-store" in value and "public" not in value else f"Cache-Control is {value!r}",
    )


def check_cookies(book: Book, actor: str, says: str, answer: Answer) -> None:
    """Cookies stay with their host and out of reach of scripts."""
    for cookie in filter(None, answer.header("set-cookie").split("\n")):
        flags = cookie.lower()
        lacking = [word for word in ("httponly", "path=/") if word not in flags] + (
            [] if "samesite=lax" in flags or "samesite=strict" in flags else ["samesite"]
        )
        book.holds(
            actor,
            f"cookie {cookie.split('=')[0]}: {says}",
            ", ".join(lacking + (["domain"] if "domain=" in flags else [])),
        )
