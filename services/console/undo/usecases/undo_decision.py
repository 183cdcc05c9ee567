"""A person takes a verdict of the last ten minutes back. Signed; it takes effect when the lock accepts it."""

from collections.abc import Mapping
from typing import Any

from schemas.console.v1 import ItemUndone
from schemas.statements import Undo
from services.console.people.domain import Caller
from services.console.queue import store
from services.console.queue.domain import check_reason, clock
from services.console.queue.usecases.decide_item import Decided, make_opening
from services.console.undo import views
from services.console.undo.domain import check_undo
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound
from shared.signing import SigningKey


async def undo_decision(tx: Tx, key: SigningKey, caller: Caller, statement_hash: str, reason: str = "") -> Decided:
    """Of exactly what that decision led to. `repeated` when the same person has undone it, or is about to. Conflict says what happened."""
    caller.require("decide")
    reason = check_reason("undo", reason)
    decision = await store.decision(tx, statement_hash)
    item = await store.lock_item(tx, decision["item_id"]) if decision else None
    if decision is None or item is None:
        raise NotFound("There is no such decision.")
    decision = await store.decision(tx, statement_hash)  # as it is now that nobody else can change it
    assert decision is not None
    mine = await store.undo_of(tx, statement_hash, caller.id)
    if mine is not None:
        return Decided(item["item_id"], mine, repeated=True)
    at = now()
    check_undo(item, decision, caller, at)
    if item["verdict_hash"] != statement_hash:
        raise Conflict(await _what_happened(tx, item), code="stale")
    opening = make_opening(caller, reason)
    signed = key.sign(
        Undo(
            key_id=key.key_id,
            item_id=item["item_id"],
            revision=decision["revision"],
            undoes=statement_hash,
            decided_at=at,
            decider=opening.commitment,
            prior_version=item["version"],
        )
    )
    row = {"statement_hash": signed.hash, "revision": decision["revision"], "verdict": "undo", "reason": reason}
    by = {"by_id": caller.id, "by_name": caller.name, "by_via": caller.via, "key_id": key.key_id, "at": at}
    number = await store.record_decision(tx, item["item_id"], {**row, **by, "undoes": statement_hash})
    data = ItemUndone(item_id=item["item_id"], statement=signed, opening=opening)
    tx.stage("item.undone", data, key=str(item["item_id"]), version=number, actor=caller.name)
    return Decided(item["item_id"], signed.hash)


async def _what_happened(tx: Tx, item: Mapping[str, Any]) -> str:
    last = await views.what_happened(tx, item["item_id"])
    if last is None:
        return "The item has moved on since. Nothing was changed."
    state = last["state"].replace("_", " ")
    if last["state"] == "submitted":
        what = f"revision {last['revision']} came in"
    elif last["by_via"] == "service":
        what = f"revision {last['revision']} was {state}"
    else:
        what = f"{last['by_name']} made it {state}"
    return f"Something happened since: {what} at {clock(last['at'])}. Nothing was changed."
