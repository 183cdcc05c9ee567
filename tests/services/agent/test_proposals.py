"""The agent can propose and cannot decide."""

import json

import pytest

from schemas.catalogue import owned_by
from schemas.connectors.v1 import CardSettled
from services.agent.tables import app
from services.agent.usecases.keep_card import keep_card
from services.agent.usecases.propose_item import propose_item
from shared.clock import now
from shared.db import Database, create_missing
from shared.errors import Refused, TooLarge
from shared.ids import fresh_id, item_id
from shared.testing.servers import Servers


@pytest.fixture
async def db(servers: Servers):  # type: ignore[no-untyped-def]
    found = Database(servers.settings("agent"), pool_size=2)
    await found.start()
    await create_missing(found, app)
    yield found
    async with found.transaction() as tx:
        await tx.raw.execute("DELETE FROM app.todo")  # nobody reads what these tests told
    await found.stop()


async def test_a_proposal_is_staged_for_the_lock(db: Database) -> None:
    for version in (1, 2):
        async with db.transaction() as tx:
            proposed = await propose_item(tx, "doc", "en", "from-the-agent", "# Water\n\nIt rises\x00.")
        assert proposed == item_id("doc", "en", "from-the-agent")
        async with db.reading() as tx:
            row = await tx.raw.fetchrow("SELECT name, subject, body FROM app.outbox ORDER BY position DESC LIMIT 1")
        assert row is not None
        assert (row["name"], row["subject"]) == ("item.proposed", "from.agent.item.proposed")
        envelope = json.loads(row["body"])
        assert envelope["keyversion"] == version
        assert envelope["data"]["submitted_by"]["via"] == "agent"


async def test_the_agent_owns_no_event_that_decides() -> None:
    facts = [
        "usage.recorded",
        "setting.applied",
        "action.requested",
        "action.settled",
        "automation.stated",
        "mail_account.closed",
    ]
    proposals = ["attachment.proposed", "app.proposed", "record.proposed", "job.proposed"]
    assert [event.name for event in owned_by("agent")] == ["item.proposed", *facts, *proposals]


async def test_bad_proposals_are_refused_with_the_reason(db: Database) -> None:
    async with db.transaction() as tx:
        with pytest.raises(Refused, match="kind"):
            await propose_item(tx, "poem", "en", "x", "# T\n\nx")
        with pytest.raises(TooLarge, match="512 KiB"):
            await propose_item(tx, "doc", "en", "x", "# T\n\n" + "x" * 600_000)


async def test_what_became_of_a_card_is_kept_by_its_newest_word_and_of_ones_own_alone(db: Database) -> None:
    card, other = fresh_id(), fresh_id()
    words = [(card, "agent", "revoked", 2), (card, "agent", "allowed", 1), (other, "site", "allowed", 1)]
    async with db.transaction() as tx:
        for card_id, asker, state, version in words:
            await keep_card(tx, CardSettled(card_id=card_id, asker=asker, state=state, at=now(), version=version))
        rows = await tx.raw.fetch("SELECT card_id, state FROM app.cards WHERE card_id = ANY($1)", [card, other])
    assert [tuple(row) for row in rows] == [(card, "revoked")]
