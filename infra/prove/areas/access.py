"""Area access: what a key of the agent's API opens, for whom and until when, and that every word on a key is the console's (S7, S8, rule 24)."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from http.client import HTTPException
from typing import Any
from uuid import UUID

from infra.prove.areas.decisions import try_forged
from infra.prove.areas.forgeries import MARK, Forged
from infra.prove.check import Book, Check
from infra.prove.fetch import get
from infra.prove.forge import Forger, sign
from infra.prove.target import Attempt, Target
from infra.prove.traces import forget
from schemas.agency import Access
from schemas.console.v1 import AccessStated
from schemas.outward import Delegation
from schemas.statements import Signed, Standing
from schemas.text import sha256
from shared.clock import now
from shared.errors import BadSignature
from shared.ids import fresh_id
from shared.settings import DATABASES
from shared.signing import PublicKeys

ME = "/api/v1/me"
AGAIN, PATIENCE = 0.5, 6
"""Seconds between two looks, and looks: what the console said is on its way for a moment."""
LISTED = 5
_HASHES = {
    "console": "SELECT count(*) FROM app.access_keys WHERE token_hash !~ '^[0-9a-f]{64}$'",
    "agent": "SELECT count(*) FROM core.access WHERE token_hash !~ '^[0-9a-f]{64}$'",
}
_HEARD = "SELECT access_id::text, version, token_hash, subject::text, statement, signature, key_id FROM core.access"
_SAID = "SELECT id::text, version, token_hash, role, revoked_at IS NOT NULL FROM app.access_keys"
_PUT = """INSERT INTO core.access (access_id, version, token_hash, subject, statement, signature, key_id)
  VALUES ($1::uuid, $2, $3, $4::uuid, decode($5, 'hex'), decode($6, 'hex'), $7)"""
_STAND = """INSERT INTO app.standings (subject, version, role, sessions_from, decided_at, statement, signature, key_id)
  VALUES ($1::uuid, 1, $2, now(), now(), decode($3, 'hex'), decode($4, 'hex'), $5)"""
_GONE = "DELETE FROM app.standings WHERE subject = $1::uuid"


async def check(target: Target) -> list[Check]:
    book = Book("access")
    await check_kept(target, book)
    await check_said(target, book)
    try:
        await check_door(target, book)
        await check_forged(target, book)
    except (OSError, HTTPException) as error:
        book.add("prove", "reach the workspace", "an answer", "no answer", f"{type(error).__name__}: {error}")
    finally:
        await forget(target, "bridge", "k")
    return book.checks


async def check_kept(target: Target, book: Book) -> None:
    """A key stands nowhere: neither where it was made nor where it opens (S7)."""
    for service, query in _HASHES.items():
        ((plain,),) = await _ask(target, service, query)
        book.holds(service, "keys of the agent's API are kept as hashes", f"{plain} are not" if plain else "")


async def check_said(target: Target, book: Book) -> None:
    """Every word on a key at the agent was signed by the identity key, and the newest of each is what the console says."""
    keys = PublicKeys.load(target.layout.public_keys)
    faults, differing = list[str](), ""
    for turn in range(PATIENCE):
        heard = await _ask(target, "agent", _HEARD)
        faults = [fault for row in heard if (fault := _fault(keys, row))]
        differing = _differing(await _ask(target, "console", _SAID), _newest(heard))
        if not faults and not differing:
            break
        if turn + 1 < PATIENCE:
            await asyncio.sleep(AGAIN)
    book.holds("agent", "every word on a key is what the console's identity key signed", "; ".join(faults[:LISTED]))
    book.holds("agent", "it holds of every key what the console says of it", differing)


def _fault(keys: PublicKeys, row: list[Any]) -> str:
    access_id, version, token_hash, subject, *signed = row
    try:
        said = keys.verify("identity", _signed(*signed), Access)
    except BadSignature as error:
        return f"{access_id}: {error.message}"
    columns = (access_id, version, token_hash, subject)
    same = columns == (str(said.access_id), said.version, said.token_hash, str(said.subject))
    return "" if same else f"{access_id}: the columns say something else than the signed statement"


def _newest(heard: list[list[Any]]) -> dict[str, Access]:
    """By id; what cannot be read is a fault already."""
    found: dict[str, Access] = {}
    for access_id, version, _, _, statement, *_ in sorted(heard, key=lambda row: int(row[1])):
        try:
            found[access_id] = Access.from_bytes(bytes.fromhex(statement))
        except ValueError:
            found.pop(access_id, version)
    return found


def _differing(said: list[list[Any]], heard: dict[str, Access]) -> str:
    """Keys that the agent does not know as the console does; and good ones that the console does not know at all."""
    at, faults = now(), []
    for access_id, version, token_hash, role, revoked in said:
        held = heard.pop(access_id, None)
        shown = None if held is None else (held.version, held.token_hash, held.role, held.revoked)
        if shown != (version, token_hash, role, revoked):
            faults.append(f"{access_id} is {'revoked' if revoked else 'good'} at the console, at the agent {shown}")
    strange = [
        each for each, held in heard.items() if not held.revoked and not (held.expires_at and held.expires_at <= at)
    ]
    return "; ".join(
        [*faults, *(f"{each} is good at the agent, and the console has none" for each in strange)][:LISTED]
    )


async def check_door(target: Target, book: Book) -> None:
    """A key that the console's own key vouches for, of somebody who does not exist: as the narrower role, until it is taken back, and nowhere else."""
    base, subject, token = target.config.urls["workspace"], fresh_id(), f"schleuse_ak_{secrets.token_urlsafe(32)}"
    for says, headers in _wrong(token).items():
        book.same("anybody", f"{ME} with {says}", 401, (await get(base, ME, headers)).status)
    plain = await get(base, f"{ME}?key={token}&owner=user:{subject}&authorization=Bearer%20{token}")
    book.same("anybody", "a key, or an owner, as an argument opens nothing", "guest", _role(plain.body))
    made = await _vouched(target, subject, token)
    try:
        await target.run("agent", [_write(_STAND, [str(subject), "viewer", *_columns(made[0])])])
        await _put(target, made[1])
        bearer = {"Authorization": f"Bearer {token}"}
        answer = await get(base, ME, bearer)
        book.same("key", "a key for an owner opens as what its person may do", "200 viewer", f"{answer.status} {_role(answer.body)}")  # fmt: skip
        for front in ("console", "site"):
            path = "/api/v1/me" if front == "console" else "/"
            answer = await get(target.config.urls[front], path, bearer)
            opened = answer.status == 200 and front == "console"
            book.holds("key", f"a key of the workspace opens nothing at the {front}", "it does" if opened else "")
        await target.run("agent", [_write(_GONE, [str(subject)])])
        book.same("key", "nobody told the agent of its person (any more)", 401, (await get(base, ME, bearer)).status)
    finally:
        await target.run("agent", [_write(_GONE, [str(subject)])])
        await _put(target, made[2])
    book.same("key", "a key that was taken back", 401, (await get(base, ME, bearer)).status)


