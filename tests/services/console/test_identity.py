"""Tokens that bring people to site and workspace: what is in them, who gets one, how often; what else the key signs."""

import asyncio
import base64
import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from joserfc import jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import OKPKey

from schemas.statements import SessionEnd, Standing
from services.console.identity.domain import MINTS, check_audience, check_nonce, check_place
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.mint_token import mint_token
from services.console.people.domain import Caller, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.sign_in import start_session
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from shared.clock import now
from shared.errors import BadSignature, Refused, TooMany, Unauthorized
from shared.identity.token import OnlyEdDSA
from shared.signing import PublicKeys
from shared.testing.servers import Servers
from tests.services.console.conftest import Desk
from tests.services.console.joining import OWNER, joined

NONCE = "0123456789abcdef" * 4


def public_key(keys: PublicKeys, duty: str, key_id: str) -> OKPKey:
    raw = keys.raw(duty, key_id)
    assert raw is not None
    return OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(raw).rstrip(b"=").decode()})


async def mint(desk: Desk, session: str, audience: str = "agent") -> str:
    return await mint_token(desk.db, desk.issuer, hash_token(session), check_audience(audience), NONCE)


async def test_a_token_says_what_its_receiver_needs_for_a_minute(
    desk: Desk, passwords: Passwords, keys: PublicKeys, servers: Servers
) -> None:
    caller, session = await joined(desk, passwords, "member")
    found = {}
    for audience in ("agent", "site"):
        text = await mint(desk, session, audience)
        token = jwt.decode(text, public_key(keys, "identity", desk.issuer.key_id), registry=OnlyEdDSA())
        assert token.header == {"alg": "EdDSA", "typ": "schleuse-identity+jwt", "kid": desk.issuer.key_id}
        found[audience] = token.claims
        assert token.claims["aud"] == audience
        assert token.claims["iss"] == servers.settings("console").url
        assert (token.claims["role"], token.claims["nonce"]) == ("member", NONCE)
        assert token.claims["exp"] - token.claims["iat"] == 60
        assert abs(token.claims["iat"] - now().timestamp()) < 5
        assert token.claims["sid"] == str(desk.issuer.sid(check_audience(audience), hash_token(session)))
    assert (found["agent"]["sub"], found["agent"]["name"]) == (caller.id, caller.name)
    assert found["site"].keys() == found["agent"].keys() - {"name"}
    told = json.dumps(found["site"])
    assert caller.id not in told and caller.name not in told and hash_token(session) not in told
    assert len({found[each]["sid"] for each in found} | {found[each]["jti"] for each in found}) == 4


async def test_no_other_key_and_no_other_algorithm_makes_one(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    _, session = await joined(desk, passwords)
    text = await mint(desk, session)
    with pytest.raises(BadSignatureError):
        jwt.decode(text, public_key(keys, "decision", desk.key.key_id), registry=OnlyEdDSA())
    for algorithm in ("none", "HS256", "Ed25519"):
        header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm}).encode()).rstrip(b"=").decode()
        with pytest.raises(JoseError):
            jwt.decode(
                f"{header}.{text.split('.', 1)[1]}",
                public_key(keys, "identity", desk.issuer.key_id),
                registry=OnlyEdDSA(),
            )


async def test_what_the_identity_key_signs_is_worth_nothing_as_a_decision(desk: Desk, keys: PublicKeys) -> None:
    at, subject = now(), uuid4()
    signed = desk.issuer.standing(
        audience="site", subject=subject, role="viewer", sessions_from=at, version=1, decided_at=at
    )
    assert keys.verify("identity", signed, Standing).subject == subject
    for duty, kind in (("decision", Standing), ("identity", SessionEnd)):
        with pytest.raises(BadSignature):
            keys.verify(duty, signed, kind)


async def test_a_person_has_one_name_at_the_site_and_another_installation_makes_another(desk: Desk) -> None:
    person = uuid4()
    elsewhere = Issuer(bytes(32), b"another secret", "http://x")
    assert desk.issuer.subject("site", person) == desk.issuer.subject("site", person)
    assert len({person, desk.issuer.subject("site", person), elsewhere.subject("site", person)}) == 3
    assert desk.issuer.subject("site", person).version == 4
    assert "another secret" not in repr(elsewhere)


