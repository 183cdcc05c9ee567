"""The console's page that hands people over: to whom, with what, and to whom not (S7, S8)."""

import base64
import re
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from infra.prove.areas.console_http import cookie_name
from infra.prove.areas.guard import check_private
from infra.prove.check import Book
from infra.prove.fetch import Answer, get
from infra.prove.guests import Guest
from infra.prove.target import Target
from shared.identity.token import OnlyEdDSA
from shared.signing import PublicKeys

NONCE = "0123456789abcdef" * 4
FRONTS = {"site": "site", "agent": "workspace"}
LIFE = 60


async def check_identity_page(target: Target, book: Book, guest: Guest, operator_token: str) -> None:
    urls, keys = target.config.urls, PublicKeys.load(target.layout.public_keys)
    base, cookie = urls["console"], {"Cookie": f"{cookie_name(urls['console'])}={guest.session}"}
    for says, headers in (("nobody", {}), ("the operator's token", {"Authorization": f"Bearer {operator_token}"})):
        answer = await get(base, f"/identity?audience=site&nonce={NONCE}", headers)
        book.same(says, "is led to signing in first", 303, answer.status)
    for says, asked in {"another audience": f"audience=console&nonce={NONCE}", "no nonce": "audience=site&nonce=", "next at another host": f"audience=site&nonce={NONCE}&next=//evil.example"}.items():  # fmt: skip
        book.same(guest.role, f"a token for {says}", 422, (await get(base, f"/identity?{asked}", cookie)).status)
    for audience, front in FRONTS.items():
        answer = await get(base, f"/identity?audience={audience}&nonce={NONCE}&next=/x", cookie)
        where = target.settings("console").site_base_url or urls[front] if audience == "site" else urls[front]
        check_page(book, guest.role, answer, where)
        check_private(book, guest.role, f"the page for the {audience}", answer)
        check_token(book, audience, answer, keys)


def check_page(book: Book, actor: str, answer: Answer, url: str) -> None:
    """The form goes to one origin, which hears from the browser where it came from."""
    policy = dict(part.strip().partition(" ")[::2] for part in answer.header("content-security-policy").split(";"))
    origin = "/".join(url.split("/")[:3])
    book.same(actor, f"the form may go to one origin: {origin}", origin, policy.get("form-action", "anywhere"))
    book.same(actor, f"nothing else by default: {origin}", "'none'", policy.get("default-src", "anything"))
    book.same(actor, f"no frame around it: {origin}", "'none'", policy.get("frame-ancestors", "anybody"))
    book.same(
        actor, f"its origin is told, not its address: {origin}", "strict-origin", answer.header("referrer-policy")
    )


def check_token(book: Book, audience: str, answer: Answer, keys: PublicKeys) -> None:
    """Signed by the identity key, for one surface, this nonce and a minute; the site is told no name."""
    found = re.search(r'name="token" value="([^"]+)"', answer.body)
    claims = _claims(found[1] if found else "", keys)
    fault = "" if claims else "no identity key signed it"
    book.holds("console", f"the token is signed as it must be: {audience}", fault)
    life = int(claims.get("exp", 0)) - int(claims.get("iat", -1000))
    book.holds("console", f"it lives at most {LIFE} s: {audience}", "" if life <= LIFE else f"{life} s")
    told = {name: claims.get(name) for name in ("aud", "nonce")}
    book.same("console", f"it is for one surface and one browser: {audience}", {"aud": audience, "nonce": NONCE}, told)
    extra = claims.keys() - {"iss", "aud", "sub", "role", "sid", "nonce", "jti", "iat", "exp"} - ({"name"} if audience == "agent" else set())  # fmt: skip
    book.holds("console", f"it says nothing else: {audience}", ", ".join(sorted(extra)))


def _claims(token: str, keys: PublicKeys) -> dict[str, Any]:
    for key_id in keys.ids("identity"):
        raw = base64.urlsafe_b64encode(keys.raw("identity", key_id) or b"").decode().rstrip("=")
        try:
            return jwt.decode(
                token, OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": raw}), registry=OnlyEdDSA()
            ).claims
        except (JoseError, ValueError):
            continue
    return {}
