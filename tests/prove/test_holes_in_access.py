"""Holes in who reaches the agent, for whom it acts, and by whose word it works (S3, S5, S7, S8, S10): planted, found, healed."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from infra.prove.areas.access import check_door, check_kept, check_said
from infra.prove.areas.owners import check_delegations, check_settings
from infra.prove.target import Target
from schemas.agency import Access, AgentSetting
from schemas.outward import Delegation, Owner
from schemas.statements import Opening, Signed, Statement
from schemas.text import sha256
from shared.clock import now
from shared.signing import SigningKey
from tests.factories.people import OWNER, become_owner
from tests.factories.stack import Stack
from tests.factories.waiting import until
from tests.prove.conftest import Proving
from tests.prove.planting import Hole, by_sql, failures, named, rows, run, see

HEAL = """ALTER TABLE core.{t} DISABLE TRIGGER no_change
DELETE FROM core.{t} WHERE {where}
ALTER TABLE core.{t} ENABLE ALWAYS TRIGGER no_change"""
"""As the superuser: nobody else can take a row of these tables away."""


def console_key(stack: Stack, duty: str) -> SigningKey:
    return SigningKey.load(stack.layout.keys / "console" / f"{duty}.key")


def access(key: SigningKey, **changed: object) -> Signed:
    fields = {
        "access_id": uuid4(), "kind": "apikey", "subject": uuid4(), "person_name": "x", "name": "plant", "role": "owner",
        "token_hash": secrets.token_hex(32), "made_by": "plant", "issued_at": now(), "version": 1,
    }  # fmt: skip
    return key.sign(Access.model_validate({"key_id": key.key_id, **fields, **changed}))


def put_access(stack: Stack, signed: Signed, token_hash: str = "") -> None:
    said = Access.from_bytes(signed.payload)
    run(
        stack,
        "agent_db",
        "INSERT INTO core.access (access_id, version, token_hash, subject, statement, signature, key_id) VALUES "
        f"('{said.access_id}', {said.version}, '{token_hash or said.token_hash}', '{said.subject}', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}')",
    )  # fmt: skip


def _by_stranger(stack: Stack) -> None:
    put_access(stack, access(SigningKey(secrets.token_bytes(32))))


def _of_nobody(stack: Stack) -> None:
    put_access(stack, access(console_key(stack, "identity")))


def _another_hash(stack: Stack) -> None:
    put_access(stack, access(console_key(stack, "identity"), revoked=True), sha256(b"another"))


def _planted(where: str) -> Callable[[Stack], None]:
    return lambda stack: run(stack, "agent_db", HEAL.format(t="access", where=where))


_MADE = "convert_from(statement, 'UTF8') LIKE '%\"made_by\":\"plant\"%'"


def put_statement(stack: Stack, signed: Signed, purpose: str, opening: Opening) -> None:
    said = ", ".join(f"'{getattr(opening, name)}'" for name in ("person_id", "person_name", "via", "reason", "nonce"))
    run(
        stack,
        "agent_db",
        "INSERT INTO core.statements (purpose, subject, statement, signature, key_id, statement_hash, person_id, person_name, via, reason, nonce) VALUES "
        f"('{purpose}', 'plant', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', '{signed.hash}', {said})",
    )  # fmt: skip


OPENING = Opening(person_id="p", person_name="Ada", via="console", reason="plant", nonce="plant")


def _setting(key: SigningKey, prior: int = 0) -> AgentSetting:
    return AgentSetting(
        key_id=key.key_id, name="cap", subject=f"user:{uuid4()}", value="none", decided_at=now(), decider=OPENING.commitment, prior_version=prior
    )  # fmt: skip


def _unsigned_setting(stack: Stack) -> None:
    key = SigningKey(secrets.token_bytes(32))
    put_statement(stack, key.sign(_setting(key)), AgentSetting.PURPOSE, OPENING)


def _setting_of_another(stack: Stack) -> None:
    key = console_key(stack, "decision")
    other = OPENING.model_copy(update={"person_name": "Somebody else"})
    put_statement(stack, key.sign(_setting(key)), AgentSetting.PURPOSE, other)


def _setting_out_of_order(stack: Stack) -> None:
    key = console_key(stack, "decision")
    put_statement(stack, key.sign(_setting(key, 5)), AgentSetting.PURPOSE, OPENING)


def _no_statement(stack: Stack) -> None:
    """The agent believes its settings again by itself."""
    run(stack, "agent_db", HEAL.format(t="statements", where="reason = 'plant'"))
    until(lambda: "agent settings" not in stack.red(), 10, "the agent believes its settings")


def put_delegation(stack: Stack, key: SigningKey, whose: str, **changed: object) -> None:
    fields = {
        "delegation_id": uuid4(),
        "owner": Owner(kind="user", id="plant"),
        "audience": "agent",
        "operations": ("llm.chat",),
    }
    times = {"issued_at": now(), "expires_at": now() + timedelta(hours=1)}
    said: Statement = Delegation.model_validate({"key_id": key.key_id, **fields, **times, **changed})
    signed = key.sign(said)
    run(
        stack,
        "agent_db",
        "INSERT INTO core.delegations (owner_kind, owner_id, statement, signature, key_id, issued_at, expires_at) VALUES "
        f"('user', '{whose}', '\\x{signed.payload.hex()}', '\\x{signed.signature.hex()}', '{signed.key_id}', now(), now())",
    )  # fmt: skip


def _no_delegation(stack: Stack) -> None:
    run(stack, "agent_db", HEAL.format(t="delegations", where="owner_id LIKE 'plant%'"))


HOLES = [
    Hole("a key that nobody signed", check_said, "identity key signed", _by_stranger, _planted(_MADE)),
    Hole("a setting that nobody signed", check_settings, "signed by a person's key", _unsigned_setting, _no_statement),
    Hole(
        "a delegation in another owner's row",
        check_delegations,
        "it is for user:plant",
        lambda stack: put_delegation(stack, console_key(stack, "identity"), "plant-2"),
        _no_delegation,
    ),
]
MORE = [
    by_sql(
        "a key kept as it is",
        check_kept,
        "kept as hashes",
        "console_db",
        "INSERT INTO app.access_keys (id, person_id, kind, name, role, token_hash, made_by, created_at, version, revoked_at) SELECT gen_random_uuid(), id, 'apikey', 'plant', 'viewer', 'schleuse_ak_itself', 'plant', now(), 1, now() FROM app.people LIMIT 1",
        "DELETE FROM app.access_keys WHERE made_by = 'plant'",
    ),
    Hole(
        "a key of another hash than was signed",
        check_said,
        "columns say something else",
        _another_hash,
        _planted(_MADE),
    ),
    Hole("a key that the console has not made", check_said, "the console has none", _of_nobody, _planted(_MADE)),
    Hole(
        "a setting of another than was signed",
        check_settings,
        "commits to somebody else",
        _setting_of_another,
        _no_statement,
    ),
    Hole("a setting out of its order", check_settings, "out of its order", _setting_out_of_order, _no_statement),
    Hole(
        "a delegation by a stranger",
        check_delegations,
        "every delegation",
        lambda stack: put_delegation(stack, SigningKey(secrets.token_bytes(32)), "plant"),
        _no_delegation,
    ),
    Hole(
        "a delegation for a month",
        check_delegations,
        "long",
        lambda stack: put_delegation(
            stack, console_key(stack, "identity"), "plant", expires_at=now() + timedelta(days=30)
        ),
        _no_delegation,
    ),
]


@pytest.fixture
def told(proving: Proving, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """With an owner; what is planted is not on its way, so nobody waits for it."""
    become_owner(proving.stack)
    for area in ("access", "owners"):
        monkeypatch.setattr(f"infra.prove.areas.{area}.PATIENCE", 2)
    return proving.stack


@pytest.mark.stack
@pytest.mark.parametrize("hole", named(HOLES))
def test_a_hole_is_found_and_healed(told: Stack, hole: Hole) -> None:
    see(hole, told)


@pytest.mark.long
@pytest.mark.stack
@pytest.mark.parametrize("hole", named(MORE))
def test_more_holes_are_found_and_healed(told: Stack, hole: Hole) -> None:
    see(hole, told)


@pytest.mark.long
@pytest.mark.stack
def test_a_key_that_the_console_took_back_and_the_agent_did_not_hear_of_is_found(told: Stack) -> None:
    made = told.cli("apikey", "create", OWNER, "--name", "plant")
    mark = f"WHERE id = '{made['id']}'"
    see(
        by_sql(
            "",
            check_said,
            "is revoked at the console",
            "console_db",
            f"UPDATE app.access_keys SET revoked_at = now() {mark}",
            f"UPDATE app.access_keys SET revoked_at = NULL {mark}",
        ),
        told,
    )
    see(
        by_sql(
            "",
            check_said,
            "is good at the console",
            "console_db",
            f"UPDATE app.access_keys SET role = 'viewer' {mark}",
            f"UPDATE app.access_keys SET role = 'owner' {mark}",
        ),
        told,
    )
    told.cli("apikey", "revoke", made["id"])


@pytest.mark.stack
def test_the_door_of_a_sound_workspace(told: Stack) -> None:
    found = rows(check_door, Target.load(told.state))
    assert len(found) > 8 and not failures(found)
