"""Keys of the agent's API, delegations, and the agent's settings at the console: who may, what is signed, what is told, and when."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agency import Access, AgentSetting
from schemas.agent.v1 import SettingApplied
from schemas.outward import Delegation
from schemas.statements import Opening, Signed
from services.console.access import store
from services.console.access.domain import MOST_KEYS, Wanted
from services.console.access.usecases.create_access import create_access
from services.console.access.usecases.end_restored import end_restored
from services.console.access.usecases.revoke_access import revoke_access
from services.console.agency.domain import check_wanted
from services.console.agency.usecases.record_setting import record_setting, record_setting_refused
from services.console.agency.usecases.set_setting import set_setting
from services.console.agency.usecases.show_settings import show_settings
from services.console.delegations.usecases.issue_delegation import issue_delegation
from services.console.delegations.usecases.renew_due import renew_due
from services.console.identity.usecases.mint_token import mint_token
from services.console.people.domain import OPERATOR, Caller, hash_token
from services.console.people.passwords import Passwords
from services.console.people.usecases.change_role import change_role
from services.console.people.usecases.sign_out_everywhere import sign_out_everywhere
from shared.clock import now
from shared.errors import Conflict, Forbidden, NotFound, Refused
from shared.signing import PublicKeys
from tests.services.console.conftest import Desk
from tests.services.console.joining import OWNER, joined, standings


async def told(desk: Desk, name: str, key: str) -> list[dict[str, Any]]:
    rows = await desk.rows("SELECT body FROM app.outbox WHERE name = $1 AND key = $2 ORDER BY position", name, key)
    return [json.loads(row["body"]) for row in rows]


async def said_of_key(desk: Desk, access_id: UUID, keys: PublicKeys) -> list[Access]:
    found = await told(desk, "access.stated", f"access:{access_id}")
    return [keys.verify("identity", Signed.model_validate(each["data"]["access"]), Access) for each in found]


async def delegations(desk: Desk, person_id: str, keys: PublicKeys) -> list[Delegation]:
    found = await told(desk, "delegation.issued", f"delegation:{person_id}")
    return [keys.verify("identity", Signed.model_validate(each["data"]["delegation"]), Delegation) for each in found]


async def make(desk: Desk, caller: Caller, person_id: str, wanted: Wanted) -> tuple[UUID, str]:
    async with desk.db.transaction() as tx:
        return await create_access(tx, desk.issuer, caller, UUID(person_id), wanted)


async def test_a_key_is_stated_with_its_person_and_stands_nowhere(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, _ = await joined(desk, passwords, "member")
    access_id, key = await make(desk, caller, caller.id, Wanted("apikey", "Editor", "viewer"))
    assert key.startswith("schleuse_ak_")
    [said] = await said_of_key(desk, access_id, keys)
    assert (str(said.subject), said.role, said.token_hash, said.revoked) == (
        caller.id,
        "viewer",
        hash_token(key),
        False,
    )
    assert (said.made_by, said.expires_at, said.version) == (caller.name, None, 1)
    first, again = await standings(desk, caller.id, keys), await delegations(desk, caller.id, keys)
    newest = [each for each in first if each.audience == "agent"][-1]
    assert newest.role == "member" and newest.sessions_from < said.issued_at, "nobody is signed out by it"
    assert str(again[0].owner) == f"user:{caller.id}" and "audit.search" in again[0].operations
    everything = await desk.rows(
        "SELECT convert_from(body, 'UTF8') AS text FROM app.outbox UNION ALL SELECT row_to_json(k)::text FROM app.access_keys k"
    )
    assert not [row for row in everything if key in row["text"]]


async def test_a_key_is_taken_back_by_its_person_and_by_the_operator_alone(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    mine, _ = await joined(desk, passwords, "member")
    other, _ = await joined(desk, passwords, "owner")
    access_id, _ = await make(desk, OPERATOR, mine.id, Wanted("token", "chat"))
    async with desk.db.transaction() as tx:
        for stranger, which in ((other, access_id), (mine, uuid4())):
            with pytest.raises(NotFound):
                await revoke_access(tx, desk.issuer, stranger, which)
        assert await revoke_access(tx, desk.issuer, mine, access_id)
        assert not await revoke_access(tx, desk.issuer, OPERATOR, access_id)
        assert access_id not in [row["id"] for row in await store.listed(tx, now())]
    first, over = await said_of_key(desk, access_id, keys)
    assert (first.made_by, first.kind, over.revoked, over.version) == ("Operator", "token", True, 2)
    assert first.expires_at is not None and first.expires_at - first.issued_at == timedelta(hours=1)


async def test_who_may_have_no_key(desk: Desk, passwords: Passwords) -> None:
    member, _ = await joined(desk, passwords, "member")
    with pytest.raises(Forbidden, match="cannot act as admin"):
        await make(desk, member, member.id, Wanted("apikey", "x", "admin"))
    with pytest.raises(NotFound):
        await make(desk, OWNER, member.id, Wanted("apikey", "x"))
    with pytest.raises(NotFound):
        await make(desk, OPERATOR, str(uuid4()), Wanted("apikey", "x"))
    for wanted in (Wanted("apikey", ""), Wanted("apikey", "x", "king"), Wanted("token", "x", "", timedelta(hours=2))):
        with pytest.raises(Refused):
            await make(desk, member, member.id, wanted)
    async with desk.db.transaction() as tx:
        await change_role(tx, desk.issuer, OWNER, UUID(member.id), None, disabled=True)
    with pytest.raises(Refused, match="shut out"):
        await make(desk, OPERATOR, member.id, Wanted("apikey", "x"))


async def test_nobody_has_more_keys_than_a_person_can_look_through(desk: Desk, passwords: Passwords) -> None:
    member, _ = await joined(desk, passwords, "member")
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            """INSERT INTO app.access_keys (id, person_id, kind, name, role, token_hash, made_by, created_at, version)
            SELECT gen_random_uuid(), $1, 'apikey', 'x', 'viewer', encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 'x', now(), 1 FROM generate_series(1, $2)""",
            UUID(member.id), MOST_KEYS,
        )  # fmt: skip
    with pytest.raises(Refused, match="revoke some"):
        await make(desk, member, member.id, Wanted("apikey", "x"))


async def test_keys_from_before_a_restore_end(desk: Desk, passwords: Passwords, keys: PublicKeys) -> None:
    member, _ = await joined(desk, passwords, "member")
    old, _ = await make(desk, member, member.id, Wanted("apikey", "old"))
    restored_at = now()
    new, _ = await make(desk, member, member.id, Wanted("apikey", "new"))
    async with desk.db.transaction() as tx:
        assert await end_restored(tx, desk.issuer, restored_at) >= 1
        assert await end_restored(tx, desk.issuer, restored_at) == 0
    assert [each.revoked for each in await said_of_key(desk, old, keys)] == [False, True]
    assert [each.revoked for each in await said_of_key(desk, new, keys)] == [False]


async def test_signing_out_everywhere_takes_keys_too_when_one_says_so(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    member, _ = await joined(desk, passwords, "member")
    made = [await make(desk, member, member.id, Wanted("apikey", f"key {at}")) for at in range(2)]
    async with desk.db.transaction() as tx:
        assert await sign_out_everywhere(tx, desk.issuer, member, UUID(member.id), tokens=False) == 0
        assert await sign_out_everywhere(tx, desk.issuer, member, UUID(member.id), tokens=True) == 2
    for access_id, _ in made:
        assert [each.revoked for each in await said_of_key(desk, access_id, keys)] == [False, True]


async def test_the_agent_may_act_for_whoever_goes_there_and_is_told_anew_when_connectors_change(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    caller, session = await joined(desk, passwords, "member")
    for audience in ("site", "agent", "agent"):
        await mint_token(desk.db, desk.issuer, hash_token(session), audience, "0" * 64)
    [first] = await delegations(desk, caller.id, keys)
    assert first.audience == "agent" and first.expires_at - first.issued_at == timedelta(hours=12)
    name = f"llm-{uuid4().hex[:8]}"
    try:
        async with desk.db.transaction() as tx:
            await tx.raw.execute(
                "INSERT INTO app.connectors (name, kind, enabled, hosts, settings, statement_hash, at, version) VALUES ($1, 'llm', false, '{}', '{}', '', now(), 1)",
                name,
            )  # fmt: skip
            assert await issue_delegation(tx, desk.issuer, UUID(caller.id), now())
            assert not await issue_delegation(tx, desk.issuer, UUID(caller.id), now())
            assert await issue_delegation(tx, desk.issuer, UUID(caller.id), now() + timedelta(hours=7)), (
                "before it ends"
            )
        newest = (await delegations(desk, caller.id, keys))[-1]
        assert f"{name}.chat" in newest.operations and f"{name}.messages" in newest.operations
    finally:
        async with desk.db.transaction() as tx:
            await tx.raw.execute("DELETE FROM app.connectors WHERE name = $1", name)


async def test_delegations_are_renewed_for_whoever_is_here_and_for_nobody_else(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    here, _ = await joined(desk, passwords, "member")
    keyed, _ = await joined(desk, passwords, "member")
    gone, _ = await joined(desk, passwords, "member")
    await make(desk, keyed, keyed.id, Wanted("apikey", "x"))
    async with desk.db.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.sessions WHERE person_id = ANY ($1)", [UUID(keyed.id), UUID(gone.id)])
        await tx.raw.execute("UPDATE app.delegations SET expires_at = now() + interval '1 hour' WHERE person_id = $1", UUID(keyed.id))  # fmt: skip
    while True:
        async with desk.db.transaction() as tx:
            if await renew_due(tx, desk.issuer, 100) < 100:
                break
    assert [len(await delegations(desk, each.id, keys)) for each in (here, keyed, gone)] == [1, 2, 0]
    async with desk.db.transaction() as tx:
        assert await renew_due(tx, desk.issuer, 100) == 0, "nobody is told twice"


async def test_somebody_whose_row_is_in_use_is_not_left_out_until_the_next_look(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    """A row that points at a person holds that person's: the next look may be a minute away."""
    busy, _ = await joined(desk, passwords, "member")
    async with desk.db.transaction() as other:
        await other.raw.execute("SELECT 1 FROM app.people WHERE id = $1 FOR KEY SHARE", UUID(busy.id))
        while True:
            async with desk.db.transaction() as tx:
                if await renew_due(tx, desk.issuer, 100) < 100:
                    break
        assert len(await delegations(desk, busy.id, keys)) == 1