@asynccontextmanager
async def somebody(target: Target) -> AsyncIterator[tuple[UUID, dict[str, str]]]:
    """A person of this run, whom the console vouches for, and the header with a key of theirs; both are gone afterwards."""
    subject, token = fresh_id(), f"schleuse_ak_{secrets.token_urlsafe(32)}"
    made = await _vouched(target, subject, token)
    try:
        await target.run("agent", [_write(_STAND, [str(subject), "viewer", *_columns(made[0])])])
        await _put(target, made[1])
        yield subject, {"Authorization": f"Bearer {token}"}
    finally:
        await target.run("agent", [_write(_GONE, [str(subject)])])
        await _put(target, made[2])


def _wrong(token: str) -> dict[str, dict[str, str]]:
    return {
        "a made-up key": {"Authorization": f"Bearer {token}"},
        "a key in another scheme": {"Authorization": f"Basic {token}"},
        "no key after Bearer": {"Authorization": "Bearer "},
        "a key of the console's": {"Authorization": f"Bearer schleuse_{secrets.token_urlsafe(32)}"},
        "a key with a line of another": {"Authorization": f"Bearer {token}, Bearer {token}"},
    }


async def _vouched(target: Target, subject: UUID, token: str) -> list[Signed]:
    """The person's standing, the key, and its end."""
    (who,) = await sign(target, "console", [("identity", "schleuse.prove.v1", b"who signs")])
    at, access_id = now(), fresh_id()
    standing = Standing(key_id=who.key_id, audience="agent", subject=subject, role="viewer", sessions_from=at, version=1, decided_at=at)  # fmt: skip
    good = Access(
        key_id=who.key_id, access_id=access_id, kind="token", subject=subject, person_name="prove", name=f"prove {target.token}",
        role="owner", token_hash=sha256(token.encode()), made_by="prove", issued_at=at, expires_at=at + timedelta(minutes=2), version=1,
    )  # fmt: skip
    over = good.model_copy(update={"revoked": True, "version": 2})
    return await sign(
        target, "console", [("identity", each.purpose, each.to_bytes()) for each in (standing, good, over)]
    )


