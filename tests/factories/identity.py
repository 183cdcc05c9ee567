"""The console as site and workspace meet it when people sign in: tokens, standings and endings, by a key of the test's own."""

import base64
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
from joserfc import jwt
from joserfc.jwk import OKPKey

from schemas.bridge.v1 import PersonRecorded, SessionClosed
from schemas.statements import SessionEnd, Standing
from schemas.text import sha256
from shared.clock import now
from shared.identity.token import OnlyEdDSA
from shared.signing import SigningKey

CONSOLE = "http://localhost:9300"


def okp(seed: bytes) -> OKPKey:
    def text(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    return OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": text(SigningKey(seed).public), "d": text(seed)})


@dataclass
class Console:
    """`versions` counts the standings of each subject."""

    audience: str
    seed: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    url: str = CONSOLE
    versions: dict[UUID, int] = field(default_factory=dict)

    @property
    def key(self) -> SigningKey:
        return SigningKey(self.seed)

    def claims(self, nonce: str, at: datetime | None = None, **changed: Any) -> dict[str, Any]:
        issued = int((at or now()).timestamp())
        return {
            "iss": self.url,
            "aud": self.audience,
            "sub": str(uuid4()),
            "role": "member",
            "sid": str(uuid4()),
            "nonce": nonce,
            "jti": str(uuid4()),
            "iat": issued,
            "exp": issued + 60,
            **({"name": "Ada Owner"} if self.audience == "agent" else {}),
        } | {name: str(value) if isinstance(value, UUID) else value for name, value in changed.items()}

    def token(
        self, nonce: str, at: datetime | None = None, header: dict[str, Any] | None = None, **changed: Any
    ) -> str:
        """A token that is right, but for what was changed."""
        head = {"alg": "EdDSA", "typ": "schleuse-identity+jwt", "kid": self.key.key_id} | (header or {})
        return jwt.encode(head, self.claims(nonce, at, **changed), okp(self.seed), registry=OnlyEdDSA())

    def standing(self, subject: UUID, role: str | None, **changed: Any) -> PersonRecorded:
        version = self.versions[subject] = self.versions.get(subject, 0) + 1
        fields = {"sessions_from": now(), "version": version, "decided_at": now(), "audience": self.audience}
        statement = Standing(key_id=self.key.key_id, subject=subject, role=role, **{**fields, **changed})  # type: ignore[arg-type]
        return PersonRecorded(standing=self.key.sign(statement))

    def invitation(self, link: str, until: datetime | None = None) -> tuple[UUID, PersonRecorded]:
        """A guest, and what the console says of them."""
        guest = uuid4()
        ends = until or now() + timedelta(hours=1)
        return guest, self.standing(guest, "guest", link_hash=sha256(link.encode()), until=ends)

    def ending(self, sid: UUID, **changed: Any) -> SessionClosed:
        fields = {"audience": self.audience, "decided_at": now()}
        return SessionClosed(ending=self.key.sign(SessionEnd(key_id=self.key.key_id, sid=sid, **{**fields, **changed})))


async def nonce_for(browser: httpx2.AsyncClient, place: str = "/") -> str:
    """What the receiver sends to the console for this browser."""
    answer = await browser.get("/sign-in", params={"next": place})
    assert answer.status_code == 303, answer.text
    return httpx2.URL(answer.headers["location"]).params["nonce"]


async def hand_over(
    browser: httpx2.AsyncClient, token: str, place: str = "/", origin: str = CONSOLE
) -> httpx2.Response:
    """The console's form; the answer after the browser came back with the code, or the refusal."""
    form = {"token": token, "next": place}
    answer = await browser.post("/signed-in", data=form, headers={"origin": origin, "sec-fetch-site": "cross-site"})
    if answer.status_code != 303:
        return answer
    return await browser.get(answer.headers["location"])


async def sign_in(browser: httpx2.AsyncClient, console: Console, place: str = "/", **changed: Any) -> httpx2.Response:
    nonce = await nonce_for(browser, place)
    answer = await hand_over(browser, console.token(nonce, **changed), place)
    assert answer.status_code == 303, answer.text
    return answer
