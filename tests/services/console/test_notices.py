"""Who is told what: never the person who did it, everything for 30 days."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from schemas.bridge.v1 import ItemMoved, ItemQueued
from schemas.connectors.v1 import CardSettled
from schemas.model import Actor
from services.console.cards.usecases.record_card import record_settled
from services.console.claims.usecases.claim_item import claim_item
from services.console.notices import store, views
from services.console.notices.domain import KEPT, Notice
from services.console.notices.usecases.mark_read import mark_read
from services.console.notices.usecases.tell_moves import tell_moves
from services.console.notices.usecases.tell_parked import tell_parked
from services.console.notices.usecases.tell_reader import tell_reader
from services.console.people.domain import Caller
from shared.clock import now
from shared.ids import new_id
from tests.services.console.conftest import MARA, TOM, Desk, Made

LOCK = Actor(id="bridge", name="the lock", via="service")


def actor(who: Caller) -> Actor:
    return Actor(id=who.id, name=who.name)


async def told(desk: Desk, made: Made, state: Any, by: Actor, **more: Any) -> list[tuple[str, str]]:
    moved = ItemMoved(
        item_id=made.item_id,
        revision=made.revision,
        state=state,
        by=by,
        at=more.pop("at", now()),
        version=made.version + 1,
        **more,
    )
    async with desk.db.transaction() as tx:
        return [(each.person_id, each.text) for each in await tell_moves(tx, moved)]


async def test_an_author_hears_of_the_verdict_with_its_reason_and_not_of_their_own(desk: Desk) -> None:
    made = await desk.queue(by=TOM.id)
    [(who, text)] = await told(
        desk, made, "changes_requested", actor(MARA), verdict="request_changes", reason="a source"
    )
    assert (who, text) == (TOM.id, "Mara Okonjo asked for changes to “Lock”: a source")
    assert await told(desk, made, "approved", actor(TOM), verdict="approve") == []
    assert await told(desk, made, "published", actor(MARA), verdict="approve") == [], "at once: the verdict said it"


async def test_of_a_schedule_both_hear_what_the_lock_did(desk: Desk) -> None:
    made = await desk.queue(by=TOM.id)
    at = now() + timedelta(hours=1)
    await desk.decide(replace(made.order(), publish_at=at))
    assert await told(desk, made, "scheduled", actor(MARA), verdict="approve") == []
    found = await told(desk, made, "published", actor(MARA), verdict="approve", at=at)
    assert {who for who, _ in found} == {TOM.id, MARA.id}
    assert all("was published as scheduled" in text for _, text in found)
    found = await told(desk, made, "rejected", LOCK, reason="the key was revoked")
    assert {text for _, text in found} == {"“Lock” could not be published: the key was revoked"}
    assert {who for who, _ in await told(desk, made, "withdrawn", LOCK, reason="its time is over")} == {TOM.id, MARA.id}


async def test_who_decided_hears_that_somebody_took_it_back(desk: Desk) -> None:
    made = await desk.queue()
    await desk.decide(made.order())
    assert await told(desk, made, "withdrawn", actor(TOM), verdict="withdraw", reason="wrong") == [
        (MARA.id, "Tom Brandt withdrew “Lock”: wrong"),
        ("jonas", "Tom Brandt withdrew “Lock”: wrong"),
    ]
    undone = await told(desk, made, "submitted", actor(TOM))
    assert undone[0] == (MARA.id, "Tom Brandt undid your decision on “Lock”")
    assert [who for who, _ in await told(desk, made, "submitted", actor(MARA))] == ["jonas"]


async def test_an_author_hears_that_the_verdict_counts_no_more(desk: Desk) -> None:
    made = await desk.queue(by=TOM.id)
    await desk.decide(made.order())
    assert await told(desk, made, "submitted", actor(MARA)) == [
        (TOM.id, "Mara Okonjo undid the decision on “Lock”; it waits again")
    ]
    assert await told(desk, made, "withdrawn", actor(MARA), verdict="withdraw", reason="old") == [
        (TOM.id, "Mara Okonjo withdrew “Lock”: old")
    ]
    own = await desk.queue(by=MARA.id)
    await desk.decide(own.order())
    assert await told(desk, own, "submitted", actor(TOM)) == [(MARA.id, "Tom Brandt undid your decision on “Lock”")]


async def test_who_has_it_open_hears_of_a_newer_revision(desk: Desk) -> None:
    made = await desk.queue()
    async with desk.db.transaction() as tx:
        await claim_item(tx, MARA, made.item_id)
    newer = await desk.queue("Newer.", of=made)
    queued: dict[str, Any] = {
        "item_id": made.item_id,
        "submission_id": new_id(),
        "revision": 2,
        "kind": "doc",
        "lang": "en",
        "path": made.path,
        "title": "Lock",
        "audience": "public",
        "content": b"{}",
        "content_hash": newer.content_hash,
        "queued_at": now(),
        "state": "submitted",
        "version": 2,
    }
    async with desk.db.transaction() as tx:
        by_mara = ItemQueued(**queued, submitted_by=actor(MARA))
        assert await tell_reader(tx, by_mara) == []
        [notice] = await tell_reader(tx, ItemQueued(**queued, submitted_by=actor(TOM)))
    assert (notice.person_id, notice.text) == (MARA.id, "Revision 2 of “Lock” came in while you had it open")


async def test_owners_hear_of_parked_events_once_until_they_looked(desk: Desk) -> None:
    owner = Caller(str(uuid4()), "Olga", "owner")
    async with desk.db.transaction() as tx:
        await tx.raw.execute(
            "INSERT INTO app.people (id, handle, name, role, created_at, created_by) VALUES ($1, $2, 'Olga', 'owner', now(), 'x')",
            owner.id,
            f"olga-{owner.id}",
        )
    async with desk.db.transaction() as tx:
        first = await tell_parked(tx, "item.moved", "no such item")
        again = await tell_parked(tx, "item.moved", "no such item")
        assert [each.person_id for each in first].count(owner.id) == 1
        assert owner.id not in [each.person_id for each in again]
        await mark_read(tx, owner)
        assert owner.id in [each.person_id for each in await tell_parked(tx, "item.moved", "x")]
        await tx.raw.execute("DELETE FROM app.notices")
        await tx.raw.execute("DELETE FROM app.people WHERE id = $1", owner.id)


async def test_what_is_read_counts_no_more_and_what_is_old_goes(desk: Desk) -> None:
    who = Caller(str(uuid4()), "Nora", "viewer")
    one = Notice(who.id, "submission", "one", "/queue")
    async with desk.db.transaction() as tx:
        await store.add(tx, [one], now() - KEPT - timedelta(days=1))
        assert await views.count_unread(tx, who.id, now()) == 0
        await store.add(tx, [one, one], now())
        assert await views.count_unread(tx, who.id, now()) == 2
        [first, _] = await views.newest(tx, who.id, now())
        await mark_read(tx, TOM, first["id"])
        assert await views.count_unread(tx, who.id, now()) == 2, "not his"
        await mark_read(tx, who, first["id"])
        assert await views.count_unread(tx, who.id, now()) == 1
        await mark_read(tx, who)
        assert await views.count_unread(tx, who.id, now()) == 0
        assert await tx.raw.fetchval("SELECT count(*) FROM app.notices WHERE person_id = $1", who.id) == 2, "pruned"


async def test_a_card_that_is_settled_waits_for_nobody_any_more(desk: Desk) -> None:
    who, card, other = Caller(str(uuid4()), "Nora", "owner"), uuid4(), uuid4()
    async with desk.db.transaction() as tx:
        await store.add(tx, [Notice(who.id, "card", "x", f"/cards/{each}") for each in (card, other)], now())
        await record_settled(tx, CardSettled(card_id=card, asker="agent", state="allowed", at=now(), version=1))
        assert [row["place"] for row in await views.newest(tx, who.id, now()) if row["read_at"] is None] == [
            f"/cards/{other}"
        ]
