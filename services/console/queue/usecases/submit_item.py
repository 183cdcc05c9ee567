"""Somebody hands Markdown to the lock: a new item, or a new revision of one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError

from schemas.console.v1 import ItemSubmitted
from schemas.content import ItemContent
from services.console.attachments.usecases.stage_attachments import stage_attachments
from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.domain import Draft, check_size, make_draft
from shared.attaching import Prepared, prepare
from shared.clock import now
from shared.db import Tx
from shared.errors import Refused
from shared.ids import new_id
from shared.markup import parse_source

NOTHING = Prepared()


@dataclass(frozen=True)
class Submitted:
    """What the lock will answer to by `submission_id`."""

    submission_id: UUID
    item_id: UUID
    kind: str
    lang: str
    path: str
    title: str


def read_draft(
    kind: str, lang: str, path: str, text: str, audience: str = "public", attached: Prepared = NOTHING
) -> Draft:
    """The draft in Markdown text with optional front matter, with what belongs to it. Refused or TooLarge with the rule's value."""
    check_size(text)
    source = parse_source(text.replace("\r\n", "\n"))
    try:
        content = ItemContent.model_validate(vars(source) | {"attachments": attached.attachments})
    except ValidationError as error:
        raise Refused(f"The document was not taken: {error.errors()[0]['msg']}.", code="content") from None
    return make_draft(kind, lang, path, content, audience)


async def prepare_files(files: Sequence[tuple[str, bytes]], text: str) -> Prepared:
    """(name, bytes) with the text that they belong to, made ready outside of the event loop. Refused or TooLarge as `read_draft`."""
    if not files:
        return NOTHING
    check_size(text)
    return await asyncio.to_thread(prepare, files, parse_source(text.replace("\r\n", "\n")).body)


async def submit_item(tx: Tx, caller: Caller, draft: Draft, attached: Prepared = NOTHING) -> Submitted:
    """Each attachment is an event of its own; the lock waits for all of them."""
    caller.require("submit")
    submission_id, actor = new_id(), caller.actor()
    data = ItemSubmitted(
        submission_id=submission_id,
        item_id=draft.item_id,
        kind=draft.kind,
        lang=draft.lang,
        path=draft.path,
        audience=draft.audience,
        content=draft.content,
        content_hash=draft.content_hash,
        submitted_by=actor,
    )
    key = str(draft.item_id)
    tx.stage("item.submitted", data, key=key, version=await store.next_version(tx, key), actor=actor.name)
    place = {"item_id": draft.item_id, "kind": draft.kind, "lang": draft.lang, "path": draft.path, "title": draft.title}
    by = {"by_id": actor.id, "by_name": actor.name, "at": now(), "state": "sent", "audience": draft.audience}
    stage_attachments(tx, submission_id, draft.item_id, attached)
    await store.add_submission(tx, {"submission_id": submission_id, **place, **by})
    return Submitted(submission_id, draft.item_id, draft.kind, draft.lang, draft.path, draft.title)
