"""The identity token: a JWT that names one person to one surface for 60 seconds, once (S8)."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from uuid import UUID

from joserfc import jwt
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import OKPKey
from joserfc.jws import JWSRegistry

from schemas.model import Role
from schemas.text import text_fault
from shared.clock import now
from shared.errors import Forbidden
from shared.signing import PublicKeys

TYPE = "schleuse-identity+jwt"
ALGORITHM = "EdDSA"
LIFE = timedelta(seconds=60)
SKEW = timedelta(seconds=5)
"""How far the console's clock may be ahead of ours."""
LONGEST = 4096
"""Characters of a token."""
ROLES: tuple[str, ...] = (*get_args(Role), "guest")
_NONCE = re.compile(r"[0-9a-f]{64}")


class OnlyEdDSA(JWSRegistry):
    """The one algorithm there is, so that no header can choose another.

    The library calls the name old, since RFC 9864 has a newer one for the same signature; the contract has this one.
    """

    def get_alg(self, name: str) -> JWSAlgModel:
        if name != ALGORITHM:
            raise UnsupportedAlgorithmError(f"{name} is not {ALGORITHM}")
        return self.algorithms[ALGORITHM]


@dataclass(frozen=True)
class Claims:
    """What a token says. `sid` names the sign-in at the console, `jti` this very token; `name` is empty where none is told."""

    audience: str
    subject: UUID
    role: str
    sid: UUID
    nonce: str
    jti: UUID
    issued_at: datetime
    name: str = ""


def nonce_of(cookie: str) -> str:
    """What binds a token to the browser that holds this pre-login cookie: SHA-256 in hex."""
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


def is_nonce(text: str) -> bool:
    return _NONCE.fullmatch(text) is not None


class TokenReader:
    """Reads tokens that are meant for one surface. `url`: the console's address, which must have issued them."""

    def __init__(self, keys: PublicKeys, audience: str, url: str) -> None:
        self._audience, self._url = audience, url
        self._keys = {key_id: _public(keys, key_id) for key_id in keys.ids("identity")}

    def read(self, token: str, at: datetime | None = None) -> Claims:
        """The claims of a token that is ours, whole and in time. Forbidden for everything else.

        Whether its nonce is this browser's and whether it was used before, the caller asks.
        """
        if not token or len(token) > LONGEST or not token.isascii():
            raise _bad("it is no token")
        try:
            found = jwt.decode(token, self._key_for(token), registry=OnlyEdDSA())
        except (JoseError, ValueError) as error:
            raise _bad(f"it is not signed as it must be ({type(error).__name__})") from None
        if found.header.get("typ") != TYPE:
            raise _bad("it is of another type")
        return self._checked(found.claims, at or now())

    def _key_for(self, token: str) -> OKPKey:
        """The identity key that the token names; the signature is checked with it."""
        try:
            head: Any = json.loads(base64.urlsafe_b64decode(token.split(".", 1)[0] + "=="))
            key_id = head["kid"]
        except (ValueError, KeyError, TypeError):
            raise _bad("its header cannot be read") from None
        key = self._keys.get(key_id) if isinstance(key_id, str) else None
        if key is None:
            raise _bad("no identity key has its name")
        return key

    def _checked(self, claims: dict[str, Any], at: datetime) -> Claims:
        if claims.get("iss") != self._url:
            raise _bad("the console did not issue it")
        if claims.get("aud") != self._audience:
            raise _bad("it is for another surface")
        issued = self._in_time(claims, at)
        role, nonce, name = claims.get("role"), claims.get("nonce"), claims.get("name", "")
        if role not in ROLES:
            raise _bad("it names no role that there is")
        if not isinstance(nonce, str) or not is_nonce(nonce):
            raise _bad("its nonce is none")
        if not isinstance(name, str) or len(name) > 500 or text_fault(name):
            raise _bad("its name is none")
        subject, sid, jti = (_uuid(claims.get(each)) for each in ("sub", "sid", "jti"))
        return Claims(self._audience, subject, role, sid, nonce, jti, issued, name)

    @staticmethod
    def _in_time(claims: dict[str, Any], at: datetime) -> datetime:
        issued, ends = _instant(claims.get("iat")), _instant(claims.get("exp"))
        if ends - issued > LIFE + timedelta(milliseconds=1) or ends <= issued:
            raise _bad("it would live for more than 60 seconds")
        if issued > at + SKEW:
            raise _bad("it comes from the future: compare the clocks")
        if at >= ends:
            raise _bad("its 60 seconds are over")
        return issued


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _public(keys: PublicKeys, key_id: str) -> OKPKey:
    raw = keys.raw("identity", key_id)
    assert raw is not None, "the id came from this very table"
    return OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": _base64url(raw)})


def _instant(value: object) -> datetime:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**33:
        raise _bad("its times are none")
    return datetime.fromtimestamp(value, UTC)


def _uuid(value: object) -> UUID:
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        raise _bad("its ids are none") from None


def _bad(why: str) -> Forbidden:
    return Forbidden(f"The sign-in was refused: {why}.", code="token")
