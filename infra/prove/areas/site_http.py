"""The public site over HTTP, and what may be kept of it by others (S7)."""

from infra.prove.areas.guard import FORM, check_private
from infra.prove.check import Book
from infra.prove.fetch import get, send, shut

NOBODY = "00000000-0000-0000-0000-000000000000"
SHUT = ("/queue", "/identity", "/api/v1/items", "/health", "/metrics", "/ready", "/config.json", "/static/../pages.py", "/static/%2e%2e/%2e%2e/config.json", "/static//etc/passwd", f"/receipt/{NOBODY}", f"/receipt/{NOBODY}.json")  # fmt: skip


async def check_site(book: Book, base: str, tokens: dict[str, str]) -> None:
    """`tokens`: what some might think opens the operator's door, by its name."""
    await _check_door(book, base, tokens)
    if await shut(base):
        await _check_shut(book, base)
        return
    home = await get(base, "/")
    book.holds(
        "visitor",
        "no script is ever allowed",
        "script-src" if "script-src" in home.header("content-security-policy") else "",
    )
    for path in SHUT:
        answer = await get(base, path)
        book.holds(
            "visitor",
            f"nothing is there: {path}",
            "" if answer.status in (400, 404, 405) else f"it answers {answer.status}",
        )
        if not path.startswith("/static"):
            check_private(book, "visitor", path, answer)
    picture = await get(base, f"/s/{NOBODY}.gif")
    book.same("visitor", "the counting picture is the same for an unknown id", 200, picture.status)
    check_private(book, "visitor", "the counting picture", picture)
    for name in ("vote", "reaction", "feedback"):
        answer = await send(base, "POST", f"/signals/{name}", FORM, f"item_id={NOBODY}&value=1&token=probe")
        book.same("visitor", f"a signal about what is not published: {name}", 404, answer.status)
    for path in ("/", "/search?q=probe", "/privacy", "/there-is-no-such-page"):
        answer = await get(base, path, {"Cookie": "console=probe"})
        book.same("visitor", f"no cookie is set: {path.split('?')[0]}", "", answer.header("set-cookie"))


async def _check_door(book: Book, base: str, tokens: dict[str, str]) -> None:
    """The operator's own door, which is there whatever the site's mode."""
    for says, token in {"no token": "", **tokens}.items():
        answer = await send(
            base, "POST", "/signals/ingest", {"Authorization": f"Bearer {token}"} if token else {}, "{}"
        )
        book.same("visitor", f"the operator's door with {says}", 401, answer.status)


async def _check_shut(book: Book, base: str) -> None:
    """A site that is off says so to everybody, whatever they ask, and nothing else (rule 27)."""
    for path in (
        "/",
        "/doc/en/",
        "/search?q=probe",
        "/feed.xml",
        "/sitemap.xml",
        f"/s/{NOBODY}.gif",
        "/there-is-no-such-page",
    ):
        answer = await get(base, path)
        book.same("visitor", f"the site is off: {path.split('?')[0]}", 403, answer.status)
        check_private(book, "visitor", f"the site is off: {path.split('?')[0]}", answer)


async def check_items(book: Book, base: str, published: str | None, gone: str | None, unpublished: str | None) -> None:
    """`published`, `gone`, `unpublished`: addresses of a public item, of one that was withdrawn, of one that waits; where there are any."""
    if await shut(base):
        return
    if published is not None:
        page = await get(base, published)
        book.same("visitor", "a public page is there", 200, page.status)
        book.holds(
            "visitor", "a public page is asked for again after a second", cached_too_long(page.header("cache-control"))
        )
        for name in ("vote", "reaction", "feedback"):
            item = _between(page.body, 'name="item_id" value="', '"')
            answer = await send(
                base,
                "POST",
                f"/signals/{name}",
                FORM,
                f"item_id={item or NOBODY}&value=1&reaction=thanks&text=x&token=probe",
            )
            book.holds(
                "visitor",
                f"a signal without the page's token: {name}",
                "" if answer.status in (403, 404) else f"it answers {answer.status}",
            )
    for says, path, status in (("withdrawn", gone, 410), ("waiting for review", unpublished, 404)):
        if path is not None:
            answer = await get(base, path)
            book.same("visitor", f"an item that is {says}", status, answer.status)
            check_private(book, "visitor", f"an item that is {says}", answer)


def cached_too_long(value: str) -> str:
    """Why a shared cache could show a public page after its withdrawal (rule 11)."""
    parts = {name.strip().lower(): seconds for name, _, seconds in (part.partition("=") for part in value.split(","))}
    age = parts.get("s-maxage", parts.get("max-age", ""))
    if "no-store" in parts or "no-cache" in parts:
        return ""
    if not age.isdigit() or int(age) > 1:
        return f"Cache-Control is {value!r}"
    return "it may be shown stale" if any(name.startswith("stale-") for name in parts) else ""


def _between(text: str, before: str, after: str) -> str:
    _, found, rest = text.partition(before)
    return rest.partition(after)[0] if found else ""
