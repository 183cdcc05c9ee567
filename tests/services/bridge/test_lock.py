"""The lock on a real database: what it holds and what it tells, decision by decision."""

import asyncio
from datetime import timedelta

import pytest

from schemas.bridge.v1 import ItemPublished
from schemas.statements import Decision, GateEntry
from schemas.text import sha256
from services.bridge import store
from services.bridge.usecases.publish_due import publish_due
from services.bridge.usecases.verify_gate import verify_gate
from shared.clock import now
from shared.signing import SigningKey
from tests.services.bridge.conftest import Lock, names, received, refused_by_database
from tests.services.bridge.makes import Signer, content, opening, revision


async def test_an_approved_revision_goes_to_the_site_with_both_signatures(lock: Lock) -> None:
    of = revision()
    assert names(await lock.submit(of)) == ["item.queued>console"]
    told = await lock.decide(of, "approve", prior=1)
    assert sorted(names(told)) == ["item.moved:approved>console", "item.moved:published>console", "item.published>site"]
    receipt = next(ItemPublished(**each["data"]) for each in told if each["to"] == "site")
    decision = lock.public.verify("decision", receipt.decision, Decision)
    entry = lock.public.verify("gate", receipt.gate, GateEntry)
    assert decision.content_hash == entry.content_hash == sha256(receipt.content) == of.content_hash
    assert entry.statement_hash == receipt.decision.hash


