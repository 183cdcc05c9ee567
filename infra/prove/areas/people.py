"""Area people: who may say who somebody is, what is kept of links, and whether the surfaces know what the console said (S3, S7, S8, S12)."""

import asyncio
import re
from http.client import HTTPException
from pathlib import Path
from typing import Any

from infra.prove.areas.console_http import cookie_name
from infra.prove.areas.guard import FORM, check_private
from infra.prove.areas.identity_page import check_identity_page
from infra.prove.areas.sign_in_tokens import check_receivers
from infra.prove.check import Book, Check
from infra.prove.fetch import get, send
from infra.prove.guests import Guest, guests
from infra.prove.target import Target
from shared.settings import DATABASES
from shared.signing import PublicKeys

NOBODY = "00000000-0000-0000-0000-000000000000"
FORMS = ("/people/invitations", f"/people/invitations/{NOBODY}/revoke", f"/people/{NOBODY}/role", f"/people/{NOBODY}/reset", f"/people/{NOBODY}/sign-out", "/guests", f"/guests/{NOBODY}/revoke", "/secrets", "/connectors", "/connectors/nothing/switch", "/switches/agent/set", f"/cards/{NOBODY}/decide")  # fmt: skip
LINKS = ("/invitation/", "/set-password/", "/welcome/")
SURFACES = ("agent", "site")
AGAIN, PATIENCE = 0.5, 6
"""Seconds between two looks, and looks: what the console said is on its way for a moment."""
_HASHES = """
SELECT place, count(*) FROM (
  SELECT 'invitations' AS place, token_hash AS kept FROM app.invitations UNION ALL
  SELECT 'one-time links', token_hash FROM app.one_time_links UNION ALL
  SELECT 'sessions', token_hash FROM app.sessions UNION ALL
  SELECT 'API tokens', token_hash FROM app.api_tokens UNION ALL
  SELECT 'guests', link_hash FROM app.guests) AS all_of_them
WHERE kept !~ '^[0-9a-f]{64}$' GROUP BY place ORDER BY place"""
_UNSAID = """
SELECT p.handle, a.audience FROM app.people p CROSS JOIN (VALUES ('agent'), ('site')) AS a (audience)
  LEFT JOIN app.standings s ON s.person_id = p.id AND s.audience = a.audience
WHERE p.password_hash IS NOT NULL AND ((s.subject IS NULL AND NOT p.disabled)
   OR s.role IS DISTINCT FROM CASE WHEN p.disabled THEN NULL ELSE p.role END)
ORDER BY 1, 2 LIMIT 20"""
_SAID = "SELECT subject::text, version, coalesce(role, '') FROM app.standings WHERE audience = '{}'"
_HEARD = "SELECT subject::text, version, coalesce(role, '') FROM app.standings"


async def check(target: Target) -> list[Check]:
    book = Book("people")
    try:
        await check_keys(target, book)
        await check_kept(target, book)
        await check_standings(target, book)
        async with guests(target, "p") as found:
            console = target.config.urls["console"]
            token = target.layout.operator_token.read_text().strip()
            await asyncio.gather(
                *(check_forms(book, console, each) for each in found),
                check_links(book, console),
                check_identity_page(target, book, found[0], token),
                check_receivers(target, book),
            )
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the fronts", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def check_keys(target: Target, book: Book) -> None:
    """The identity key is a key of its own (S3)."""
    (outcome,) = await target.run("console", [{"kind": "keys", "op": "public", "as": "console"}])
    files = outcome["value"]["files"]
    published = bytes.fromhex(files["identity.key"])
    twins = [name for name, public in files.items() if public == files["identity.key"] and name != "identity.key"]
    book.holds("console", "the identity key serves no other duty", ", ".join(twins))
    same = published in _identity_keys(target.layout.public_keys)
    book.holds("installation", "the published identity key is the console's", "" if same else "it is another one")


def _identity_keys(path: Path) -> set[bytes]:
    keys = PublicKeys.load(path)
    return {raw for key_id in keys.ids("identity") if (raw := keys.raw("identity", key_id)) is not None}


async def check_kept(target: Target, book: Book) -> None:
    """Links, sessions and API tokens are kept as hashes (S7)."""
    rows = await _ask(target, "console", _HASHES)
    book.holds("console", "links and tokens are kept as hashes", ", ".join(f"{n} in {place}" for place, n in rows))


async def check_standings(target: Target, book: Book) -> None:
    """Everybody's role is what the surfaces were told, and what they hold is what the console said."""
    for turn in range(PATIENCE):
        unsaid = await _ask(target, "console", _UNSAID)
        differing = {name: await _differing(target, name) for name in SURFACES}
        if not unsaid and not any(differing.values()):
            break
        if turn + 1 < PATIENCE:
            await asyncio.sleep(AGAIN)
    book.holds("console", "the surfaces were told what people may do", "; ".join(f"{who} at {where}" for who, where in unsaid))  # fmt: skip
    for name, found in differing.items():
        book.holds(name, "it holds what the console said about people", found)


async def _differing(target: Target, surface: str) -> str:
    said = {tuple(row) for row in await _ask(target, "console", _SAID.format(surface))}
    heard = {tuple(row) for row in await _ask(target, surface, _HEARD)}
    return ", ".join(f"{subject} is {role or 'shut out'}" for subject, _, role in sorted(heard - said)[:5]) or (
        f"{len(said - heard)} it does not know" if said - heard else ""
    )


async def _ask(target: Target, service: str, query: str) -> list[list[Any]]:
    (outcome,) = await target.run(
        service, [{"kind": "rows", "role": service, "database": DATABASES[service], "query": query}]
    )
    rows: list[list[Any]] = outcome["value"]
    return rows


async def check_forms(book: Book, base: str, guest: Guest) -> None:
    """Who may not manage people or guests cannot, with a form token that is right."""
    cookie = {"Cookie": f"{cookie_name(base)}={guest.session}"}
    found = re.search(r'name="token" value="([^"]+)"', (await get(base, "/me", cookie)).body)
    book.holds(guest.role, "is signed in at all", "" if found else "there is no form token")
    for page in ("/people", "/guests", "/secrets", "/connectors", "/cards"):
        book.same(guest.role, f"page {page}", 403, (await get(base, page, cookie)).status)
    fields = f"role=owner&label=x&days=3&token={found[1] if found else ''}"
    for path in FORMS:
        answer = await send(base, "POST", path, {**FORM, **cookie}, fields)
        book.same(guest.role, f"form without the right: {path}", 403, answer.status)


async def check_links(book: Book, base: str) -> None:
    """A link that opens nothing says the same whatever it is, and nobody may keep the page."""
    said = set()
    for path in LINKS:
        answer = await get(base, f"{path}{'a' * 43}")
        book.same("stranger", f"a made-up link: {path}", 404, answer.status)
        check_private(book, "stranger", path, answer)
        said |= set(re.findall(r"<p>(.*?)</p>", answer.body)[:1])
    book.same("stranger", "made-up links say the same", 1, len(said))
