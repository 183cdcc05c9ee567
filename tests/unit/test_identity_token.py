"""What a surface accepts as an identity token: one algorithm, one key, one audience, sixty seconds."""

import base64
import json
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from shared.clock import now
from shared.errors import Forbidden
from shared.identity import TokenReader, nonce_of
from shared.identity.doors import local_place
from shared.signing import PublicKeys
from tests.factories.identity import CONSOLE, Console

NONCE = nonce_of("a cookie")
AT = now().replace(microsecond=0)
HERE = Console("site")
DECISION = Console("site")
"""Signs with a key of another duty."""
KEYS = PublicKeys(
    {
        "identity": {HERE.key.key_id: HERE.key.public},
        "decision": {DECISION.key.key_id: DECISION.key.public},
    }
)
READER = TokenReader(KEYS, "site", CONSOLE)


def unsigned() -> str:
    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = {"alg": "none", "typ": "schleuse-identity+jwt", "kid": HERE.key.key_id}
    return f"{part(head)}.{part(HERE.claims(NONCE, AT))}."


def by_public_key() -> str:
    """The old trick: HS256 with the public key as the secret."""
    head = {"alg": "HS256", "typ": "schleuse-identity+jwt", "kid": HERE.key.key_id}
    return jwt.encode(head, HERE.claims(NONCE, AT), OctKey.import_key(HERE.key.public), algorithms=["HS256"])


def changed_afterwards() -> str:
    head, body, signature = HERE.token(NONCE, AT).split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "==")) | {"role": "owner"}
    return f"{head}.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.{signature}"


def test_a_good_token_says_who_it_is_for() -> None:
    subject = UUID(int=secrets.randbits(128))
    claims = READER.read(HERE.token(NONCE, AT, sub=subject, role="moderator"), AT)
    assert (claims.subject, claims.role, claims.nonce, claims.audience) == (subject, "moderator", NONCE, "site")


@pytest.mark.parametrize(
    "make",
    [
        lambda: "",
        lambda: "x.y.z",
        lambda: "x" * 5000,
        lambda: "tökén.a.b",
        unsigned,
        by_public_key,
        changed_afterwards,
        lambda: DECISION.token(NONCE, AT),
        lambda: DECISION.token(NONCE, AT, {"kid": HERE.key.key_id}),
        lambda: HERE.token(NONCE, AT, {"kid": DECISION.key.key_id}),
        lambda: HERE.token(NONCE, AT, {"typ": "JWT"}),
        lambda: HERE.token(NONCE, AT, iss="http://127.0.0.1:1"),
        lambda: HERE.token(NONCE, AT, aud="agent"),
        lambda: HERE.token(NONCE, AT, aud=["site", "agent"]),
        lambda: HERE.token(NONCE, AT, role="root"),
        lambda: HERE.token(NONCE, AT, role=None),
        lambda: HERE.token("not a nonce", AT),
        lambda: HERE.token(NONCE, AT, sub="somebody"),
        lambda: HERE.token(NONCE, AT, jti=None),
        lambda: HERE.token(NONCE, AT, name="a\x00b"),
        lambda: HERE.token(NONCE, AT - timedelta(seconds=60)),
        lambda: HERE.token(NONCE, AT + timedelta(seconds=6)),
        lambda: HERE.token(NONCE, AT, exp=int(AT.timestamp()) + 61),
        lambda: HERE.token(NONCE, AT, exp=int(AT.timestamp())),
        lambda: HERE.token(NONCE, AT, iat="now"),
        lambda: HERE.token(NONCE, AT, iat=True),
        lambda: HERE.token(NONCE, AT, exp=None),
    ],
)
def test_anything_else_is_refused(make: Callable[[], str]) -> None:
    with pytest.raises(Forbidden) as refused:
        READER.read(make(), AT)
    assert refused.value.code == "token"


@pytest.mark.parametrize("seconds", [-5, 0, 59])
def test_clocks_may_differ_a_little_and_a_token_lives_a_minute(seconds: int) -> None:
    assert READER.read(HERE.token(NONCE, AT), AT + timedelta(seconds=seconds)).role == "member"


@pytest.mark.parametrize(
    "place",
    ["", "//evil.test", "/\\evil.test", "\\\\evil.test", "\\evil", "https://evil.test/", "javascript:alert(1)", "evil",
     "/a\nb", "/a\x00", "/a\tb", "/a\u2028b", "/\u202e", "/" + "a" * 2000, "/sign-in?next=/", "/sign-out", "/signed-in?code=x"],
)  # fmt: skip
def test_only_paths_of_this_surface_are_gone_to(place: str) -> None:
    assert local_place(place) == "/"


@pytest.mark.parametrize("place", ["/", "/doc/en/guide", "/search?q=a b&ui=de", "/doc/de/größe"])
def test_and_those_are_kept(place: str) -> None:
    assert local_place(place) == place
