"""Before an approval: does what was inspected once hold what has become a secret, or internal, since? Runs outside of any transaction (S14)."""

from pydantic import ValidationError

from schemas.bridge.v1 import Finding
from schemas.content import ItemContent
from schemas.statements import Decision, Signed
from schemas.text import BadJson, sha256
from services.bridge import store
from services.bridge.attachments import store as attachments
from services.bridge.inspection import Inspector
from services.bridge.inspection import store as inspected
from shared.db import Database


async def recheck_item(db: Database, inspector: Inspector, signed: Signed) -> str:
    """Why what this statement would approve cannot pass now, or nothing. The signature, and whether it counts at all, is judged afterwards.

    Costs a look only when secrets or internal values are others than at the last one. What the reviewer was shown is not held against the item.
    """
    try:
        decision = Decision.from_bytes(signed.payload)
    except (BadJson, ValidationError):
        return ""
    if decision.verdict != "approve" or await inspector.is_clean(decision.content_hash):
        return ""
    async with db.reading() as tx:
        raw = await store.revision_content(tx, decision.item_id, decision.revision)
        if raw is None or sha256(raw) != decision.content_hash:
            return ""
        content = ItemContent.from_bytes(raw)
        seen = await inspected.shown_findings(tx, decision.item_id, decision.revision)
        held = await attachments.read(tx, [each.hash for each in content.attachments])
    files = [held[each.hash] for each in content.attachments if each.hash in held]
    return await inspector.recheck(content, files, [Finding.model_validate(each) for each in seen])
