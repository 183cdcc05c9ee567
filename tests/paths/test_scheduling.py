"""An approval that waits for its time: not before it, then exactly what was approved, or nothing."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from shared.errors import Refused
from tests.factories.documents import Item, decide, listed, submit, withdraw
from tests.factories.people import Person
from tests.factories.reviews import look
from tests.factories.stack import Stack
from tests.factories.visitors import Visitor, places
from tests.factories.waiting import stays, until

pytestmark = pytest.mark.stack
NEXT_YEAR = datetime.now(UTC).year + 1


def ahead(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def schedule(stack: Stack, item: Item, at: datetime) -> None:
    found = stack.ask("console", "items.decide", items=[item.item_id], verdict="approve", at=at.isoformat())
    assert (found["decided"], found["refused"]) == (1, []), found
    assert datetime.fromisoformat(found["publish_at"]) == at


def one(stack: Stack, words: str = "words") -> Item:
    return submit(stack, f"# Later {uuid4().hex[:6]}\n\n{words}\n")


def is_hidden(visitor: Visitor, item: Item) -> bool:
    return visitor.get(item.url).status_code == 404


def test_what_is_scheduled_is_public_at_its_time_and_not_before(stack: Stack, visitor: Visitor) -> None:
    item, at = one(stack), ahead(2)
    schedule(stack, item, at)
    row = listed(stack, item)
    assert (row["state"], row["scheduled_revision"], row["published_revision"]) == ("scheduled", 1, None)
    assert datetime.fromisoformat(row["publish_at"]) == at
    stays(lambda: is_hidden(visitor, item), (at - datetime.now(UTC)).total_seconds() - 0.1, "public before its time")
    assert item.path not in "".join(places(visitor).values())
    until(lambda: visitor.sees(item, "words"), 5)
    assert datetime.now(UTC) >= at
    row = until(lambda: (found := listed(stack, item))["live_since"] and found, 5)
    assert (row["state"], row["scheduled_revision"], row["publish_at"]) == ("published", None, None)
    [approved, published] = stack.rows(
        "bridge",
        f"SELECT content_hash FROM core.revisions WHERE item_id = '{item.item_id}'"
        f" UNION ALL SELECT convert_from(entry, 'utf8')::json->>'content_hash' FROM core.gate_log WHERE item_id = '{item.item_id}'",
    )
    assert approved == published, "the approved hash"


def test_an_edit_after_the_approval_waits_while_the_approved_text_is_published(stack: Stack, visitor: Visitor) -> None:
    item = one(stack, "approved words")
    schedule(stack, item, ahead(3))
    submit(stack, "# Later\n\nsecond thoughts\n", name=item.path)
    row = listed(stack, item)
    assert (row["state"], row["revision"], row["scheduled_revision"]) == ("submitted", 2, 1)
    until(lambda: visitor.sees(item, "approved words"), 10)
    assert "second thoughts" not in visitor.get(item.url).text
    row = until(lambda: (found := listed(stack, item))["published_revision"] == 1 and found, 5)
    assert (row["state"], row["scheduled_revision"]) == ("submitted", None)


def test_a_schedule_taken_back_publishes_nothing(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    item, at = one(stack), ahead(2)
    schedule(stack, item, at)
    assert withdraw(stack, item) == {"withdrawn": 1, "refused": []}
    row = listed(stack, item)
    assert (row["state"], row["scheduled_revision"], row["publish_at"]) == ("withdrawn", None, None)
    assert "never became public" in moderator.page(f"/queue/{item.item_id}").text
    assert "Taken back before its time" in moderator.page(f"/queue/{item.item_id}/history").text
    stays(lambda: is_hidden(visitor, item), (at - datetime.now(UTC)).total_seconds() + 0.5, "it became public")
    assert stack.value("bridge", f"SELECT count(*) FROM core.gate_log WHERE item_id = '{item.item_id}'") == 0


def test_a_newer_approval_takes_the_place_of_a_scheduled_one(stack: Stack, visitor: Visitor) -> None:
    item, at = one(stack, "first words"), ahead(2)
    schedule(stack, item, at)
    submit(stack, "# Later\n\nsecond words\n", name=item.path)
    decide(stack, item)
    until(lambda: visitor.sees(item, "second words"), 5)
    row = listed(stack, item)
    assert (row["state"], row["published_revision"], row["scheduled_revision"]) == ("published", 2, None)
    left = (at - datetime.now(UTC)).total_seconds() + 0.5
    stays(lambda: visitor.sees(item, "second words"), left, "the older one was published")


def test_a_schedule_outlives_a_restart_of_the_lock(stack: Stack, visitor: Visitor) -> None:
    item = one(stack)
    schedule(stack, item, ahead(2))
    stack.back("bridge", stack.kill("bridge"))
    until(lambda: visitor.sees(item), 20)


@pytest.mark.parametrize(
    ("at", "verdict", "said"),
    [
        ("2020-01-01T08:00", "approve", "lies in the past"),
        ("2020-01-01T08:00:00+01:00", "approve", "2020-01-01 07:00 UTC lies in the past"),
        ("tomorrow", "approve", "'tomorrow' is no time; write 2026-12-01T08:00"),
        ("2026-13-01T08:00", "approve", "is no time"),
        ("9999-12-31T23:59-12:00", "approve", "is no time"),
        (f"{NEXT_YEAR}-01-01T08:00", "reject", "Only an approval"),
        ("2099-01-01T08:00", "approve", "more than 5 years ahead"),
    ],
)
def test_a_time_that_cannot_be_is_refused(stack: Stack, at: str, verdict: str, said: str) -> None:
    item = one(stack)
    with pytest.raises(Refused, match=said.replace("+", r"\+")):
        stack.ask("console", "items.decide", items=[item.item_id], verdict=verdict, at=at, reason="x")
    assert listed(stack, item)["state"] == "submitted"


def test_the_command_says_what_is_wrong_with_a_time_and_when_it_will_be(stack: Stack) -> None:
    item = one(stack)
    done = stack.run("items", "decide", item.item_id, "--verdict", "approve", "--at", "2020-01-01T08:00")
    assert (done.returncode, "lies in the past" in done.stderr) == (2, True), done
    found = stack.cli("items", "decide", item.item_id, "--verdict", "approve", "--at", f"{NEXT_YEAR}-12-01T08:00")
    assert (found["decided"], found["refused"]) == (1, [])
    assert found["publish_at"] == f"{NEXT_YEAR}-12-01T08:00:00+00:00", "taken as UTC"
    assert [row["item_id"] for row in stack.cli("items", "list", "--status", "scheduled")["items"]].count(item.item_id)
    assert stack.cli("items", "withdraw", item.item_id)["withdrawn"] == 1


def test_publish_later_in_the_browser(stack: Stack, moderator: Person, visitor: Visitor) -> None:
    item = one(stack)
    seen = look(moderator, item)
    assert "Publish later" in moderator.page(f"/queue/{item.item_id}").text
    for verdict, at, said in [
        ("schedule", "", "is no time"),
        ("schedule", "2020-01-01T08:00", "lies in the past"),
        ("approve", f"{NEXT_YEAR}-12-01T08:00", "A time is filled in"),
    ]:
        answer = seen.decide(verdict, "because", at=at)
        assert (answer.status_code, said in answer.text) == (422, True), (verdict, at, answer.text[:3000])
        assert "because" in answer.text and (not at or at in answer.text), "what was typed is kept"
    assert listed(stack, item)["state"] == "submitted"
    assert seen.decide("schedule", at=f"{NEXT_YEAR}-12-01T08:00").status_code == 303
    until(lambda: listed(stack, item)["state"] == "scheduled", 5)
    for path in (f"/queue/{item.item_id}", f"/queue?state=scheduled&q={item.path}", f"/queue/{item.item_id}/history"):
        assert f"1 Dec {NEXT_YEAR}, 08:00" in moderator.page(path).text, path
    assert moderator.send(f"/queue/{item.item_id}/withdraw", f"/queue/{item.item_id}", reason="not yet", version=3).status_code == 303  # fmt: skip
    until(lambda: listed(stack, item)["state"] == "withdrawn", 5)
    assert is_hidden(visitor, item)
