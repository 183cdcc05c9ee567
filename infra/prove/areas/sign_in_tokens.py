"""Forged sign-ins at site and workspace: tokens of other keys, other surfaces, other browsers, other times (S3, S8). None may open a session."""

import base64
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from infra.observe.keyfiles import decision_files
from infra.prove.areas.guard import FORM
from infra.prove.check import Book
from infra.prove.fetch import get, send
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES
from shared.signing import PublicKeys

FRONTS = {"site": "site", "agent": "workspace"}
TYPE = "schleuse-identity+jwt"
OFF = 403
DONE = "a session"
SUBJECT, JTI = (str(uuid.uuid5(uuid.UUID(int=0), f"prove {name}")) for name in ("subject", "jti"))
"""Whom the token that is right names; what it leaves is taken out again."""
_GONE = (
    ("DELETE FROM app.identity_sessions WHERE subject = $1::uuid", SUBJECT),
    ("DELETE FROM app.used_tokens WHERE jti = $1::uuid", JTI),
)
EVIL = "https://evil.example"


@dataclass(frozen=True)
class Forgery:
    """`claims` replace those of a token that would be right; `file` is the key of the console's that signs."""

    says: str
    claims: dict[str, Any]
    file: str = "identity.key"
    header: tuple[tuple[str, str], ...] = ()


CONTROL = Forgery("that is right", {"sub": SUBJECT, "jti": JTI, "role": "viewer"})
"""Without it one would not know why the others are refused."""


async def check_receivers(target: Target, book: Book) -> None:
    for audience, front in FRONTS.items():
        base = target.config.urls[front]
        if (await get(base, "/sign-in")).status == OFF:
            book.same(audience, "it is off: nobody signs in", OFF, OFF)
            continue
        await _try(target, book, audience, base, CONTROL)
        for forgery in _forgeries(target, audience):
            await _try(target, book, audience, base, forgery)
        await _from_elsewhere(book, audience, base)


def _forgeries(target: Target, audience: str) -> list[Forgery]:
    other = next(name for name in FRONTS if name != audience)
    past = int(time.time()) - 300
    return [
        Forgery("signed with the decision key", {}, decision_files(target.layout)[0]),
        Forgery("signed with the key of forms and pseudonyms", {}, "session.key"),
        Forgery("for the other surface", {"aud": other}),
        Forgery("for both surfaces", {"aud": ["site", "agent"]}),
        Forgery("of another console", {"iss": EVIL}),
        Forgery("of five minutes ago", {"iat": past, "exp": past + 60}),
        Forgery("that would live for a day", {"exp": int(time.time()) + 86400}),
        Forgery("for another browser", {"nonce": "0" * 64}),
        Forgery("with a role that there is not", {"role": "root"}),
        Forgery("of another type", {}, header=(("typ", "JWT"),)),
        Forgery("without a signature", {}, "", (("alg", "none"),)),
        Forgery("signed with a public key as if it were a secret", {}, "", (("alg", "HS256"),)),
    ]


async def _try(target: Target, book: Book, audience: str, base: str, forgery: Forgery) -> None:
    leaving = await get(base, "/sign-in?next=/")
    pre = leaving.header("set-cookie").split(";")[0]
    name, _, value = pre.partition("=")
    if not name.endswith("pre") or not value:
        book.add(
            audience, "sign-in begins with a cookie of its own", "a cookie", leaving.header("set-cookie")[:80] or "none"
        )
        return
    token = await _token(target, audience, forgery, hashlib.sha256(value.encode()).hexdigest())
    try:
        got = await _enter(target, base, pre, token)
    finally:
        if forgery is CONTROL:
            await target.run(audience, [_write(audience, query, value) for query, value in _GONE])
    book.same(audience, f"a token {forgery.says}", DONE if forgery is CONTROL else "refused", got)


async def _enter(target: Target, base: str, pre: str, token: str) -> str:
    """Post it as the console's page does, and come back with the cookie: `refused`, `a session`, or what happened."""
    headers = {**FORM, "Origin": target.config.urls["console"]}
    answer = await send(base, "POST", "/signed-in", headers, urlencode({"token": token, "next": "/"}))
    if answer.status == 303:
        answer = await get(base, answer.header("location"), {"Cookie": pre})
    session = [each.split("=")[0] for each in answer.header("set-cookie").split("\n") if each and "pre=" not in each and 'Max-Age=0' not in each]  # fmt: skip
    if 400 <= answer.status < 500 and not session:
        return "refused"
    return DONE if answer.status == 303 and session else f"{answer.status} {' '.join(session)}"


async def _from_elsewhere(book: Book, audience: str, base: str) -> None:
    for says, headers in (("another origin", {"Origin": EVIL}), ("a hidden origin", {"Origin": "null", "Sec-Fetch-Site": "cross-site"})):  # fmt: skip
        answer = await send(base, "POST", "/signed-in", {**FORM, **headers}, "token=x&next=/")
        book.same(audience, f"a token posted from {says}", 403, answer.status)


async def _token(target: Target, audience: str, forgery: Forgery, nonce: str) -> str:
    """A token that is right but for what the forgery says."""
    keys = PublicKeys.load(target.layout.public_keys)
    key_id = sorted(keys.ids("identity"))[0]
    at = int(time.time())
    claims = {
        "iss": target.config.urls["console"], "aud": audience, "sub": str(uuid.uuid4()), "role": "owner", "sid": str(uuid.uuid4()),
        "nonce": nonce, "jti": str(uuid.uuid4()), "iat": at, "exp": at + 60,
    } | forgery.claims  # fmt: skip
    header = {"alg": "EdDSA", "typ": TYPE, "kid": key_id} | dict(forgery.header)
    signed = f"{_part(header)}.{_part(claims)}"
    if forgery.file:
        attempt = {"kind": "keys", "op": "token", "as": "console", "file": forgery.file, "signed": signed}
        (outcome,) = await target.run("console", [attempt])
        return str(outcome["value"])
    if header["alg"] == "none":
        return f"{signed}."
    secret = keys.raw("identity", key_id) or b""
    return f"{signed}.{_base64url(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def _write(service: str, query: str, value: str) -> Attempt:
    return {
        "kind": "rows",
        "role": service,
        "database": DATABASES[service],
        "query": query,
        "args": [value],
        "write": True,
    }


def _part(value: dict[str, Any]) -> str:
    return _base64url(json.dumps(value).encode())


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
