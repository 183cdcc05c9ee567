"""A reviewer decides on one exact revision. The decision is signed here and takes effect when the lock accepts it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.console.v1 import ItemDecided
from schemas.statements import Decision, Opening
from services.console.attachments.usecases.read_attachments import read_attachments
from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.domain import Order, check_order, check_reason, is_unanswered
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound
from shared.ids import new_id
from shared.signing import SigningKey


@dataclass(frozen=True)
class Decided:
    """`repeated`: the same person had given the same verdict already (a double click); nothing was sent again."""

    item_id: UUID
    statement_hash: str
    repeated: bool = False


async def decide_item(tx: Tx, key: SigningKey, caller: Caller, order: Order) -> Decided:
    """Compare-and-swap under the item's row lock. Conflict says who was first; Refused which rule forbids it."""
    caller.require("decide")
    reason = check_reason(order.verdict, order.reason)
    item = await store.lock_item(tx, order.item_id)
    if item is None:
        raise NotFound("There is no such item in the queue.")
    at, opening = now(), make_opening(caller, reason)
    twin = None if is_unanswered(item, at) else await _same_word_before(tx, item, order, caller)
    if twin:
        return Decided(order.item_id, twin, repeated=True)
    check_order(item, order, caller, at)
    attachments = await read_attachments(tx, order.item_id, item["attached"], needed=order.verdict == "approve")
    signed = key.sign(_decision(item, attachments, order, key.key_id, opening, at))
    row: dict[str, Any] = {"statement_hash": signed.hash, "revision": item["revision"], "verdict": order.verdict}
    row["reason"] = reason
    row |= {"publish_at": order.publish_at, "expire_at": order.expire_at, "batch": order.batch or new_id()}
    by = {"by_id": caller.id, "by_name": caller.name, "by_via": caller.via, "key_id": key.key_id, "at": at}
    version = await store.record_decision(tx, order.item_id, {**row, **by})
    data = ItemDecided(item_id=order.item_id, statement=signed, opening=opening)
    tx.stage("item.decided", data, key=str(order.item_id), version=version, actor=caller.name)
    return Decided(order.item_id, signed.hash)


async def _same_word_before(tx: Tx, item: Mapping[str, Any], order: Order, caller: Caller) -> str | None:
    if item["decided_by"] != caller.id or order.revision != item["revision"]:
        return None
    last = await store.last_decision(tx, order.item_id, item["revision"])
    if last is None or last["by_id"] != caller.id or last["outcome"] == "refused":
        return None
    times = (last["publish_at"], last["expire_at"])
    same = (last["verdict"], *times) == (order.verdict, order.publish_at, order.expire_at)
    return str(last["statement_hash"]) if same else None


def make_opening(caller: Caller, reason: str) -> Opening:
    """Who, how and why, behind a commitment that the public side cannot open."""
    nonce = secrets.token_hex(16)
    return Opening(person_id=caller.id, person_name=caller.name, via=caller.via, reason=reason, nonce=nonce)


def _decision(
    item: Mapping[str, Any], attachments: tuple[str, ...], order: Order, key_id: str, opening: Opening, at: datetime
) -> Decision:
    return Decision(
        key_id=key_id,
        item_id=order.item_id,
        revision=item["revision"],
        content_hash=item["content_hash"],
        attachments=attachments,
        kind=item["kind"],
        lang=item["lang"],
        path=item["path"],
        audience=item["audience"],
        verdict=order.verdict,
        publish_at=order.publish_at,
        expire_at=order.expire_at,
        decided_at=at,
        decider=opening.commitment,
        prior_version=item["version"],
    )