async def test_what_goes_to_the_site_carries_nobody_and_no_inner_id(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    told = await lock.decide(of, "approve", prior=1, who=opening("person-7", name="Tom Brandt", reason="because"))
    outward = next(each["envelope"] for each in told if each["to"] == "site")
    assert not {"actor", "causationid", "correlationid"} & set(outward)
    assert outward["id"][14] == "4", "a random id"
    import json  # noqa: PLC0415

    for inner in ("person-7", "Tom Brandt", "because"):
        assert inner not in json.dumps(outward)


async def test_pb01_two_moderators_approve_at_once(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    first, second = await asyncio.gather(
        lock.decide(of, "approve", prior=1, who=opening("tom")),
        lock.decide(of, "approve", prior=1, who=opening("eva", name="Eva Lind")),
    )
    told = {*names(first), *names(second)}
    assert "item.published>site" in told
    assert len(await lock.rows("SELECT FROM core.decisions WHERE item_id = $1", of.item_id)) == 1
    assert len(await lock.rows("SELECT FROM core.gate_log WHERE item_id = $1", of.item_id)) == 1
    refused = [each["data"] for each in (*first, *second) if each["name"] == "decision.refused"]
    assert refused and all(each["code"] == "conflict" and each["state"] == "published" for each in refused)
    assert any(name in refused[0]["reason"] for name in ("Tom Brandt", "Eva Lind")), "the second one sees who decided"


async def test_pb01_approve_against_reject_exactly_one_wins(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    await asyncio.gather(lock.decide(of, "approve", prior=1), lock.decide(of, "reject", prior=1))
    verdicts = await lock.rows("SELECT verdict FROM core.decisions WHERE item_id = $1", of.item_id)
    entries = await lock.rows("SELECT FROM core.gate_log WHERE item_id = $1", of.item_id)
    assert len(verdicts) == 1
    assert len(entries) == (verdicts[0]["verdict"] == "approve")


async def test_pb01_the_same_content_is_queued_once(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    again = await lock.submit(of)
    assert again[0]["data"]["unchanged"] is True
    await lock.decide(of, "approve", prior=1)
    after = await lock.submit(of)
    assert after[0]["data"]["unchanged"] is True
    assert len(await lock.rows("SELECT FROM core.revisions WHERE item_id = $1", of.item_id)) == 1


async def test_pb03_edits_wait_while_the_approved_text_stays(lock: Lock) -> None:
    of = revision(1, "Approved text.", path="pb03")
    await lock.submit(of)
    await lock.decide(of, "approve", prior=1)
    for number in range(2, 8):
        told = await lock.submit(revision(number, "Approved text." + " more words here"[: 15 * number], path="pb03"))
        assert not [each for each in told if each["to"] == "site"]
    async with lock.db.reading() as tx:
        assert await store.published_content(tx, of.item_id) == of.content, "each edit is compared with what is public"


async def test_a_decision_on_an_older_revision_is_a_conflict(lock: Lock) -> None:
    of = revision(1, "one", path="older")
    await lock.submit(of)
    await lock.submit(revision(2, "two", path="older"))
    told = await lock.decide(of, "approve", prior=1)
    assert told[0]["data"]["code"] == "conflict"
    assert told[0]["data"]["version"] == 3


async def test_approval_of_a_second_revision_supersedes_the_first(lock: Lock) -> None:
    of, edit = revision(1, "one", path="second"), revision(2, "two", path="second")
    await lock.submit(of)
    await lock.decide(of, "approve", prior=1)
    await lock.submit(edit)
    told = await lock.decide(edit, "approve", prior=4)
    moves = [(each["data"]["revision"], each["data"]["state"]) for each in told if each["name"] == "item.moved"]
    assert moves == [(2, "approved"), (1, "superseded"), (2, "published")]


async def test_a_withdrawal_is_an_entry_and_can_be_followed_by_a_new_approval(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    await lock.decide(of, "approve", prior=1)
    assert sorted(names(await lock.withdraw(of.item_id, 3))) == ["item.moved:withdrawn>console", "item.retracted>site"]
    twice = await lock.withdraw(of.item_id, 4)
    assert twice[0]["data"]["code"] == "conflict"
    assert (await lock.submit(of))[0]["data"]["revision"] == 2
    again = revision(2, path=of.path)
    assert "item.published>site" in names(await lock.decide(again, "approve", prior=5))


@pytest.mark.parametrize("sender", ["agent", "site", "connectors"])
async def test_nobody_but_the_console_decides(lock: Lock, sender: str) -> None:
    of = revision()
    await lock.submit(of)
    who = opening()
    event = received("item.decided", _decided(lock, of, who), sender)
    assert (await lock.deliver(event))[0]["data"]["code"] == "invalid"
    assert not await lock.rows("SELECT FROM core.decisions WHERE item_id = $1", of.item_id)


def _decided(lock: Lock, of, who):  # type: ignore[no-untyped-def]
    from schemas.console.v1 import ItemDecided  # noqa: PLC0415

    return ItemDecided(item_id=of.item_id, statement=lock.signer.decision(of, "approve", 1, who), opening=who)


async def test_a_replayed_decision_changes_nothing(lock: Lock) -> None:
    of, who = revision(), opening()
    await lock.submit(of)
    signed = lock.signer.decision(of, "approve", 1, who)
    await lock.decide(of, "approve", 1, who, signed=signed)
    again = await lock.decide(of, "approve", 1, who, signed=signed)
    assert names(again) == ["decision.refused>console"]


async def test_unknown_item_bad_signature_and_hash_swap(lock: Lock) -> None:
    unknown = await lock.decide(revision(), "approve", prior=1)
    assert unknown[0]["data"]["code"] == "unknown_item"
    of = revision()
    await lock.submit(of)
    forged = Signer(SigningKey(b"x" * 32)).decision(of, "approve", 1, who := opening())
    assert (await lock.decide(of, "approve", 1, who, signed=forged))[0]["data"]["code"] == "bad_signature"
    swapped = await lock.decide(of, "approve", 1, content_hash="0" * 64)
    assert swapped[0]["data"]["code"] == "invalid"


async def test_what_the_lock_stopped_cannot_be_approved_even_in_the_database(lock: Lock) -> None:
    of = revision(body="-----BEGIN PRIVATE KEY-----")
    queued = await lock.submit(of, blocked=True)
    assert queued[0]["data"]["state"] == "rejected"
    assert (await lock.decide(of, "approve", prior=1))[0]["data"]["code"] == "conflict"
    assert "cannot be approved" in await refused_by_database(lock.db, *_approval(lock, of, "tom"))


def _approval(lock: Lock, of, person: str, via: str = "console"):  # type: ignore[no-untyped-def]
    signed = lock.signer.decision(of, "approve", 1, opening(person))
    sql = """INSERT INTO core.decisions (event_id, item_id, revision, prior_version, verdict, statement, signature, key_id,
      statement_hash, person_id, person_name, via, reason, nonce)
      VALUES (gen_random_uuid(), $1, 1, 1, 'approve', $2, $3, $4, $5, $6, 'N', $7, '', 'n')"""
    return sql, of.item_id, signed.payload, signed.signature, signed.key_id, signed.hash, person, via


async def test_four_eyes_at_the_lock_and_in_the_database(lock: Lock) -> None:
    assert names(await lock.switch("four_eyes", "on")) == ["switch.applied>console"]
    of = revision(by="ada")
    await lock.submit(of)
    assert (await lock.decide(of, "approve", 1, opening("ada")))[0]["data"]["code"] == "four_eyes"
    assert (await lock.decide(of, "approve", 1, opening("op", via="operator")))[0]["data"]["code"] == "four_eyes"
    assert "four eyes" in await refused_by_database(lock.db, *_approval(lock, of, "ada"))
    assert "four eyes" in await refused_by_database(lock.db, *_approval(lock, of, "op", "operator"))
    assert "item.published>site" in names(await lock.decide(of, "approve", 1, opening("tom")))


async def test_while_frozen_approvals_are_refused_and_withdrawals_work(lock: Lock) -> None:
    public, waiting = revision(), revision()
    await lock.submit(public)
    await lock.decide(public, "approve", prior=1)
    await lock.submit(waiting)
    await lock.switch("publication_mode", "frozen")
    assert (await lock.decide(waiting, "approve", prior=1))[0]["data"]["code"] == "frozen"
    assert "item.retracted>site" in names(await lock.withdraw(public.item_id, 3))


async def test_the_site_mode_is_an_entry_of_the_gates_log(lock: Lock) -> None:
    assert sorted(names(await lock.switch("site_mode", "off"))) == ["mode.entered>site", "switch.applied>console"]
    for value in ("members", "open"):
        assert "mode.entered>site" in names(await lock.switch("site_mode", value))
    refused = await lock.switch("site_mode", "friends")
    assert refused[0]["data"]["code"] == "invalid"


async def test_a_scheduled_revision_is_published_when_its_time_has_come(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    told = await lock.decide(of, "approve", 1, publish_at=now() + timedelta(hours=1))
    assert names(told) == ["item.moved:approved>console", "item.moved:scheduled>console"]
    await lock.switch("publication_mode", "frozen")
    assert await lock.run(publish_due, of.item_id, 1, lock.gate, now()) == []
    await lock.switch("publication_mode", "review")
    due = await lock.run(publish_due, of.item_id, 1, lock.gate, now())
    assert sorted(names(due)) == ["item.moved:published>console", "item.published>site"]
    assert await lock.run(publish_due, of.item_id, 1, lock.gate, now()) == [], "once"


async def test_a_withdrawn_schedule_publishes_nothing(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    await lock.decide(of, "approve", 1, publish_at=now() + timedelta(hours=1))
    assert names(await lock.withdraw(of.item_id, 3)) == ["item.moved:withdrawn>console"]
    assert await lock.run(publish_due, of.item_id, 1, lock.gate, now()) == []


async def test_a_revoked_key_decides_no_more(lock: Lock) -> None:
    other = SigningKey(b"n" * 32)
    told = await lock.change_key("added", other)
    assert names(told) == ["key.recorded>site", "key.recorded>connectors", "key.recorded>agent", "key.applied>console"]
    applied = told[3]["data"]
    assert (applied["action"], applied["key_id"], applied["by"]["id"]) == ("added", other.key_id, "boss")
    of = revision()
    await lock.submit(of)
    new = Signer(other)
    assert names(await lock.change_key("revoked", other)) == names(told)
    signed = new.decision(of, "approve", 1, who := opening())
    assert (await lock.decide(of, "approve", 1, who, signed=signed))[0]["data"]["code"] == "revoked_key"
    assert "item.published>site" in names(await lock.decide(of, "approve", 1))


async def test_the_agents_proposal_is_the_agents_whatever_it_says(lock: Lock) -> None:
    of = revision(by="tom")
    told = await lock.submit(of, sender="agent")
    assert told[0]["data"]["submitted_by"]["via"] == "agent"


async def test_what_is_no_item_is_refused_with_its_reason(lock: Lock) -> None:
    from dataclasses import replace  # noqa: PLC0415

    of = revision()
    raw = of.content[:-1] + b',"script":"x"}'
    told = await lock.submit(replace(of, content=raw, content_hash=sha256(raw)))
    assert names(told) == ["submission.refused>console"]
    assert "script" in told[0]["data"]["reason"]
    large = content("x" * (512 * 1024)).to_bytes()
    told = await lock.submit(replace(of, content=large, content_hash=sha256(large)))
    assert "512 KiB" in told[0]["data"]["reason"]


async def test_every_crossing_is_recorded_once(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    await lock.decide(of, "approve", prior=1)
    rows = await lock.rows(
        "SELECT type, receiver, verdict FROM core.crossings WHERE key = $1 ORDER BY position", str(of.item_id)
    )
    assert [tuple(row) for row in rows] == [
        ("item.submitted", "bridge", "queued"),
        ("item.queued", "console", "delivered"),
        ("item.decided", "bridge", "delivered"),
        ("item.published", "site", "delivered"),
        ("item.moved", "console", "delivered"),
        ("item.moved", "console", "delivered"),
    ]


async def test_the_gates_log_verifies(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    await lock.decide(of, "approve", prior=1)
    report = await verify_gate(lock.db, lock.public)
    assert report["ok"], report
    assert report["entries"] == report["head"]["seq"] + 1 > 0


@pytest.mark.parametrize(
    "table", ["crossings", "revisions", "decisions", "gate_log", "policies", "switch_settings", "decision_keys"]
)
@pytest.mark.parametrize(
    "statement", ["DELETE FROM core.{}", "TRUNCATE core.{}", "DROP TABLE core.{}", "UPDATE core.{} SET at = now()"]
)
async def test_the_record_cannot_be_rewritten(lock: Lock, table: str, statement: str) -> None:
    assert await refused_by_database(lock.db, statement.format(table))


async def test_the_policy_cannot_be_opened_to_the_site(lock: Lock) -> None:
    sql = "INSERT INTO core.policies (sender, receiver, type, version, policy, set_by, reason) VALUES ($1, 'site', $2, 2, $3, '', '')"
    assert "policies_shut_to_site" in await refused_by_database(lock.db, sql, "bridge", "item.published", "deliver")
    assert "policies_shut_to_site" in await refused_by_database(lock.db, sql, "console", "page", "deliver")


async def test_the_database_keeps_the_chain(lock: Lock) -> None:
    sql = """INSERT INTO core.gate_log (seq, kind, entry, signature, key_id, hash, previous, statement, statement_signature, statement_key_id)
      VALUES ($1, 'key', 'x', 'x', 'x', encode(sha256('x'), 'hex'), repeat('a', 64), 'x', 'x', 'x')"""
    assert "continues" in await refused_by_database(lock.db, sql, 1_000_000)
