"""Keys of the API, delegations, settings and zones at the agent: what was signed counts, and for its owner alone (S5, S8, S10, rules 6 and 24)."""

import base64
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from schemas.agency import AgentSetting
from schemas.bridge.v1 import KeyRecorded
from schemas.console.v1 import SettingDecided
from schemas.outward import Delegation, Owner
from schemas.statements import GateEntry, KeyChange
from schemas.text import sha256
from services.agent.owners import store
from services.agent.owners.access import AccessKeys
from services.agent.owners.deciders import Deciders
from services.agent.owners.domain import GUESTS
from services.agent.owners.settings import read_rules
from services.agent.owners.usecases.keep_zone import keep_zone
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature, Refused
from shared.signing import SigningKey
from shared.testing.servers import Servers
from tests.factories.owners import OwnerOffice, opening, owner_office


@pytest.fixture
async def office(servers: Servers) -> AsyncIterator[OwnerOffice]:
    async with owner_office(servers) as found:
        yield found


class _Undone(Exception):
    """What was planted goes with it."""


async def test_a_key_opens_as_its_person_and_as_the_narrower_role(office: OwnerOffice) -> None:
    who = await office.person("member")
    token = await office.key_of(who, role="owner")
    found = await office.access.find(token)
    assert found is not None and (found.subject, found.role) == (who, "member")
    await office.person("owner", who)
    viewer = await office.key_of(who, role="viewer")
    narrow = await office.access.find(viewer)
    assert narrow is not None and narrow.role == "viewer"


async def test_what_is_no_key_opens_nothing(office: OwnerOffice) -> None:
    who = await office.person("owner")
    token = await office.key_of(who)
    for wrong in (
        "",
        "x",
        token[:-1],
        token + "x",
        token.upper(),
        "schleuse_ak_",
        "schleuse_ak_ä",
        token.replace("_ak_", "_at_"),
    ):
        assert await office.access.find(wrong) is None, wrong


async def test_a_key_that_is_taken_back_over_or_of_somebody_shut_out_opens_nothing(office: OwnerOffice) -> None:
    who = await office.person("owner")
    access_id = uuid4()
    token = await office.key_of(who, access_id=access_id)
    assert await office.access.find(token) is not None
    await office.tell_access(office.said_of(token, who, access_id=access_id, revoked=True, version=2))
    assert await office.access.find(token) is None
    await office.tell_access(office.said_of(token, who, access_id=access_id, version=1))  # an old word comes late
    assert await office.access.find(token) is None
    over = await office.key_of(who, expires_at=now() - timedelta(seconds=1))
    assert await office.access.find(over) is None
    other = await office.key_of(who)
    await office.person(None, who)
    assert await office.access.find(other) is None
    assert await office.access.find(await office.key_of(uuid4())) is None, "nobody told us of them"


async def test_a_key_from_before_a_restore_opens_nothing(office: OwnerOffice) -> None:
    who = await office.person("owner")
    old, restored_at = await office.key_of(who), now()
    access = AccessKeys(office.db, office.keys, restored_at)
    assert await access.find(old) is None
    assert await access.find(await office.key_of(who)) is not None


async def test_a_word_on_a_key_that_nobody_may_give_is_refused(office: OwnerOffice) -> None:
    who, token = await office.person("owner"), "schleuse_ak_" + secrets.token_urlsafe(32)
    good = office.said_of(token, who)
    with pytest.raises(BadSignature):
        await office.tell_access(
            good.model_copy(update={"payload": good.payload.replace(b'"viewer"', b'"owner"') + b" "})
        )
    office.identity, kept = office.decision, office.identity
    with pytest.raises(BadSignature):
        await office.tell_access(office.said_of(token, who))  # signed by the key for another duty
    office.identity = kept
    with pytest.raises(BadSignature, match="an hour"):
        await office.tell_access(office.said_of(token, who, kind="token", expires_at=now() + timedelta(hours=2)))
    access_id = uuid4()
    await office.tell_access(office.said_of(token, who, access_id=access_id))
    with pytest.raises(BadSignature, match="another key"):
        await office.tell_access(office.said_of("schleuse_ak_other", who, access_id=access_id, version=2))


