"""A person opens a share link to what was approved for links. Good once the lock has put it into the gate's log."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.console.v1 import LinkChanged
from schemas.statements import LinkChange
from services.console.links import store
from services.console.links.domain import check_end, check_item, check_label
from services.console.people.domain import Caller, hash_token
from services.console.queue.store import next_version
from services.console.queue.usecases.decide_item import make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.ids import fresh_id, new_token
from shared.signing import SigningKey


@dataclass(frozen=True)
class Opened:
    """`token` is shown once and stored nowhere."""

    link_id: UUID
    token: str
    statement_hash: str


async def open_link(tx: Tx, key: SigningKey, caller: Caller, item_id: UUID, label: str, expires_at: datetime) -> Opened:
    """Refused when nothing of the item is published for links."""
    caller.require("decide")
    at, label = now(), check_label(label)
    item = await store.item(tx, item_id)
    if item is None:
        raise NotFound("There is no such item in the queue.")
    check_item(item)
    end, token, link_id, opening = check_end(expires_at, at), new_token(), fresh_id(), make_opening(caller, label)
    change = LinkChange(
        key_id=key.key_id,
        link_id=link_id,
        item_id=item_id,
        action="open",
        token_hash=hash_token(token),
        expires_at=end,
        decided_at=at,
        decider=opening.commitment,
        prior_version=0,
    )
    signed = key.sign(change)
    row = {"link_id": link_id, "item_id": item_id, "token_hash": change.token_hash, "label": label, "expires_at": end}
    row |= {"opened_at": at, "opened_by": caller.name, "open_hash": signed.hash, "open_outcome": "sent"}
    await store.add(tx, row)
    data = LinkChanged(item_id=item_id, statement=signed, opening=opening)
    name = f"link:{link_id}"
    tx.stage("link.changed", data, key=name, version=await next_version(tx, name), actor=caller.name)
    return Opened(link_id, token, signed.hash)
