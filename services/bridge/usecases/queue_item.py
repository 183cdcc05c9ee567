"""A submission becomes a revision that waits for a person; the same text twice does not (rules 10, 20)."""

from datetime import datetime
from typing import Any

from schemas.bridge.v1 import Finding, SubmissionRefused
from schemas.bridge.v2 import ItemQueued
from schemas.model import Actor
from schemas.text import canonical
from services.bridge import store
from services.bridge.core_tables import revisions
from services.bridge.domain import Item, Revision, is_unchanged, submit
from services.bridge.usecases.inspect_item import Inspected, Submission
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.record_decision import tell_moves
from services.bridge.usecases.tell_proposer import tell_answered, tell_handed_in, tell_replaced
from shared.bus import Received
from shared.clock import now
from shared.db import Tx


async def queue_item(tx: Tx, event: Received[Any]) -> None:
    """Queue what `inspect_item` prepared. What is refused or unchanged makes no revision, and the console is told."""
    step, data, found = Step(tx, event), event.data, event.prepared
    assert isinstance(found, Inspected)
    policy = (await store.policies(tx)).get((event.sender, "bridge", event.name), "block")
    if policy == "block":
        await step.done("blocked", policy=policy, reason="the policy blocks this way")
        return
    if found.content is None:
        await _refuse(step, data, found, policy)
        return
    held = await store.present(tx, data.item_id)
    if held.item is not None and is_unchanged(held.item, held.revision, data.content_hash, data.audience):
        _tell_queued(step, data, found, held.item, unchanged=True)
        if step.from_agent:
            tell_answered(step, data, "unchanged", held.item.revision, now())
    else:
        await _add_revision(step, data, found, held.item or Item(data.item_id))
    await step.done("queued", policy=policy)


async def _add_revision(step: Step, data: Submission, found: Inspected, held: Item) -> None:
    at, by = now(), _submitter(step, data)
    item, moves = submit(held, found.blocked)
    revision = Revision(
        item_id=data.item_id,
        revision=item.revision,
        kind=data.kind,
        lang=data.lang,
        path=data.path,
        audience=data.audience,
        content=data.content,
        content_hash=data.content_hash,
        submitted_by=by.id,
        blocked=found.blocked,
    )
    step.writes.add(revisions, vars(revision) | _circumstances(data, by, found.findings))
    step.writes.save(item, revision)
    await tell_moves(step, item, moves[:-1], by=by, reason="", at=at)
    _tell_queued(step, data, found, item, at=at)
    await tell_replaced(step, held, at)
    if step.from_agent:
        await tell_handed_in(step, item, data, at)


def _circumstances(data: Submission, by: Actor, findings: tuple[Finding, ...]) -> dict[str, object]:
    listed = canonical([each.model_dump(mode="json") for each in findings]).decode()
    return {"submission_id": data.submission_id, "submitted_name": by.name, "submitted_via": by.via, "findings": listed}


def _submitter(step: Step, data: Submission) -> Actor:
    """What comes from the agent is the agent's, and what comes from the site a visitor's, whatever it says about itself."""
    assert step.cause is not None
    via = {"agent": "agent", "site": "visitor"}.get(step.cause.sender)
    return data.submitted_by.model_copy(update={"via": via}) if via else data.submitted_by


def _tell_queued(
    step: Step, data: Submission, found: Inspected, item: Item, *, at: datetime | None = None, unchanged: bool = False
) -> None:
    """A repeat has its own key: it is an answer to the submission, not a step in the item's history."""
    assert found.content is not None and step.cause is not None
    by = _submitter(step, data)
    fact = ItemQueued(
        item_id=data.item_id,
        submission_id=data.submission_id,
        revision=item.revision,
        kind=data.kind,
        lang=data.lang,
        path=data.path,
        title=found.content.title,
        audience=data.audience,
        content=data.content,
        content_hash=data.content_hash,
        submitted_by=by,
        findings=found.findings,
        inspected_ms=found.ms,
        queued_at=at or now(),
        state="rejected" if found.blocked else "submitted",
        unchanged=unchanged,
        version=item.version,
        conversation_id=getattr(data, "conversation_id", None),
        turn_id=getattr(data, "turn_id", None),
        sent_at=step.cause.envelope.time,
        crossed_at=now(),
    )
    key = f"unchanged:{step.cause.event_id}" if unchanged else str(item.item_id)
    step.tell("item.queued", fact, key=key, version=item.version, about=str(item.item_id), actor=by.id)


async def _refuse(step: Step, data: Submission, found: Inspected, policy: str) -> None:
    assert step.cause is not None
    fact = SubmissionRefused(
        submission_id=data.submission_id, item_id=data.item_id, reason=found.fault, findings=found.findings, at=now()
    )
    step.tell("submission.refused", fact, key=f"refused:{step.cause.event_id}", version=1, about=str(data.item_id))
    if step.from_agent:
        tell_answered(step, data, "refused", 0, fact.at, found.fault)
    await step.done("refused", policy=policy, reason=found.fault)