async def test_a_row_of_a_key_that_was_not_said_is_not_believed(office: OwnerOffice) -> None:
    who, other = await office.person("viewer"), await office.person("owner")
    token = "schleuse_ak_" + secrets.token_urlsafe(32)
    good = office.said_of(token, who)
    insert = "INSERT INTO core.access (access_id, version, token_hash, subject, statement, signature, key_id) VALUES ($1, 1, $2, $3, $4, $5, $6)"
    stolen = "schleuse_ak_" + secrets.token_urlsafe(32)
    async with office.db.transaction() as tx:
        await tx.raw.execute(insert, uuid4(), sha256(stolen.encode()), who, good.payload, good.signature, good.key_id)
        await tx.raw.execute(insert, uuid4(), sha256(token.encode()), other, good.payload, good.signature, good.key_id)
    assert await office.access.find(stolen) is None, "the statement is of another key"
    assert await office.access.find(token) is None, "the row names another person"


async def test_a_delegation_is_its_owners_the_newest_and_in_time(office: OwnerOffice) -> None:
    who, other = await office.person("member"), await office.person("member")
    mine, theirs = (Owner(kind="user", id=str(each)) for each in (who, other))
    assert await office.delegations.of(mine) is None
    with pytest.raises(Refused, match="Open the workspace once"):
        await office.delegations.need(mine)
    newer = office.delegation(mine)
    older = office.delegation(mine, issued_at=now() - timedelta(hours=1), expires_at=now() + timedelta(hours=1))
    for signed in (newer, older):
        await office.delegate(signed)
    assert await office.delegations.of(mine) == newer
    assert await office.delegations.of(theirs) is None
    assert await office.delegations.of(Owner(kind="guest", id=str(who))) is None
    await office.person(None, who)
    assert await office.delegations.of(mine) is None, "shut out since"


async def test_a_delegation_in_another_owners_row_or_over_is_none(office: OwnerOffice) -> None:
    who, other = await office.person("member"), await office.person("member")
    mine, theirs = (Owner(kind="user", id=str(each)) for each in (who, other))
    signed = office.delegation(theirs)
    async with office.db.owned(mine) as tx:
        found = office.keys.verify("identity", signed, Delegation)
        await store.keep_delegation(tx, found.model_copy(update={"owner": mine}), signed)
    assert await office.delegations.of(mine) is None
    late = now() - timedelta(hours=13)
    await office.delegate(office.delegation(theirs, issued_at=late, expires_at=late + timedelta(hours=12)))
    assert await office.delegations.of(theirs) is None


@pytest.mark.parametrize("changed", [{"audience": "site"}, {"owner": Owner(kind="guest", id="g")}])
async def test_a_delegation_for_others_is_refused(office: OwnerOffice, changed: dict[str, object]) -> None:
    with pytest.raises(BadSignature):
        await office.delegate(office.delegation(**{"owner": Owner(kind="user", id=str(uuid4())), **changed}))  # type: ignore[arg-type]


async def test_settings_count_in_their_order_and_say_why_not(office: OwnerOffice) -> None:
    person = f"user:{uuid4()}"
    account = Owner(kind="user", id=person.removeprefix("user:"))
    everybody = office.settings.cap_of(account)
    assert (await office.decide(office.setting("cap", person, "2.50", 0)))["outcome"] == "applied"
    assert office.settings.cap_of(account) == Decimal("2.50")
    late = await office.decide(office.setting("cap", person, "9", 0))
    assert late["outcome"] == "refused" and "meanwhile" in late["reason"] and late["version"] == 1
    assert (await office.decide(office.setting("cap", person, "none", 1)))["outcome"] == "applied"
    assert office.settings.cap_of(account) is None
    assert (await office.decide(office.setting("cap", person, "", 2)))["outcome"] == "applied"
    assert office.settings.cap_of(account) == everybody


@pytest.mark.parametrize(
    ("name", "subject", "value"),
    [("cap", "users", "-1"), ("cap", "users", ""), ("cap", "user:7", "1"), ("cap", "", "1"), ("model", "x", ""), ("model", "", "gpt"), ("proposals", "", "yes")],
)  # fmt: skip
async def test_a_setting_that_can_be_none_changes_nothing(
    office: OwnerOffice, name: str, subject: str, value: str
) -> None:
    before = office.settings.cap_of(GUESTS)
    told = await office.decide(office.setting(name, subject, value, await office.prior(name, subject)))
    assert told["outcome"] == "refused" and told["reason"]
    assert office.settings.cap_of(GUESTS) == before and office.settings.may_propose()


