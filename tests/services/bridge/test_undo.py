"""An undo at the lock: within ten minutes, of the very verdict that led to what is there, once."""

import asyncio
from base64 import b64decode
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from infra.postgres.settings import SUPERUSER
from schemas.statements import Undo
from services.bridge import views
from services.bridge.domain import Revision
from services.bridge.usecases.expire_due import expire_due
from services.bridge.usecases.publish_due import publish_due
from services.bridge.usecases.verify_gate import verify_gate
from shared.clock import now
from shared.testing.servers import Servers
from tests.services.bridge.conftest import Lock, names, refused_by_database
from tests.services.bridge.makes import opening, revision


async def decided(lock: Lock, verdict: Any = "approve", **more: Any) -> tuple[Revision, str]:
    of = revision()
    await lock.submit(of)
    await lock.decide(of, verdict, 1, **more)
    return of, await lock.decided(of)


def refusal(told: list[dict[str, Any]]) -> tuple[str, str]:
    [answer] = [each["data"] for each in told if each["name"] == "decision.refused"]
    return answer["code"], answer["reason"]


async def state(lock: Lock, of: Revision) -> tuple[str, int, int | None]:
    [row] = await lock.rows("SELECT state, version, published_revision FROM app.items WHERE item_id = $1", of.item_id)
    return row["state"], row["version"], row["published_revision"]


async def test_an_undone_approval_is_a_withdrawal_and_waits_again(lock: Lock) -> None:
    of, verdict = await decided(lock)
    told = await lock.undo(of, verdict, 3)
    assert names(told) == ["item.retracted>site", "item.moved:submitted>console"]
    retracted, moved = told[0]["data"], told[1]["data"]
    assert Undo.from_bytes(b64decode(retracted["withdrawal"]["payload"])).undoes == verdict
    assert (moved["revision"], moved["verdict"], moved["reason"], moved["version"]) == (1, None, "a mistake", 4)
    assert moved["statement_hash"] == await lock.decided(of) and moved["gate_seq"] is not None
    assert await state(lock, of) == ("submitted", 4, None)
    assert (await verify_gate(lock.db, lock.public))["ok"]


@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
async def test_an_undone_refusal_waits_again_without_an_entry_in_the_log(lock: Lock, verdict: str) -> None:
    of, given = await decided(lock, verdict)
    assert names(await lock.undo(of, given, 2)) == ["item.moved:submitted>console"]
    assert await lock.rows("SELECT FROM core.gate_log WHERE item_id = $1", of.item_id) == []


async def test_after_an_undo_one_new_verdict_counts(lock: Lock) -> None:
    of, verdict = await decided(lock)
    await lock.undo(of, verdict, 3)
    assert "item.published>site" in names(await lock.decide(of, "approve", 4))
    assert refusal(await lock.decide(of, "reject", 4))[0] == "conflict"
    again = await lock.decided(of)
    assert "item.retracted>site" in names(await lock.undo(of, again, 6)), "and can be undone as well"
    assert (await verify_gate(lock.db, lock.public))["ok"]


async def test_two_verdicts_after_an_undo_meet_in_the_database(lock: Lock, servers: Servers) -> None:
    """Without the lock's own order: two sessions that both saw the undo."""
    of, verdict = await decided(lock, "reject")
    await lock.undo(of, verdict, 2)
    copied = "event_id, item_id, revision, signature, key_id, person_id, person_name, via, reason, nonce"
    insert = f"""INSERT INTO core.decisions ({copied}, prior_version, verdict, statement, statement_hash)
      SELECT {copied}, $2, $3, convert_to($4, 'UTF8'), encode(sha256(convert_to($4, 'UTF8')), 'hex')
      FROM core.decisions WHERE statement_hash = $1"""

    async def one(prior: int, word: str) -> str:
        connection = await asyncpg.connect(
            host=str(servers.layout.pg_socket_dir), user="bridge", database="console_site_db"
        )
        try:
            await connection.execute(insert, verdict, prior, word, f"{of.path} {prior}")
        except asyncpg.UniqueViolationError as error:
            return str(error.constraint_name)
        finally:
            await connection.close()
        return "taken"

    found = await asyncio.gather(one(3, "approve"), one(4, "reject"))
    assert sorted(found) == ["decisions_one_verdict", "taken"]


