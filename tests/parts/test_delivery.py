"""Outbox → JetStream → inbox, twice in a row, over real servers: nothing lost, nothing twice, in order per key."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from schemas.site.v1 import ItemApplied, RowRejected
from shared.bus import Received
from shared.bus.link import relay_lanes
from shared.clock import now
from shared.errors import Conflict, Permanent, TooLarge
from shared.testing.servers import Servers
from tests.parts.lock import Lock, Noting, running_lock, stage_applied


@pytest.fixture(scope="module")
async def lock(servers: Servers) -> AsyncIterator[Lock]:
    async with running_lock(servers) as found:
        yield found


def a_key() -> str:
    return f"item-{uuid4()}"


async def test_an_event_has_its_effect_once_two_hops_away(lock: Lock) -> None:
    key = a_key()
    await lock.stage(key, [1])
    assert await lock.until(key, 1) == [1]


async def test_a_thousand_events_keep_their_order_per_key(lock: Lock) -> None:
    keys = [a_key() for _ in range(5)]
    for start in range(1, 201, 20):
        await asyncio.gather(*(lock.stage(key, range(start, start + 20)) for key in keys))
    for key in keys:
        assert await lock.until(key, 200) == list(range(1, 201))
        seen = [version for each, version in lock.noting.order if each == key]
        assert seen == sorted(seen)


async def test_what_is_rolled_back_is_never_published(lock: Lock) -> None:
    key = a_key()
    with pytest.raises(RuntimeError, match="changed my mind"):
        async with lock.site.db.transaction() as tx:
            stage_applied(tx, key, 1)
            raise RuntimeError("changed my mind")
    await lock.stage(key, [2])
    assert await lock.until(key, 1) == [2]


async def test_a_transaction_that_commits_late_with_lower_positions_is_not_skipped(lock: Lock) -> None:
    early, late = a_key(), a_key()
    async with lock.site.db.transaction() as tx:
        stage_applied(tx, late, 1)
        await tx.flush()
        await lock.stage(early, [1])
        assert await lock.until(early, 1) == [1]
    assert await lock.until(late, 1) == [1]


async def test_two_facts_cannot_claim_the_same_place_in_a_history(lock: Lock) -> None:
    key = a_key()
    await lock.stage(key, [1])
    with pytest.raises(Conflict):
        await lock.stage(key, [1])


async def test_an_event_over_the_limit_is_refused_before_the_commit(lock: Lock) -> None:
    async with lock.site.db.transaction() as tx:
        with pytest.raises(TooLarge, match="at most"):
            tx.stage_json("item.applied", b'"' + b"x" * 901 * 1024 + b'"', key="k", version=1)


async def test_bu_01_the_same_event_id_again_has_no_second_effect(lock: Lock) -> None:
    """Sent again after the server's duplicate window: the inbox is the guarantee."""
    key = a_key()
    [event_id] = await lock.stage(key, [1])
    await lock.until(key, 1)
    async with lock.site.db.reading() as tx:
        row = await tx.raw.fetchrow("SELECT subject, body FROM app.outbox WHERE event_id = $1", event_id)
    assert row is not None
    for repeat in range(3):
        headers = {"Nats-Msg-Id": f"{event_id}-{repeat}"}
        await lock.site.link.connection.client.request(row["subject"], row["body"], headers=headers, timeout=60)
    after = a_key()
    await lock.stage(after, [1])
    await lock.until(after, 1)
    assert await lock.effects(key) == [1]


async def test_bu_04_poison_is_parked_and_the_rest_flows(lock: Lock) -> None:
    """Broken JSON and an unknown version at once; a handler that says never, at once; a hundred good ones beside them."""
    key, never = a_key(), f"never-{uuid4()}"
    client = lock.site.link.connection.client

    async def fault(event: Received[ItemApplied]) -> None:
        if event.envelope.key == never:
            raise Permanent("this one never works")

    lock.noting.fault = fault
    await client.request("from.site.item.applied", b"{broken", timeout=60)
    await lock.stage(key, range(1, 51))
    async with lock.site.db.reading() as tx:
        body = await tx.raw.fetchval("SELECT body FROM app.outbox WHERE key = $1 LIMIT 1", key)
    await client.request("from.site.item.applied", body.replace(b"/v1", b"/v9"), timeout=60)
    await lock.stage(never, [1])
    await lock.stage(key, range(51, 101))
    assert await lock.until(key, 100, seconds=10) == list(range(1, 101))
    bridge = await parked(lock.bridge)
    assert any("not JSON" in reason for reason in bridge)
    assert any("unknown version" in reason for reason in bridge)
    async with asyncio.timeout(5):
        while "this one never works" not in await parked(lock.console):
            await asyncio.sleep(0.02)
    assert await lock.effects(never) == []
    lock.noting.fault = Noting().fault


async def parked(member: object) -> list[str]:
    async with member.db.reading() as tx:  # type: ignore[attr-defined]
        rows = await tx.raw.fetch("SELECT reason FROM app.parked WHERE resolved_at IS NULL")
    return [row["reason"] for row in rows]


async def test_an_event_that_fails_once_is_tried_again_while_others_pass(lock: Lock) -> None:
    shaky, key = f"shaky-{uuid4()}", a_key()
    failures = 0

    async def fault(event: Received[ItemApplied]) -> None:
        nonlocal failures
        if event.envelope.key == shaky and failures == 0:
            failures += 1
            raise RuntimeError("once")

    lock.noting.fault = fault
    await lock.stage(shaky, [1])
    await lock.stage(key, range(1, 11))
    assert await lock.until(key, 10, seconds=5) == list(range(1, 11))
    assert await lock.until(shaky, 1, seconds=10) == [1]
    assert failures == 1


async def test_a_forged_envelope_is_not_read(lock: Lock) -> None:
    """Somebody who may write to.console, without the bridge's key: parked, no effect."""
    key = a_key()
    await lock.stage(key, [1])
    await lock.until(key, 1)
    async with lock.bridge.db.reading() as tx:
        row = await tx.raw.fetchrow("SELECT subject, body, headers FROM app.outbox WHERE key = $1", key)
    assert row is not None
    forged = row["body"].replace(str(1).encode() + b',"causationid', b"9")
    client = lock.bridge.link.connection.client
    await client.request(row["subject"], forged + b" ", headers={"Nats-Msg-Id": str(uuid4())}, timeout=60)
    async with asyncio.timeout(10):
        while not any("no seal" in reason for reason in await parked(lock.console)):
            await asyncio.sleep(0.02)
    assert await lock.effects(key) == [1]


async def test_row_rejected_takes_the_same_way(lock: Lock) -> None:
    """A handler that a reader has not declared parks the event instead of losing it."""
    async with lock.site.db.transaction() as tx:
        tx.stage("row.rejected", RowRejected(reason="by hand", found_at=now()), key=a_key(), version=1)
    async with asyncio.timeout(10):
        while not any("no handler" in reason for reason in await parked(lock.console)):
            await asyncio.sleep(0.02)


async def test_a_lane_in_which_nothing_waits_is_well_again(lock: Lock) -> None:
    """The database went away while the relay looked; nothing may come in that lane for days, and it is well all the same."""
    lane = f"relay_{relay_lanes('site')[0]}"
    lock.site.health.set(lane, False, "the database went away")
    async with asyncio.timeout(60):
        while not lock.site.health.conditions[lane].ok:
            await asyncio.sleep(0.05)
