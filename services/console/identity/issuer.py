"""The identity key at work (S3): signed standings, ends of sign-ins, sign-in tokens, keys of the agent's API and delegations. Nothing else of the console holds it."""

import base64
import hashlib
import hmac
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID

from joserfc import jwt
from joserfc.jwk import OKPKey

from schemas.agency import Access
from schemas.model import Role
from schemas.outward import Delegation
from schemas.statements import SessionEnd, Signed, Standing
from services.console.identity.domain import Audience
from shared.identity.token import ALGORITHM, LIFE, TYPE, OnlyEdDSA
from shared.ids import fresh_id
from shared.signing import SigningKey


class Issuer:
    """Signs as this console. `names` is the secret that the pseudonyms of people are made with; `url` is the issuer's name."""

    def __init__(self, seed: bytes, names: bytes, url: str) -> None:
        self._key = SigningKey(seed)
        self._names, self._url = names, url
        self._jwk = OKPKey.import_key(
            {"kty": "OKP", "crv": "Ed25519", "d": _base64url(seed), "x": _base64url(self._key.public)}
        )

    def __repr__(self) -> str:
        return f"Issuer({self.key_id})"

    @classmethod
    def load(cls, keys: Path, url: str) -> Self:
        """From the console's folder of keys."""
        seed = base64.b64decode((keys / "identity.key").read_text().strip(), validate=True)
        return cls(seed, (keys / "session.key").read_bytes().strip(), url)

    @property
    def key_id(self) -> str:
        return self._key.key_id

    def subject(self, audience: Audience, person_id: UUID) -> UUID:
        """Who a person is there: the same at each visit, and at the site a name that is used nowhere else and says nothing."""
        return person_id if audience == "agent" else self._pseudonym(f"site:{person_id}")

    def sid(self, audience: Audience, session_hash: str) -> UUID:
        """The name there of what was begun from one sign-in here."""
        return self._pseudonym(f"sid:{audience}:{session_hash}")

    def standing(self, **fields: Any) -> Signed:
        """`fields` of a Standing but for its key."""
        return self._key.sign(Standing(key_id=self.key_id, **fields))

    def access(self, **fields: Any) -> Signed:
        """`fields` of an Access but for its key."""
        return self._key.sign(Access(key_id=self.key_id, **fields))

    def delegation(self, **fields: Any) -> Signed:
        """`fields` of a Delegation but for its key."""
        return self._key.sign(Delegation(key_id=self.key_id, **fields))

    def session_end(self, audience: Audience, session_hash: str, at: datetime) -> Signed:
        ending = SessionEnd(key_id=self.key_id, audience=audience, sid=self.sid(audience, session_hash), decided_at=at)
        return self._key.sign(ending)

    def token(
        self, audience: Audience, person_id: UUID, name: str, role: Role, session_hash: str, nonce: str, at: datetime
    ) -> str:
        """A JWT for one sign-in at one receiver, good for 60 s. The site is not told the name."""
        issued = int(at.timestamp())
        claims = {
            "iss": self._url,
            "aud": audience,
            "sub": str(self.subject(audience, person_id)),
            "role": role,
            "sid": str(self.sid(audience, session_hash)),
            "nonce": nonce,
            "jti": str(fresh_id()),
            "iat": issued,
            "exp": issued + int(LIFE.total_seconds()),
        } | ({"name": name} if audience == "agent" else {})
        header = {"alg": ALGORITHM, "typ": TYPE, "kid": self.key_id}
        return jwt.encode(header, claims, self._jwk, registry=OnlyEdDSA())

    def _pseudonym(self, text: str) -> UUID:
        return UUID(bytes=hmac.new(self._names, text.encode(), hashlib.sha256).digest()[:16], version=4)


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