async def check_forged(target: Target, book: Book) -> None:
    """Words on keys that the identity key did not sign: none passes the lock (S3)."""
    forger = Forger.of(target)
    said = Access(
        key_id=forger.key_id, access_id=fresh_id(), kind="apikey", subject=fresh_id(), person_name="prove", name="prove", role="owner",
        token_hash=forger.nothing, made_by="prove", issued_at=now(), version=1,
    )  # fmt: skip
    real, decided, crossed = await sign(
        target,
        "console",
        [("identity", Delegation.PURPOSE, said.to_bytes()), ("decision", Access.PURPOSE, said.to_bytes()), ("identity", Access.PURPOSE, said.to_bytes())],
    )  # fmt: skip
    wrong = {
        "not signed": crossed.model_copy(update={"signature": b""}),
        "signed with the decision key": decided,
        "signed by a stranger": forger.by_stranger(said, real.key_id),
        "signed for another purpose": real,
        "in another key's name than signed": crossed,
    }
    forged = [Forged(says, forger.event("access.stated", AccessStated(access=each), MARK), "", "access.stated") for says, each in wrong.items()]  # fmt: skip
    await try_forged(target, book, forged, "k")
    kept = await _ask(target, "agent", _HEARD)
    held = [row[0] for row in kept if row[2] == forger.nothing]
    book.holds("agent", "none of it is a key that the agent keeps", ", ".join(held))


async def _put(target: Target, signed: Signed) -> None:
    said = Access.from_bytes(signed.payload)
    row = [str(said.access_id), said.version, said.token_hash, str(said.subject), *_columns(signed)]
    await target.run("agent", [_write(_PUT, row)])


def _columns(signed: Signed) -> list[str]:
    return [signed.payload.hex(), signed.signature.hex(), signed.key_id]


def _signed(payload: str, signature: str, key_id: str) -> Signed:
    return Signed(payload=bytes.fromhex(payload), signature=bytes.fromhex(signature), key_id=key_id)


def _role(body: str) -> str:
    try:
        return str(json.loads(body)["role"])
    except (ValueError, KeyError, TypeError):
        return "no role"


async def _ask(target: Target, service: str, query: str) -> list[list[Any]]:
    read: Attempt = {"kind": "rows", "role": service, "database": DATABASES[service], "query": query}
    (outcome,) = await target.run(service, [read])
    rows: list[list[Any]] = outcome["value"]
    return rows


def _write(query: str, args: list[Any]) -> Attempt:
    return {
        "kind": "rows",
        "role": "agent",
        "database": DATABASES["agent"],
        "query": query,
        "args": args,
        "write": True,
    }
