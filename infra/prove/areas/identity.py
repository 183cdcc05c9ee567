"""Area identity: what a token opens and what it does not, what members see and others do not, what the surfaces keep of the console's word."""
# statements are composed of constants of ours
# ruff: noqa: S608

import base64
import json
import time
import uuid
from datetime import datetime
from http.client import HTTPException
from typing import Any

from infra.prove.areas.readers import (
    check_closed,
    check_console_origin,
    check_hidden,
    check_hosts,
    check_invitations,
    check_members,
    check_used,
    check_way_in,
    come_in,
    leave,
)
from infra.prove.check import Book, Check
from infra.prove.fetch import get, shut
from infra.prove.target import Attempt, Target
from schemas.statements import Signed, Standing
from shared.errors import BadSignature
from shared.settings import DATABASES
from shared.signing import PublicKeys

SURFACES = {"site": "site", "agent": "workspace"}
"""A surface's name in tokens, which is its service's, and its front."""
MOST = 30
_ENTRIES = f"SELECT kind, lang, path, statement FROM app.entries ORDER BY seq DESC LIMIT {10 * MOST}"
_STANDINGS = """SELECT subject::text, version, coalesce(role, ''), sessions_from::text, coalesce(link_hash, ''), coalesce(until::text, ''),
  statement, signature, key_id FROM app.standings"""
_KEPT = """SELECT place, count(*) FROM (
  SELECT 'sessions' AS place, token_hash AS kept FROM app.identity_sessions UNION ALL
  SELECT 'codes', code_hash FROM app.sign_in_codes UNION ALL
  SELECT 'invitations', link_hash FROM app.standings WHERE link_hash IS NOT NULL) AS all_of_them
  WHERE kept !~ '^[0-9a-f]{64}$' GROUP BY place ORDER BY place"""
_GONE = "DELETE FROM app.identity_sessions WHERE subject = $1::uuid"


async def check(target: Target) -> list[Check]:
    book = Book("identity")
    check_hosts(book, target.config.urls)
    for service in SURFACES:
        await check_kept(target, book, service)
    try:
        await _check_site(target, book)
        await _check_tokens(target, book)
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the fronts", "an answer", "no answer", f"{type(error).__name__}: {error}")
    return book.checks


async def _check_site(target: Target, book: Book) -> None:
    base, console = target.config.urls["site"], target.config.urls["console"]
    hidden = await _for_members(target)
    await check_hidden(book, base, hidden)
    if await shut(base):
        await check_closed(book, base, hidden)
    await check_console_origin(book, "site", base, console)
    await check_invitations(book, base)


async def _for_members(target: Target) -> list[str]:
    """Addresses of what the signed decisions give to members, whatever the columns say."""
    found = []
    for kind, lang, path, statement in await _ask(target, "site", _ENTRIES):
        try:
            said: Any = json.loads(bytes.fromhex(statement))
        except ValueError:
            continue  # a decoy of area site rows, or a fault that it finds
        if isinstance(said, dict) and said.get("audience") == "members":
            found.append(f"/{kind}/{lang}/{path}")
    return found[:MOST]


async def _check_tokens(target: Target, book: Book) -> None:
    """A genuine token, made by the console's own key for somebody who does not exist, at each surface: once, and nowhere else."""
    console = target.config.urls["console"]
    for audience, front in SURFACES.items():
        base = target.config.urls[front]
        if (await get(base, "/sign-in")).status != 303:
            book.add(audience, "it is off: nobody signs in", "403", str((await get(base, "/sign-in")).status))
            continue
        await check_way_in(book, audience, base, console)
        other = next(each for each in SURFACES if each != audience)
        await _check_token(target, book, audience, base, target.config.urls[SURFACES[other]])


async def _check_token(target: Target, book: Book, audience: str, base: str, elsewhere: str) -> None:
    console, subject = target.config.urls["console"], str(uuid.uuid4())
    pre, nonce = await leave(base)
    token = await _mint(target, audience, subject, nonce)
    try:
        cookie = await come_in(base, console, pre, token)
        book.holds(audience, "a genuine token opens a session", "" if cookie else "it does not")
        await check_used(book, audience, "used a second time", base, console, pre, token)
        their_pre, their_nonce = await leave(elsewhere)
        if their_pre:
            replayed = await _mint(target, audience, subject, their_nonce)
            await check_used(book, audience, "replayed at the other surface", elsewhere, console, their_pre, replayed)
        if audience == "site" and cookie:
            await check_members(book, base, cookie, (await _for_members(target))[:3])
    finally:
        for service in SURFACES:
            await target.run(service, [_rows(service, _GONE, [subject], write=True)])


async def _mint(target: Target, audience: str, subject: str, nonce: str) -> str:
    """As the console makes them, with its key; the key does not leave the console's user."""
    key_id = sorted(PublicKeys.load(target.layout.public_keys).ids("identity"))[0]
    at = int(time.time())
    claims = {
        "iss": target.config.urls["console"], "aud": audience, "sub": subject, "role": "viewer", "sid": str(uuid.uuid4()),
        "nonce": nonce, "jti": str(uuid.uuid4()), "iat": at, "exp": at + 60,
    }  # fmt: skip
    header = {"alg": "EdDSA", "typ": "schleuse-identity+jwt", "kid": key_id}
    signed = ".".join(
        base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in (header, claims)
    )
    attempt = {"kind": "keys", "op": "token", "as": "console", "file": "identity.key", "signed": signed}
    (outcome,) = await target.run("console", [attempt])
    return str(outcome["value"])


async def check_kept(target: Target, book: Book, service: str) -> None:
    """What a surface holds of people is what the identity key signed for it, and no secret can be read from it (S7, S8)."""
    keys = PublicKeys.load(target.layout.public_keys)
    faults = [
        fault for row in await _ask(target, service, _STANDINGS) if (fault := _standing_fault(keys, service, row))
    ]
    book.holds(service, "every standing is what the console signed", "; ".join(faults[:3]))
    places = await _ask(target, service, _KEPT)
    book.holds(
        service, "sessions, codes and links are kept as hashes", ", ".join(f"{n} in {place}" for place, n in places)
    )


def _standing_fault(keys: PublicKeys, service: str, row: list[Any]) -> str:
    subject, version, role, sessions_from, link_hash, until, statement, signature, key_id = row
    try:
        signed = Signed(payload=bytes.fromhex(statement), signature=bytes.fromhex(signature), key_id=key_id)
        said = keys.verify("identity", signed, Standing)
    except BadSignature as error:
        return f"{subject}: {error.message}"
    shown = (subject, version, role, service, link_hash)
    signed_ = (str(said.subject), said.version, said.role or "", said.audience, said.link_hash or "")
    times = ((sessions_from, said.sessions_from), (until, said.until))
    same = shown == signed_ and all(_same_time(text, at) for text, at in times)
    return "" if same else f"{subject}: the columns say something else than the signed statement"


def _same_time(text: str, at: datetime | None) -> bool:
    return (not text and at is None) or (bool(text) and at is not None and datetime.fromisoformat(text) == at)


async def _ask(target: Target, service: str, query: str) -> list[list[Any]]:
    (outcome,) = await target.run(service, [_rows(service, query, [])])
    rows: list[list[Any]] = outcome["value"]
    return rows


def _rows(service: str, query: str, args: list[Any], *, write: bool = False) -> Attempt:
    return {
        "kind": "rows",
        "role": service,
        "database": DATABASES[service],
        "query": query,
        "args": args,
        "write": write,
    }
