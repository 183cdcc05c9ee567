"""The agent proposes something. It waits for a person; what cannot be meant is answered at once."""

from services.console.notices import store as notices
from services.console.notices.domain import Notice
from services.console.proposals import store
from services.console.proposals.domain import Proposed, about_of, app_of, body_of, title_of
from services.console.proposals.usecases.answer_proposal import answer_proposal
from shared.clock import now
from shared.db import Tx
from shared.errors import Permanent, Refused

NOUNS = {"app": "an app", "record": "rows of a table", "job": "a cleanup job"}


async def record_proposal(tx: Tx, proposed: Proposed) -> list[Notice]:
    """What people were told; nothing when it was there already, or answered itself. Permanent for a guest's: guests propose nothing."""
    if proposed.owner.kind != "user":
        raise Permanent("a proposal of a guest: guests propose nothing")
    about = about_of(proposed)
    try:
        body = body_of(proposed)
    except Refused as refused:
        if await store.add(tx, proposed, about, app_of(proposed), title_of(proposed), "{}"):
            await answer_proposal(tx, proposed.proposal_id, "failed", reason=refused.message)
        return []
    if not await store.add(tx, proposed, about, app_of(proposed), title_of(proposed), body):
        return []
    text = f"The agent proposes {NOUNS[about]} for {proposed.owner_name}: {title_of(proposed)}"[:500]
    found = [Notice(each, "card", text, f"/proposals/{proposed.proposal_id}") for each in await store.deciders(tx)]
    if found:
        await notices.add(tx, found, now())
    return found
