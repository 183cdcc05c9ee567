"""An item's life, whatever happens to it in whatever order (property test), and the cases one by one."""

from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.bridge import domain
from services.bridge.domain import Item, Move, expire, is_unchanged, publish, submit, turn_down, undo, withdraw
from shared.signing import SigningKey
from tests.services.bridge.makes import AT, LATER, Signer, opening, revision

ID = UUID(int=7)
SIGNER = Signer(SigningKey(b"k" * 32))


def decide(item: Item, verdict: Any, publish_at: Any = None, expire_at: Any = None) -> tuple[Item, tuple[Move, ...]]:
    statement = SIGNER.statement(
        revision(item.revision, path="lock"),
        verdict,
        item.version,
        opening(),
        publish_at=publish_at,
        expire_at=expire_at,
    )
    return domain.decide(item, statement, f"{item.version}", AT)


STEPS = st.lists(
    st.sampled_from(
        [
            "submit",
            "blocked",
            "approve",
            "schedule",
            "due",
            "reject",
            "request_changes",
            "withdraw",
            "turn_down",
            "for_a_time",
            "expire",
            "undo",
        ]
    ),
    max_size=30,
)


def possible(item: Item, step: str) -> bool:
    match step:
        case "approve" | "for_a_time" | "schedule" | "reject" | "request_changes":
            return item.revision > 0 and item.state == "submitted"
        case "due" | "turn_down":
            return item.scheduled is not None
        case "expire":
            return item.expire_at is not None
        case "undo":
            return item.decided is not None
        case "withdraw":
            return item.published is not None or item.scheduled is not None
    return True


def take(item: Item, step: str) -> tuple[Item, tuple[Move, ...]]:
    match step:
        case "submit" | "blocked":
            return submit(item, blocked=step == "blocked")
        case "approve":
            return decide(item, "approve")
        case "schedule":
            return decide(item, "approve", LATER)
        case "due":
            assert item.scheduled is not None
            return publish(item, item.scheduled)
        case "reject":
            return decide(item, "reject")
        case "request_changes":
            return decide(item, "request_changes")
        case "turn_down":
            return turn_down(item)
        case "for_a_time":
            return decide(item, "approve", None, LATER)
        case "expire":
            return expire(item)
        case "undo":
            return undo(item)
    return withdraw(item)


@given(STEPS)
def test_no_order_of_steps_breaks_an_items_history(steps: list[str]) -> None:
    item = Item(ID)
    told: dict[int, str] = {}  # what somebody who only hears the moves believes, by revision
    approved: set[int] = set()
    for step in steps:
        if not possible(item, step):
            continue
        before = item.version
        item, moves = take(item, step)
        assert [move.version for move in moves] == list(range(before + 1, item.version + 1)), (
            "one version for each move"
        )
        for move in moves:
            if move.state == "approved":
                approved.add(move.revision)
            if move.state in ("published", "scheduled"):
                assert move.revision in approved, "nothing goes out that nobody approved"
            told[move.revision] = move.state
        assert [number for number, state in told.items() if state == "published"] == (
            [item.published] if item.published else []
        )
        assert [number for number, state in told.items() if state == "scheduled"] == (
            [item.scheduled] if item.scheduled else []
        )
        assert sum(state == "submitted" for state in told.values()) <= 1, "one revision at most waits for a person"
        assert not item.revision or told[item.revision] == item.state
        assert (item.publish_at is None) == (item.scheduled is None)
        assert item.expire_at is None or item.published is not None, "only what is public has a time that ends"
        assert step != "undo" or item.state == "submitted"


def test_an_edit_leaves_the_approved_text_public() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = submit(item, blocked=False)
    assert (item.state, item.revision, item.published) == ("submitted", 2, 1)


def test_an_approved_edit_supersedes_the_text_before_it() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = submit(item, blocked=False)
    item, moves = decide(item, "approve")
    assert [(move.revision, move.state) for move in moves] == [(2, "approved"), (1, "superseded"), (2, "published")]


def test_a_withdrawal_leaves_a_waiting_edit_in_the_queue() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = submit(item, blocked=False)
    item, moves = withdraw(item)
    assert [(move.revision, move.state) for move in moves] == [(1, "withdrawn")]
    assert (item.state, item.published) == ("submitted", None)


def test_a_blocked_revision_is_rejected_at_once() -> None:
    item, moves = submit(Item(ID), blocked=True)
    assert (item.state, moves[-1].state) == ("rejected", "rejected")


def test_the_same_text_twice_is_one_revision() -> None:
    same = revision()
    item, _ = submit(Item(same.item_id), blocked=False)
    assert is_unchanged(item, same, same.content_hash, "public")
    assert not is_unchanged(item, same, same.content_hash, "members")
    assert not is_unchanged(item, same, "0" * 64, "public")


def test_what_was_taken_back_may_be_handed_in_again() -> None:
    same = revision()
    item, _ = submit(Item(same.item_id), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = withdraw(item)
    assert not is_unchanged(item, same, same.content_hash, "public")


def test_an_undone_approval_waits_again_and_what_it_replaced_stays_replaced() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = submit(item, blocked=False)
    item, _ = decide(item, "approve", None, LATER)
    item, moves = undo(item)
    assert [(move.revision, move.state, move.verdict) for move in moves] == [(2, "submitted", None)]
    assert (item.state, item.published, item.expire_at, item.decided) == ("submitted", None, None, None)


def test_an_undone_schedule_leaves_what_is_public() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve")
    item, _ = submit(item, blocked=False)
    item, _ = decide(item, "approve", LATER)
    item, _ = undo(item)
    assert (item.state, item.published, item.scheduled, item.publish_at) == ("submitted", 1, None, None)


def test_what_is_over_leaves_what_waits() -> None:
    item, _ = submit(Item(ID), blocked=False)
    item, _ = decide(item, "approve", None, LATER)
    item, _ = submit(item, blocked=False)
    item, moves = expire(item)
    assert [(move.revision, move.state) for move in moves] == [(1, "withdrawn")]
    assert (item.state, item.published, item.decided) == ("submitted", None, None)
