"""The lock has inspected a revision: it waits here for a person (or was stopped)."""

from collections import Counter
from typing import Any
from uuid import UUID

from schemas.bridge.v1 import ItemQueued, SubmissionRefused
from schemas.content import ItemContent
from services.console.queue import store
from shared.clock import now
from shared.db import Tx


async def record_queued(tx: Tx, event_id: UUID, queued: ItemQueued) -> None:
    findings = [each.model_dump() for each in queued.findings]
    if not queued.unchanged:
        await _keep(tx, event_id, queued, findings)
    state = "unchanged" if queued.unchanged else "queued" if queued.state == "submitted" else "refused"
    reason = None if state != "refused" else "The lock stopped this revision: " + _first_block(findings)
    await store.settle_submission(
        tx, queued.submission_id, state=state, revision=queued.revision, findings=findings, reason=reason
    )


async def record_submission_refused(tx: Tx, refused: SubmissionRefused) -> None:
    findings = [each.model_dump() for each in refused.findings]
    await store.settle_submission(tx, refused.submission_id, state="refused", reason=refused.reason, findings=findings)


async def _keep(tx: Tx, event_id: UUID, queued: ItemQueued, findings: list[dict[str, Any]]) -> None:
    by = {"by_id": queued.submitted_by.id, "by_name": queued.submitted_by.name, "by_via": queued.submitted_by.via}
    text = {"title": queued.title, "content_hash": queued.content_hash, "queued_at": queued.queued_at}
    one = {"item_id": queued.item_id, "revision": queued.revision, "state": queued.state}
    shown = {"audience": queued.audience}
    await store.put_revision(
        tx,
        {
            **by,
            **text,
            **one,
            **shown,
            "submission_id": queued.submission_id,
            "content": queued.content,
            "findings": findings,
        }
        | {"inspected_ms": queued.inspected_ms, "seen_at": now()}
        | {name: getattr(queued, name, None) for name in ("conversation_id", "turn_id", "sent_at", "crossed_at")},
    )
    levels = Counter(each["level"] for each in findings)
    place: dict[str, Any] = {"kind": queued.kind, "lang": queued.lang, "path": queued.path, **shown}
    if queued.kind == "comment":
        place["about"] = ItemContent.from_bytes(queued.content).about
    counts = {"blocks": levels["block"], "checks": levels["check"], "notes": levels["note"]}
    await store.put_item(tx, {**by, **text, **one, **place, **counts, "version": queued.version})
    reason = "" if queued.state == "submitted" else "The lock stopped it: " + _first_block(findings)
    row = {**by, **one, "version": queued.version, "at": queued.queued_at, "event_id": event_id, "reason": reason}
    await store.add_history(tx, row)


def _first_block(findings: list[dict[str, Any]]) -> str:
    return next((each["message"] for each in findings if each["level"] == "block"), "it did not pass inspection")