async def test_an_undo_twice_an_undo_of_an_undo_and_of_a_withdrawal(lock: Lock) -> None:
    of, verdict = await decided(lock)
    await lock.undo(of, verdict, 3, opening("mara", name="Mara Okonjo"))
    undone = await lock.decided(of)
    assert refusal(await lock.undo(of, verdict, 4)) == ("conflict", "Mara Okonjo has undone it already")
    assert refusal(await lock.undo(of, undone, 4)) == ("invalid", "an undo cannot be undone; decide on the item again")
    await lock.decide(of, "approve", 4)
    await lock.withdraw(of.item_id, 6)
    code, reason = refusal(await lock.undo(of, await lock.decided(of), 7))
    assert (code, reason.partition(" cannot")[0]) == ("invalid", "a withdrawal")


async def test_what_changed_since_stays_and_the_refusal_says_what_happened(lock: Lock) -> None:
    of, verdict = await decided(lock)
    await lock.submit(revision(2, "Water falls.", path=of.path))
    code, reason = refusal(await lock.undo(of, verdict, 3))
    assert (code, reason) == ("conflict", "the item has moved on since: revision 2 waits for a decision")
    assert refusal(await lock.undo(of, verdict, 4))[0] == "conflict", "knowing the newest version does not help"
    assert await state(lock, of) == ("submitted", 4, 1)
    other, given = await decided(lock)
    await lock.withdraw(other.item_id, 3)
    assert refusal(await lock.undo(other, given, 4)) == (
        "conflict",
        "the item has moved on since: revision 1 is withdrawn",
    )


async def test_eleven_minutes_are_too_late(lock: Lock, servers: Servers) -> None:
    of, verdict = await decided(lock)
    admin = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user=SUPERUSER, database="console_site_db")
    try:
        await admin.execute("ALTER TABLE core.decisions DISABLE TRIGGER no_change")
        await admin.execute(
            "UPDATE core.decisions SET at = at - interval '11 minutes' WHERE statement_hash = $1", verdict
        )
    finally:
        await admin.execute("ALTER TABLE core.decisions ENABLE ALWAYS TRIGGER no_change")
        await admin.close()
    code, reason = refusal(await lock.undo(of, verdict, 3))
    assert (code, reason) == ("conflict", "a decision can be undone for 10 minutes, and these are over")
    assert await state(lock, of) == ("published", 3, 1)
    [row] = await lock.rows("SELECT event_id, key_id FROM core.decisions WHERE statement_hash = $1", verdict)
    said = await refused_by_database(
        lock.db,
        "INSERT INTO core.decisions (event_id, item_id, revision, prior_version, verdict, undoes, statement, signature, key_id,"
        " statement_hash, person_id, person_name, via, reason, nonce) VALUES ($1, $2, 1, 3, 'undo', $3, 'x', '', $4,"
        " encode(sha256('x'), 'hex'), 'p', 'p', 'console', '', '')",
        row["event_id"],
        of.item_id,
        verdict,
        row["key_id"],
    )
    assert "can no longer be undone" in said


async def test_neither_a_frozen_lock_nor_four_eyes_stops_an_undo(lock: Lock) -> None:
    of, verdict = await decided(lock, who=opening("tom"))
    await lock.switch("publication_mode", "frozen")
    await lock.switch("four_eyes", "on")
    assert "item.retracted>site" in names(await lock.undo(of, verdict, 3, opening(of.submitted_by)))


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"item_id": revision().item_id}, "invalid"), ({"revision": 2}, "invalid"), ({"names": "0" * 64}, "invalid")],
)
async def test_an_undo_that_names_something_else_changes_nothing(lock: Lock, changed: Any, code: str) -> None:
    of, verdict = await decided(lock)
    named = changed.pop("names", verdict)
    assert refusal(await lock.undo(of, named, 3, **changed))[0] == code
    assert await state(lock, of) == ("published", 3, 1)


async def test_an_undo_about_another_item_and_one_that_a_service_sends(lock: Lock) -> None:
    of, verdict = await decided(lock)
    other, _ = await decided(lock)
    assert refusal(await lock.undo(other, verdict, 3))[0] == "invalid"
    assert refusal(await lock.undo(of, verdict, 3, sender="agent"))[0] == "invalid"
    assert refusal(await lock.undo(of, verdict, 3, opening("agent", via="agent")))[0] == "invalid"
    assert (await state(lock, of))[0] == (await state(lock, other))[0] == "published"


async def test_an_undone_schedule_is_gone_also_when_its_time_has_come(lock: Lock) -> None:
    of, verdict = await decided(lock, publish_at=now() + timedelta(hours=1))
    told = await lock.undo(of, verdict, 3)
    assert (names(told), told[0]["data"]["gate_seq"]) == (["item.moved:submitted>console"], None)
    assert await lock.run(publish_due, of.item_id, 1, lock.gate, now() + timedelta(hours=1)) == []


