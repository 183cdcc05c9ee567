"""The agent learns what became of what it proposed: states and people's reasons, and nothing of what the lock found (S14)."""

from typing import Any

from schemas.agent.v1 import ItemProposed
from schemas.model import Actor
from services.bridge.domain import Revision
from services.bridge.usecases.inspect_item import Inspected
from services.bridge.usecases.queue_item import queue_item
from shared.bus import Received
from shared.ids import new_id
from tests.services.bridge.conftest import Lock, received
from tests.services.bridge.makes import opening, revision


def told(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """(state, revision, version, reason) of what the agent was told."""
    facts = [each["data"] for each in found if each["name"] == "proposal.moved"]
    assert all(each["to"] == "agent" for each in found if each["name"] == "proposal.moved")
    return [(fact["state"], fact["revision"], fact["version"], fact["reason"]) for fact in facts]


async def test_a_proposal_is_told_from_the_queue_to_its_end(lock: Lock) -> None:
    of = revision(by="mara")
    assert told(await lock.submit(of, sender="agent")) == [("submitted", 1, 1, "")]
    found = await lock.decide(of, "approve", 1, opening(reason="checked"))
    assert told(found) == [("approved", 1, 2, "checked"), ("published", 1, 3, "checked")]
    assert told(await lock.undo(of, await lock.decided(of), 3)) == [("submitted", 1, 4, "a mistake")]
    assert told(await lock.decide(of, "reject", 4, opening(reason="too long"))) == [("rejected", 1, 5, "too long")]


async def test_the_agent_hears_nothing_of_what_others_hand_in(lock: Lock) -> None:
    of = revision()
    found = [*await lock.submit(of), *await lock.decide(of, "approve", 1), *await lock.withdraw(of.item_id, 3)]
    assert told(found) == []
    theirs = revision(path=of.path, body="An edit of the agent's.")
    assert told(await lock.submit(theirs, sender="agent")) == [("submitted", 2, 5, "")]
    ours = revision(path=of.path, body="An edit of a person's.")
    assert told(await lock.submit(ours)) == [("superseded", 2, 6, "")]


async def test_the_submission_is_named_and_who_asked_for_it_is_kept(lock: Lock) -> None:
    of = revision(by="mara")
    found = await lock.submit(of, sender="agent")
    queued = next(each["data"] for each in found if each["name"] == "item.queued")
    [moved] = [each["data"] for each in found if each["name"] == "proposal.moved"]
    assert moved["submission_id"] == queued["submission_id"]
    assert (queued["submitted_by"]["id"], queued["submitted_by"]["via"]) == ("mara", "agent")


async def test_what_the_lock_blocks_is_told_like_what_waits(lock: Lock) -> None:
    """Or the agent could find out, one guess after the other, whether a text holds one of our secrets."""
    histories = []
    for blocked in (True, False):
        of = revision()
        path, heard = of.path, []
        for number, hit in enumerate((False, blocked, blocked, False), 1):
            of = revision(number, body=f"Guess {number}.", path=path)
            heard += told(await lock.submit(of, blocked=hit, sender="agent"))
            heard += told(await lock.submit(of, blocked=hit, sender="agent"))
        [row] = await lock.rows("SELECT version FROM app.items WHERE item_id = $1", of.item_id)
        heard += told(await lock.decide(of, "approve", row["version"]))
        histories.append(heard)
    assert histories[0] == histories[1]
    assert ("superseded", 2, 4, "") in histories[0]


async def test_the_same_text_twice_and_what_is_no_item_are_answered(lock: Lock) -> None:
    of = revision()
    await lock.submit(of)
    assert told(await lock.submit(of, sender="agent")) == [("unchanged", 1, 1, "")]
    event = proposed(revision())
    event.prepared = Inspected(None, "the item's id does not belong to its kind, language and path")
    assert told(await lock.run(queue_item, event)) == [("refused", 0, 1, event.prepared.fault)]


def proposed(of: Revision) -> Received[ItemProposed]:
    by, what = Actor(id="mara", name="Mara"), ("item_id", "kind", "lang", "path", "audience", "content", "content_hash")
    fields = {name: getattr(of, name) for name in what}
    return received("item.proposed", ItemProposed(submission_id=new_id(), submitted_by=by, **fields), "agent")


async def test_whoever_had_it_proposed_counts_as_its_author(lock: Lock) -> None:
    await lock.switch("four_eyes", "on")
    of = revision(by="mara")
    await lock.submit(of, by="mara", sender="agent")
    found = await lock.decide(of, "approve", 1, opening("mara"))
    assert [each["data"]["code"] for each in found if each["name"] == "decision.refused"] == ["four_eyes"]
    assert told(await lock.decide(of, "approve", 1, opening("tom")))[-1][0] == "published"