async def test_nobody_who_is_shut_out_or_signed_out_gets_one(desk: Desk, passwords: Passwords) -> None:
    caller, session = await joined(desk, passwords)
    async with (
        desk.db.transaction() as tx
    ):  # the page was opened before; the session is put back to see the second lock
        await change_role(tx, desk.issuer, OWNER, UUID(caller.id), None, disabled=True)
    with pytest.raises(Unauthorized):
        await mint(desk, session)
    async with desk.db.transaction() as tx:
        again = await start_session(tx, UUID(caller.id))
    with pytest.raises(Unauthorized):
        await mint(desk, again)
    with pytest.raises(Unauthorized):
        await mint(desk, "a" * 43)


async def test_one_sign_in_gets_thirty_a_minute_however_many_ask_at_once(desk: Desk, passwords: Passwords) -> None:
    caller, session = await joined(desk, passwords)
    asked = await asyncio.gather(*(mint(desk, session) for _ in range(MINTS + 10)), return_exceptions=True)
    assert sum(isinstance(each, str) for each in asked) == MINTS
    assert sum(isinstance(each, TooMany) for each in asked) == 10
    async with desk.db.transaction() as tx:
        other = await start_session(tx, UUID(caller.id))
        await tx.raw.execute(
            "UPDATE app.sessions SET minted_from = $2 WHERE token_hash = $1",
            hash_token(session),
            now() - timedelta(seconds=61),
        )
    assert await mint(desk, other)
    assert await mint(desk, session)


async def test_after_signing_out_everywhere_a_new_token_is_newer_than_that(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    """A token's time has whole seconds; one of the same second would count as older."""
    caller, _ = await joined(desk, passwords)
    async with desk.db.transaction() as tx:
        await sign_out_everywhere(tx, desk.issuer, caller, UUID(caller.id), tokens=False)
        session = await start_session(tx, UUID(caller.id))
    text = await mint(desk, session)
    claims = jwt.decode(text, public_key(keys, "identity", desk.issuer.key_id), registry=OnlyEdDSA()).claims
    [row] = await desk.rows(
        "SELECT max(sessions_from) AS since FROM app.standings WHERE person_id = $1", UUID(caller.id)
    )
    assert claims["iat"] >= row["since"].timestamp()


async def test_a_role_in_a_token_is_the_one_of_this_moment(desk: Desk, passwords: Passwords, keys: PublicKeys) -> None:
    caller, _ = await joined(desk, passwords, "admin")
    async with desk.db.transaction() as tx:
        await change_role(tx, desk.issuer, OWNER, UUID(caller.id), "viewer", disabled=None)
        session = await start_session(tx, UUID(caller.id))
    text = await mint(desk, session)
    token = jwt.decode(text, public_key(keys, "identity", desk.issuer.key_id), registry=OnlyEdDSA())
    assert token.claims["role"] == "viewer"


@pytest.mark.parametrize("nonce", ["", "a" * 63, "A" * 64, "g" * 64, NONCE + "0", NONCE + "\n", "é" * 64])
def test_what_is_no_nonce_is_refused(nonce: str) -> None:
    with pytest.raises(Refused):
        check_nonce(nonce)


@pytest.mark.parametrize("place", ["", "x", "//evil.example", "/\\evil.example", "https://evil.example", "/a\n", "/" + "a" * 2000])  # fmt: skip
def test_next_is_a_path_at_the_receiver(place: str) -> None:
    with pytest.raises(Refused):
        check_place(place)


def test_audiences() -> None:
    assert check_place("/doc/en/x?q=1#y") == "/doc/en/x?q=1#y"
    for other in ("", "console", "bridge", "Site", "site,agent"):
        with pytest.raises(Refused):
            check_audience(other)


def test_a_caller_knows_who_invites_guests() -> None:
    able = [
        role for role in ("owner", "admin", "moderator", "member", "viewer") if Caller("x", "X", role).may("guests")
    ]  # type: ignore[arg-type]
    assert able == ["owner", "admin"]
