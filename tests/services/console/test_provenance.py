"""Where a public item comes from: who proposed it and where, who let it out, its receipt, its way, what came back since."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.bridge.v2 import ItemQueued
from schemas.content import ItemContent
from schemas.model import Actor
from schemas.text import sha256
from services.console.provenance.domain import read_address
from services.console.provenance.reading import read_provenance
from services.console.queue.usecases.record_queued import record_queued
from services.console.signals.usecases.record_signals import record_signals
from shared.clock import now
from shared.errors import NotFound
from shared.ids import item_id, new_id
from tests.services.console.conftest import MARA, Desk, Made


async def proposed(desk: Desk, conversation: UUID, turn: UUID) -> Made:
    """An item of the agent's, as the lock tells of it."""
    path = f"herkunft-{uuid4().hex[:8]}"
    content = ItemContent(title="Herkunft", body="Wasser.").to_bytes()
    made = Made(item_id("doc", "de", path), path, 1, sha256(content), 1)
    event = ItemQueued(
        item_id=made.item_id, submission_id=new_id(), revision=1, kind="doc", lang="de", path=path, title="Herkunft", audience="public",
        content=content, content_hash=made.content_hash, submitted_by=Actor(id="jonas", name="Jonas Weidner", via="agent"), findings=(),
        queued_at=now(), state="submitted", version=1, conversation_id=conversation, turn_id=turn,
        sent_at=now() - timedelta(seconds=1), crossed_at=now(),
    )  # fmt: skip
    async with desk.db.transaction() as tx:
        await record_queued(tx, new_id(), event)
    return made


def seen(made: Made, kind: str = "view", **more: Any) -> dict[str, Any]:
    usual = {"signal_id": str(uuid4()), "kind": kind, "item_id": str(made.item_id), "path": f"/doc/de/{made.path}"}
    return {**usual, "visitor": uuid4().hex[:16], "at": (now() + timedelta(seconds=1)).isoformat()} | more


async def test_a_public_item_tells_who_proposed_it_where_who_let_it_out_and_what_came_back(desk: Desk) -> None:
    conversation, turn = uuid4(), uuid4()
    made = await proposed(desk, conversation, turn)
    decided = await desk.decide(made.order(reason="Looks right."))
    await desk.publish(made, 7)
    await desk.applied(made, 7)
    async with desk.db.transaction() as tx:
        await record_signals(tx, [[seen(made), seen(made), seen(made, "vote", value=1)]])
    found = await read_provenance(desk.db, f"https://example.com/doc/de/{made.path}?x=1#part")
    assert (found.proposed_by, found.via, found.conversation_id, found.turn_id) == ("Jonas Weidner", "agent", conversation, turn)  # fmt: skip
    assert (found.receipt.reviewed_by, found.receipt.reason) == (MARA.name, "Looks right.")
    assert (found.receipt.statement_hash, found.receipt.gate_seq) == (decided.statement_hash, 7)
    assert found.receipt.content_hash == made.content_hash
    assert found.public
    assert [each.where.partition(" ")[0] for each in found.stations][:3] == ["agent", "bridge", "console"]
    assert [each.at for each in found.stations] == sorted(each.at for each in found.stations)
    assert (dict(found.since), dict(found.votes)) == ({"view": 2, "vote": 1}, {"up": 1, "down": 0})


async def test_what_came_before_conversations_were_told_is_shown_without_one(desk: Desk) -> None:
    made = await desk.queue()
    found = await read_provenance(desk.db, str(made.item_id))
    assert (found.conversation_id, found.turn_id, found.public) == (None, None, False)
    assert (found.receipt.verdict, found.live_since, dict(found.since)) == (None, None, {})


async def test_what_never_was_is_said_plainly(desk: Desk) -> None:
    for said in ("doc/en/never-there", str(uuid4()), "https://example.com/doc/en/never%20there"):
        with pytest.raises(NotFound):
            await read_provenance(desk.db, said)


@pytest.mark.parametrize("said", ["", "x", "doc/en", "https://[bad/doc/en/x", "//", "\x00"])
def test_an_address_that_is_none_is_refused(said: str) -> None:
    with pytest.raises(NotFound, match="address"):
        read_address(said)


def test_an_address_is_read_as_browsers_and_people_write_it() -> None:
    assert read_address("doc/en/guide/gate.md") == ("doc", "en", "guide/gate")
    assert read_address(" http://127.0.0.1:8421/doc/de/%C3%BCber?q#a ") == ("doc", "de", "über")