async def test_what_was_published_at_its_time_can_still_be_undone(lock: Lock) -> None:
    of, verdict = await decided(lock, publish_at=now() + timedelta(hours=1))
    await lock.run(publish_due, of.item_id, 1, lock.gate, now() + timedelta(hours=1))
    assert refusal(await lock.undo(of, verdict, 3))[0] == "conflict", "who saw it waiting did not see it public"
    assert "item.retracted>site" in names(await lock.undo(of, verdict, 4))


async def test_what_is_over_is_withdrawn_by_the_lock_once(lock: Lock) -> None:
    until = now() + timedelta(hours=1)
    of, _ = await decided(lock, expire_at=until)
    assert await lock.run(expire_due, of.item_id, until - timedelta(seconds=1)) == []
    [told] = await lock.run(expire_due, of.item_id, until)
    said = told["data"]
    assert (said["state"], said["by"]["via"], said["reason"], said["gate_seq"]) == (
        "withdrawn",
        "service",
        "its time is over",
        None,
    )
    assert await lock.run(expire_due, of.item_id, until) == []
    async with lock.db.reading() as tx:
        assert of.item_id not in await views.over(tx, until + timedelta(days=1))


async def test_a_time_that_was_over_before_it_could_begin_turns_the_approval_down(lock: Lock) -> None:
    of, _ = await decided(lock, publish_at=now() + timedelta(hours=1), expire_at=now() + timedelta(hours=2))
    [told] = await lock.run(publish_due, of.item_id, 1, lock.gate, now() + timedelta(hours=3))
    assert told["data"]["state"] == "rejected"
    assert "before it could be published" in told["data"]["reason"]
    assert await lock.rows("SELECT FROM core.gate_log WHERE item_id = $1", of.item_id) == []


@pytest.mark.parametrize(
    ("verdict", "hours", "words"),
    [
        ("reject", (None, 2), "only an approval"),
        ("approve", (2, 1), "taken down before it is published"),
        ("approve", (None, -1), "before it is published"),
    ],
)
async def test_times_that_cannot_be_are_refused_by_the_lock_too(
    lock: Lock, verdict: Any, hours: tuple[int | None, int | None], words: str
) -> None:
    of = revision()
    await lock.submit(of)
    lock.signer.at = now()
    begins, ends = (None if each is None else now() + timedelta(hours=each) for each in hours)
    code, reason = refusal(await lock.decide(of, verdict, 1, publish_at=begins, expire_at=ends))
    assert (code, words in reason) == ("invalid", True), reason


async def test_a_schedule_is_changed_by_a_new_approval_of_the_same_content(lock: Lock) -> None:
    later, sooner = now() + timedelta(hours=3), now() + timedelta(hours=1)
    of, first = await decided(lock, publish_at=later)
    told = await lock.decide(of, "approve", 3, publish_at=sooner)
    assert names(told) == ["item.moved:approved>console", "item.moved:scheduled>console"]
    second = await lock.decided(of)
    assert refusal(await lock.undo(of, first, 5))[0] == "conflict", "its place is taken"
    assert refusal(await lock.decide(of, "approve", 3, publish_at=later))[0] == "conflict", "who did not see the change"
    due = await lock.run(publish_due, of.item_id, 1, lock.gate, sooner)
    assert "item.published>site" in names(due)
    assert refusal(await lock.decide(of, "approve", 6, publish_at=later))[0] == "conflict", "it is public already"
    assert "item.retracted>site" in names(await lock.undo(of, second, 6))
    assert (await verify_gate(lock.db, lock.public))["ok"]


async def test_what_is_scheduled_can_be_published_at_once_but_not_rejected(lock: Lock) -> None:
    of, _ = await decided(lock, publish_at=now() + timedelta(hours=3))
    assert refusal(await lock.decide(of, "reject", 3))[0] == "conflict"
    assert "item.published>site" in names(await lock.decide(of, "approve", 3))
    assert await lock.run(publish_due, of.item_id, 1, lock.gate, now() + timedelta(hours=4)) == []


async def test_two_changes_of_a_schedule_meet_in_the_database(lock: Lock) -> None:
    of, first = await decided(lock, publish_at=now() + timedelta(hours=3))
    await lock.decide(of, "approve", 3, publish_at=now() + timedelta(hours=2))
    said = await refused_by_database(
        lock.db,
        "INSERT INTO core.decisions (event_id, item_id, revision, prior_version, verdict, undoes, statement, signature, key_id,"
        " statement_hash, person_id, person_name, via, reason, nonce) VALUES ($1, $1, 1, 9, 'approve', $2, 'y', '', 'k',"
        " encode(sha256('y'), 'hex'), 'p', 'p', 'console', '', '')",
        of.item_id,
        first,
    )
    assert "something was decided since" in said
