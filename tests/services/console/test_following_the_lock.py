"""What the lock and the site say happened, in any order and more than once."""

import pytest

from schemas.model import Actor
from services.console.queue import store
from shared.errors import Transient
from shared.ids import new_id
from tests.services.console.conftest import Desk, Made


async def test_published_is_the_locks_word_and_live_the_sites(desk: Desk) -> None:
    made = await desk.queue()
    decided = await desk.decide(made.order())
    await desk.move(made, "approved", 2, verdict="approve", statement_hash=decided.statement_hash)
    await desk.move(made, "published", 3, gate_seq=7)
    row = await desk.item(made)
    assert (row["state"], row["published_revision"], row["live_revision"], row["deciding"]) == (
        "published",
        1,
        None,
        None,
    )
    told = await desk.applied(made, 7)
    assert told["ms"] > 0 and told["effect"] == "live"
    assert (await desk.item(made))["live_revision"] == 1


async def test_a_withdrawn_item_is_gone_when_the_site_says_so(desk: Desk) -> None:
    made = await desk.queue()
    await desk.publish(made)
    await desk.applied(made, 1)
    await desk.move(made, "withdrawn", made.version + 1, verdict="withdraw", gate_seq=2)
    row = await desk.item(made)
    assert (row["state"], row["published_revision"], row["gone_since"]) == ("withdrawn", None, None)
    await desk.applied(made, 2, "gone")
    row = await desk.item(made)
    assert row["gone_since"] is not None and row["live_revision"] is None


async def test_a_late_report_of_the_site_does_not_bring_an_item_back(desk: Desk) -> None:
    made = await desk.queue()
    await desk.publish(made)
    await desk.applied(made, 9, "gone")
    assert await desk.applied(made, 8) is None
    assert (await desk.item(made))["live_revision"] is None


async def test_a_late_fact_of_the_lock_changes_nothing(desk: Desk) -> None:
    made = await desk.queue()
    await desk.move(made, "published", 3, gate_seq=1)
    await desk.move(made, "approved", 2, verdict="approve")
    row = await desk.item(made)
    assert (row["state"], row["version"]) == ("published", 3)
    [revision] = await desk.rows("SELECT state FROM app.revisions WHERE item_id = $1", made.item_id)
    assert revision["state"] == "published"


async def test_a_fact_about_an_item_that_is_not_known_yet_is_tried_again(desk: Desk) -> None:
    with pytest.raises(Transient):
        await desk.move(Made(new_id(), "x", 1, "0" * 64, 1), "approved", 2)


async def test_a_revision_that_was_replaced_leaves_the_item_as_it_is(desk: Desk) -> None:
    first = await desk.queue("first")
    await desk.publish(first)
    second = await desk.queue("second", of=first)
    await desk.publish(second, 1)
    await desk.move(
        second, "superseded", second.version + 1, revision=1, by=Actor(id="bridge", name="lock", via="service")
    )
    row = await desk.item(second)
    assert (row["state"], row["revision"], row["published_revision"]) == ("published", 2, 2)
    states = await desk.rows(
        "SELECT revision, state FROM app.revisions WHERE item_id = $1 ORDER BY revision", second.item_id
    )
    assert [(each["revision"], each["state"]) for each in states] == [(1, "superseded"), (2, "published")]


async def test_withdrawing_what_is_live_leaves_a_waiting_revision_waiting(desk: Desk) -> None:
    first = await desk.queue("first")
    await desk.publish(first)
    second = await desk.queue("second", of=first)
    await desk.move(second, "withdrawn", second.version + 1, revision=1, verdict="withdraw", gate_seq=4)
    row = await desk.item(second)
    assert (row["state"], row["published_revision"], row["decided_name"]) == ("submitted", None, None)


async def test_the_console_counts_its_own_facts_about_an_item(desk: Desk) -> None:
    async with desk.db.transaction() as tx:
        assert [await store.next_version(tx, "test:a") for _ in range(3)][-1] - await store.next_version(
            tx, "test:a"
        ) == -1
