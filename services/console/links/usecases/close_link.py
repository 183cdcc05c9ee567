"""A person closes a share link, for ever. Gone from the site when the lock has put it into the gate's log."""

from uuid import UUID

from schemas.console.v1 import LinkChanged
from schemas.statements import LinkChange
from services.console.links import store
from services.console.links.domain import read_link
from services.console.people.domain import Caller
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound
from shared.signing import SigningKey


async def close_link(tx: Tx, key: SigningKey, caller: Caller, link_id: UUID, reason: str = "") -> str:
    """The statement's hash. Conflict when it opens nothing any more."""
    caller.require("decide")
    row, at = await store.one(tx, link_id, lock=True), now()
    if row is None:
        raise NotFound("There is no such share link.")
    link = read_link(row, at)
    if not link.can_be_closed:
        raise Conflict(f"This share link is {link.state} and opens nothing. Nothing was changed.", code="closed")
    opening = make_opening(caller, reason.strip()[:500])
    change = LinkChange(
        key_id=key.key_id,
        link_id=link_id,
        item_id=link.item_id,
        action="close",
        token_hash=row["token_hash"],
        expires_at=link.expires_at,
        decided_at=at,
        decider=opening.commitment,
        prior_version=1,
    )
    signed = key.sign(change)
    await store.close(tx, link_id, signed.hash, caller.name, at)
    data, name = LinkChanged(item_id=link.item_id, statement=signed, opening=opening), f"link:{link_id}"
    tx.stage("link.changed", data, key=name, version=await next_version(tx, name), actor=caller.name)
    return signed.hash
