"""Look at a submission before it is queued (S14). Runs outside of any transaction: it may take two seconds."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from schemas.agent.v1 import ItemProposed
from schemas.bridge.v1 import Finding
from schemas.console.v1 import ItemSubmitted
from schemas.content import ItemContent
from schemas.language import spelled
from schemas.model import MAX_CONTENT
from schemas.site.v1 import CommentSubmitted
from schemas.text import BadJson, sha256
from services.bridge import store
from services.bridge.domain import fault_line
from services.bridge.inspection import Inspector
from services.bridge.usecases.check_comment import check_comment
from shared.attachments import check_names
from shared.db import Database
from shared.ids import item_id
from shared.markup import invisible

Submission = ItemSubmitted | ItemProposed | CommentSubmitted


@dataclass(frozen=True)
class Inspected:
    """What the lock found. `fault` is set when the submission can never become a revision; `content` then is None."""

    content: ItemContent | None
    fault: str = ""
    findings: tuple[Finding, ...] = ()
    blocked: bool = False
    ms: int = 0


async def inspect_item(
    db: Database, inspector: Inspector, data: Submission, files: Mapping[str, bytes] | None = None
) -> Inspected:
    """`files`: its attachments by hash; None while they may not be there, and then nothing that has any is looked at. Compare with what is public now, not with the last edit, so that many small edits add up to one large one."""
    content = read_content(data)
    if isinstance(content, str):
        return Inspected(None, fault=content)
    if isinstance(data, CommentSubmitted) and (fault := await check_comment(db, data, content)):
        return Inspected(None, fault=fault)
    if content.attachments and files is None:
        return Inspected(content, blocked=True)  # whoever queued it like this would stop it
    async with db.reading() as tx:
        public = await store.published_content(tx, data.item_id)
    prior = None if public is None else ItemContent.from_bytes(public).body
    held = [(files or {})[each.hash] for each in content.attachments]
    found = await inspector.inspect(content, data.kind, data.lang, prior, held)
    return Inspected(content, findings=found.findings, blocked=found.blocked, ms=found.ms)


def read_content(data: Submission) -> ItemContent | str:
    """The content, or why it cannot be one."""
    if (data.kind == "comment") != isinstance(data, CommentSubmitted):
        return "comments come from visitors, and from visitors nothing else comes"
    if len(data.content) > MAX_CONTENT:
        return f"the content has {len(data.content)} bytes; at most {MAX_CONTENT} (512 KiB) can cross"
    if sha256(data.content) != data.content_hash:
        return "the content does not have the hash that was stated"
    if item_id(data.kind, data.lang, data.path) != data.item_id:
        return "the item's id does not belong to its kind, language and path"
    if (
        invisible(data.path)
        or unicodedata.normalize("NFC", data.path) != data.path
        or {".", ".."} & set(data.path.split("/"))
    ):
        return "the path has invisible characters, is not in NFC, or has a segment that means another folder"
    if spelled(data.lang) != data.lang:
        return f"the language is written {spelled(data.lang)}"
    try:
        content = ItemContent.from_bytes(data.content)
        if content.about is not None and data.kind != "comment":
            return "only a comment is about another item"
        return check_names(content.attachments) or content
    except ValidationError as error:
        named = fault_line(error.errors(include_url=False, include_input=False, include_context=False))
        return f"the content does not fit the allow-list of fields: {named}"[:500]
    except BadJson as error:
        return f"the content cannot be read: {error}"[:500]
