"""Somebody's agent proposes an item in their name; it waits in the queue for a person like any other (rule 20)."""

from collections.abc import Mapping
from uuid import UUID

from schemas.agent.v1 import AttachmentProposed
from schemas.agent.v2 import ItemProposed
from schemas.model import Actor
from services.agent.domain import Draft, make_proposal
from services.agent.owners.domain import Me
from services.agent.proposals import store
from services.agent.store import next_version
from shared.db import Tx
from shared.errors import Refused

OFF = (
    "The agent may not propose anything now: an owner or admin has switched proposals off, in the console under Switches, Agent."
    " Nothing was handed in. Hand the text in yourself in the console, or ask them to switch proposals on."
)


async def propose_publication(
    tx: Tx,
    me: Me,
    conversation_id: UUID,
    draft: Draft,
    *,
    may_propose: bool,
    turn_id: UUID | None = None,
    data: Mapping[str, bytes] | None = None,
) -> ItemProposed:
    """`tx` acts for their owner. Refused while proposals are off, and for what no item can be; TooLarge above 512 KiB (rule 5).

    Under four eyes they count as its author, and so cannot approve it. `data`: the bytes of its attachments by hash, each an event of its own.
    """
    if not may_propose:
        raise Refused(OFF, code="proposals_off")
    by = Actor(id=me.owner.id, name=me.name, via="agent")
    proposal = make_proposal(draft, by, conversation_id=conversation_id, turn_id=turn_id)
    version = await next_version(tx, proposal.item_id)
    await store.add(tx, me.owner, conversation_id, proposal, draft.title)
    tx.stage("item.proposed", proposal, key=str(proposal.item_id), version=version, actor=me.owner.id)
    for hash_, raw in (data or {}).items():
        what = AttachmentProposed(submission_id=proposal.submission_id, item_id=proposal.item_id, hash=hash_, data=raw)
        key = f"attachment:{proposal.submission_id}:{hash_}"
        tx.stage("attachment.proposed", what, key=key, version=1, about=str(proposal.item_id))
    return proposal