async def put(desk: Desk, name: str, subject: str, value: str, caller: Caller = OWNER, **more: Any) -> str:
    async with desk.db.transaction() as tx:
        return await set_setting(tx, desk.key, caller, check_wanted(name, subject, value), "because", **more)


async def applied(desk: Desk, digest: str, name: Any, subject: str, value: str, version: int, reason: str = "") -> None:
    fact = SettingApplied(
        name=name, subject=subject, value=value, outcome="refused" if reason else "applied", reason=reason, statement_hash=digest,
        at=now(), version=version,
    )  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_setting(tx, fact)


async def test_a_setting_is_signed_in_force_when_the_agent_says_so_and_shown_with_who_and_why(
    desk: Desk, passwords: Passwords, keys: PublicKeys
) -> None:
    person, _ = await joined(desk, passwords, "member")
    subject = f"user:{person.id}"
    digest = await put(desk, "cap", subject, " 2.5 ")
    [event] = await told(desk, "setting.decided", f"agent:cap:{subject}")
    said = keys.verify("decision", Signed.model_validate(event["data"]["statement"]), AgentSetting)
    opening = Opening.model_validate(event["data"]["opening"])
    assert (said.value, said.prior_version, said.decider) == ("2.5", 0, opening.commitment)
    assert (opening.person_name, opening.reason, opening.via) == (OWNER.name, "because", OWNER.via)
    with pytest.raises(Conflict, match="on its way"):
        await put(desk, "cap", subject, "9")
    async with desk.db.reading() as tx:
        [coming] = [each for each in await show_settings(tx) if each.subject == subject]
    assert coming.coming is not None and coming.value == ""
    await applied(desk, digest, "cap", subject, "2.5", 1)
    async with desk.db.reading() as tx:
        [shown] = [each for each in await show_settings(tx) if each.subject == subject]
    assert shown.row is not None and shown.coming is None
    assert (shown.in_words, shown.row["by_name"], shown.row["reason"]) == ("$2.50 in 24 hours", OWNER.name, "because")
    assert person.name in shown.title
    with pytest.raises(Conflict, match="somebody else"):
        await put(desk, "cap", subject, "3", version=0)
    digest = await put(desk, "cap", subject, "", version=1)
    await applied(desk, digest, "cap", subject, "", 2)
    async with desk.db.reading() as tx:
        assert not [each for each in await show_settings(tx) if each.subject == subject], "as everybody again"


