"""A reviewer takes back what is public and what waits for its time, comments on it included. Signed; gone from the site when the site says so."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.console.v1 import ItemWithdrawn
from schemas.statements import Withdrawal
from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.domain import check_reason, clock, is_on_its_way
from services.console.queue.usecases.decide_item import Decided, make_opening
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.signing import SigningKey

WITH_ITS_PAGE = "with the page that it was about"


async def withdraw_item(
    tx: Tx, key: SigningKey, caller: Caller, item_id: UUID, reason: str, version: int | None = None
) -> Decided:
    """Conflict when the item has moved on since `version` or somebody is deciding; Refused when nothing can be taken back."""
    caller.require("decide")
    reason = check_reason("withdraw", reason)
    item = await store.lock_item(tx, item_id)
    if item is None:
        raise NotFound("There is no such item in the queue.")
    at = now()
    if item["published_revision"] is None and item["scheduled_revision"] is None:
        raise Refused(
            "No revision of this item is public or scheduled, so there is nothing to withdraw.", code="not_published"
        )
    if is_on_its_way(item, at) or (version is not None and version != item["version"]):
        when = f" at {clock(item['decided_at'])}" if item["decided_at"] else ""
        raise Conflict(f"{item['decided_name'] or 'Somebody'} was faster{when}. Nothing was changed.", code="stale")
    sent = await _take_back(tx, key, caller, item, reason, at)
    for comment in await store.comments_out(tx, item_id):
        if not is_on_its_way(comment, at):
            await _take_back(tx, key, caller, comment, WITH_ITS_PAGE, at)
    return sent


async def _take_back(
    tx: Tx, key: SigningKey, caller: Caller, item: Mapping[str, Any], reason: str, at: datetime
) -> Decided:
    """Signed and sent: what is public of this item, and what waits for its time."""
    opening, item_id = make_opening(caller, reason), item["item_id"]
    statement = Withdrawal(
        key_id=key.key_id, item_id=item_id, decided_at=at, decider=opening.commitment, prior_version=item["version"]
    )
    signed = key.sign(statement)
    row = {
        "statement_hash": signed.hash,
        "revision": item["published_revision"] or item["scheduled_revision"],
        "verdict": "withdraw",
        "reason": reason,
        "publish_at": None,
    }
    by = {"by_id": caller.id, "by_name": caller.name, "by_via": caller.via, "key_id": key.key_id, "at": at}
    number = await store.record_decision(tx, item_id, {**row, **by})
    data = ItemWithdrawn(item_id=item_id, statement=signed, opening=opening)
    tx.stage("item.withdrawn", data, key=str(item_id), version=number, actor=caller.name)
    return Decided(item_id, signed.hash)
