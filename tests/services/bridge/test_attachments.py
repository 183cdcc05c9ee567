"""Attachments at the lock: a submission waits for its bytes, a decision names them, the site gets them (rules 5, 10)."""

from typing import Any
from uuid import UUID

from schemas.console.v1 import AttachmentSubmitted, ItemSubmitted
from schemas.content import Attachment, ItemContent
from schemas.model import Actor
from schemas.text import sha256
from services.bridge.attachments import store
from services.bridge.attachments.usecases.hold_submission import hold_submission
from services.bridge.attachments.usecases.keep_attachment import keep_attachment
from services.bridge.attachments.usecases.queue_held import queue_held
from services.bridge.attachments.usecases.read_held import read_held
from services.bridge.domain import Revision
from services.bridge.usecases.inspect_item import Inspected, read_content
from shared.bus import Received
from shared.ids import new_id
from tests.services.bridge.conftest import Lock, names, received
from tests.services.bridge.makes import revision

ONE, TWO = b"a,b\n", b"words\n"


def named(name: str, raw: bytes) -> Attachment:
    kind = "text/csv" if name.endswith("csv") else "text/plain"
    return Attachment(name=name, media_type=kind, size=len(raw), hash=sha256(raw))


def of_files(path: str = "", body: str = "Files.") -> Revision:
    files = (named("one.csv", ONE), named("two.txt", TWO))
    raw = ItemContent(title="Lock", body=body, attachments=files).to_bytes()
    plain = revision(path=path)
    return Revision(**{**vars(plain), "content": raw, "content_hash": sha256(raw)})


async def hand_in(lock: Lock, of: Revision) -> Received[Any]:
    by, submission = Actor(id=of.submitted_by, name="Ada"), new_id()
    fields = {
        name: getattr(of, name) for name in ("item_id", "kind", "lang", "path", "audience", "content", "content_hash")
    }
    event = received("item.submitted", ItemSubmitted(submission_id=submission, submitted_by=by, **fields))
    found = read_content(event.data)
    assert isinstance(found, ItemContent), found
    event.prepared = Inspected(found)
    await lock.run(hold_submission, event)
    return event


async def bring(lock: Lock, event: Received[Any], raw: bytes, hash_: str = "", submission: UUID | None = None) -> None:
    data = AttachmentSubmitted(
        submission_id=submission or event.data.submission_id,
        item_id=event.data.item_id,
        hash=hash_ or sha256(raw),
        data=raw,
    )
    await lock.run(keep_attachment, received("attachment.submitted", data))


async def gather(lock: Lock, event: Received[Any]) -> list[dict[str, Any]] | None:
    """As the gatherer does it; None while something is missing."""
    async with lock.db.reading() as tx:
        row = await store.next_complete(tx)
        files = await store.bytes_of(tx, event.data.submission_id)
    if row is None or row["submission_id"] != event.data.submission_id:
        return None
    held = read_held(row)
    held.prepared = event.prepared
    return await lock.run(queue_held, held, files)


async def test_a_submission_waits_until_all_its_bytes_are_there(lock: Lock) -> None:
    event = await hand_in(lock, of_files())
    await bring(lock, event, ONE)
    await bring(lock, event, b"others", hash_=sha256(TWO))
    await bring(lock, event, TWO, submission=new_id())
    assert await gather(lock, event) is None
    await bring(lock, event, TWO)
    told = await gather(lock, event)
    assert told is not None
    assert sorted(names(told)) == ["attachment.queued>console", "attachment.queued>console", "item.queued>console"]
    assert await gather(lock, event) is None


async def test_what_was_approved_goes_to_the_site_with_its_attachments(lock: Lock) -> None:
    of = of_files()
    event = await hand_in(lock, of)
    for raw in (ONE, TWO):
        await bring(lock, event, raw)
    await gather(lock, event)
    assert names(await lock.decide(of, "approve", prior=1)) == ["decision.refused>console"], "it must name them"
    told = await lock.decide(of, "approve", prior=1, attachments=(sha256(ONE), sha256(TWO)))
    sent = [each for each in told if each["name"] == "attachment.published"]
    assert {each["data"]["hash"] for each in sent} == {sha256(ONE), sha256(TWO)}
    assert not any({"actor", "causationid", "correlationid"} & set(each["envelope"]) for each in sent)


async def test_a_newer_text_takes_the_place_of_one_that_still_waits(lock: Lock) -> None:
    first = await hand_in(lock, of_files())
    path = first.data.path
    second = await hand_in(lock, of_files(path=path, body="Newer."))
    rows = await lock.rows("SELECT submission_id FROM app.held_submissions WHERE item_id = $1", first.data.item_id)
    assert [row["submission_id"] for row in rows] == [second.data.submission_id]
    for raw in (ONE, TWO):
        await bring(lock, first, raw)
        await bring(lock, second, raw)
    assert await gather(lock, second) is not None