async def test_a_refused_setting_says_why_and_another_can_be_made(desk: Desk, passwords: Passwords) -> None:
    person, _ = await joined(desk, passwords, "member")
    subject = f"user:{person.id}"
    by_agent = await put(desk, "cap", subject, "1")
    await applied(desk, by_agent, "cap", subject, "1", 0, "set meanwhile")
    by_lock = await put(desk, "cap", subject, "1")
    async with desk.db.transaction() as tx:
        assert await record_setting_refused(tx, by_lock, "revoked_key: gone")
        assert not await record_setting_refused(tx, "0" * 64, "another's")
    rows = await desk.rows("SELECT outcome, outcome_reason FROM app.agent_setting_changes WHERE subject = $1 ORDER BY at", subject)  # fmt: skip
    assert [tuple(row.values()) for row in rows] == [("refused", "set meanwhile"), ("refused", "revoked_key: gone")]


async def test_who_sets_what_there_is_not_is_told(desk: Desk, passwords: Passwords) -> None:
    member, _ = await joined(desk, passwords, "moderator")
    with pytest.raises(Forbidden):
        await put(desk, "proposals", "", "off", member)
    with pytest.raises(NotFound):
        await put(desk, "cap", f"user:{uuid4()}", "1")
    with pytest.raises(Refused, match="not declared"):
        await put(desk, "model", "", "nothing/gpt")
    for name, subject, value in (("cap", "users", "-1"), ("colour", "", "red"), ("cap", "users", "5 dollars")):
        with pytest.raises(Refused):
            await put(desk, name, subject, value)