async def test_a_setting_counts_by_a_person_who_came_by_the_console_alone(office: OwnerOffice) -> None:
    prior = await office.prior("cap", "users")
    stranger = SigningKey(secrets.token_bytes(32))
    for bad in (
        office.setting("cap", "users", "100", prior, stranger),
        office.setting("cap", "users", "100", prior, office.identity),
        office.setting("cap", "users", "100", prior, via="agent"),
        office.setting("cap", "users", "100", prior).model_copy(update={"opening": opening("another")}),
    ):
        with pytest.raises(BadSignature):
            await office.decide(bad)
    assert await office.prior("cap", "users") == prior


async def test_the_same_setting_twice_is_one(office: OwnerOffice) -> None:
    person = f"user:{uuid4()}"
    data = office.setting("cap", person, "3", 0)
    await office.decide(data)
    await office.decide(data)
    assert await office.prior("cap", person) == 1


async def test_a_row_that_nobody_signed_shuts_everything_that_costs(office: OwnerOffice) -> None:
    """Fail closed: nobody can tell which of the rows is the false one."""
    person = Owner(kind="user", id=str(uuid4()))
    forged = office.setting("cap", str(person), "1000000", 0, SigningKey(secrets.token_bytes(32)))
    with pytest.raises(_Undone):
        async with office.db.transaction() as tx:
            await store.add_statement(
                tx, "schleuse.agent-setting.v1", f"setting:cap:{person}", forged.statement, forged.opening
            )
            rules = await read_rules(tx, office.keys)
            assert rules.shut and rules.cap_of(person) == 0 and rules.cap_of(GUESTS) == 0
            assert rules.model() is None and not rules.may_propose()
            raise _Undone


async def test_a_key_of_the_gates_log_decides_until_it_is_revoked(office: OwnerOffice, servers: Servers) -> None:
    gate = SigningKey.load(servers.settings("bridge").keys / "gate.key")
    fresh = SigningKey(secrets.token_bytes(32))
    deciders, person = Deciders(office.keys), f"user:{uuid4()}"
    by_fresh = office.setting("cap", person, "1", 0, fresh)
    with pytest.raises(_Undone):
        async with office.db.transaction() as tx:
            with pytest.raises(BadSignature):
                await _verified(tx, deciders, by_fresh)
            added = _entry(office, gate, fresh, "added")
            assert await deciders.record(tx, added)
            await _verified(tx, deciders, by_fresh)
            assert not await deciders.record(tx, added), "the same entry twice changes nothing"
            await deciders.record(tx, _entry(office, gate, fresh, "revoked"))
            with pytest.raises(BadSignature, match="revoked"):
                await _verified(tx, deciders, by_fresh)
            with pytest.raises(BadSignature):
                await deciders.record(tx, _entry(office, fresh, fresh, "added"))  # the gate did not sign it
            raise _Undone


def _entry(office: OwnerOffice, gate: SigningKey, subject: SigningKey, action: str) -> KeyRecorded:
    change = KeyChange(
        key_id=office.decision.key_id, action=action, subject_key_id=subject.key_id, subject_public_key=base64.b64encode(subject.public).decode(),
        decided_at=now(), decider="0" * 64,
    )  # fmt: skip
    signed = office.decision.sign(change)
    entry = GateEntry(key_id=gate.key_id, seq=1, previous="0" * 64, entry="key", statement_hash=signed.hash, at=now())
    return KeyRecorded(change=signed, gate=gate.sign(entry))


async def _verified(tx: Tx, deciders: Deciders, data: SettingDecided) -> None:
    await deciders.verify_by(tx, data.statement, data.opening, AgentSetting)


async def test_a_zone_is_kept_and_an_unknown_one_is_said(office: OwnerOffice) -> None:
    who = Owner(kind="user", id=str(uuid4()))
    async with office.db.owned(who) as tx:
        assert (await keep_zone(tx, who, "Nowhere/Land")).name == "UTC"
        assert await keep_zone(tx, who, "Europe/Berlin") == (await keep_zone(tx, who, "Europe/Berlin"))
        kept = await keep_zone(tx, who, "<b>Mars\u202e")
        assert kept.name == "Europe/Berlin" and "'<b>Mars'" in kept.notice and "Europe/Berlin" in kept.notice
        assert await store.zone_of(tx, who) == "Europe/Berlin"
    async with office.db.owned(Owner(kind="guest", id=who.id)) as tx:
        assert await store.zone_of(tx, who) is None, "the same id of another kind is somebody else"
