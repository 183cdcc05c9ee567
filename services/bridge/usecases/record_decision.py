"""Write down who decided what, and tell how the item moved: the console, and the agent of what it proposed."""

from datetime import datetime
from uuid import UUID

from schemas.bridge.v1 import ItemMoved
from schemas.model import Actor
from schemas.statements import Opening, Signed
from services.bridge.core_tables import decisions
from services.bridge.domain import Item, Move, Recorded
from services.bridge.usecases.record_crossings import Step
from services.bridge.usecases.tell_proposer import tell_proposer
from shared.ids import new_id

THE_LOCK = Actor(id="bridge", name="the lock", via="service")
"""Who does what a person's signed statement told in advance."""


def person(opening: Opening) -> Actor:
    """Who decided, as shown inside."""
    return Actor.model_validate({"id": opening.person_id, "name": opening.person_name, "via": opening.via})


def signed_row(statement: Signed, opening: Opening) -> dict[str, object]:
    """The columns of a signed statement and of who stands behind it."""
    return {
        "statement": statement.payload,
        "signature": statement.signature,
        "key_id": statement.key_id,
        "statement_hash": statement.hash,
        "person_id": opening.person_id,
        "person_name": opening.person_name,
        "via": opening.via,
        "reason": opening.reason,
        "nonce": opening.nonce,
    }


def add_decision(
    step: Step,
    statement: Signed,
    opening: Opening,
    item_id: UUID,
    revision: int,
    verdict: Recorded,
    prior_version: int,
    undoes: str | None = None,
) -> None:
    """The decision's row in core; its unique keys and its trigger are the database's own check of it."""
    event_id = step.cause.event_id if step.cause else new_id()  # no event brings what is replayed after a restore
    what = {"event_id": event_id, "item_id": item_id, "revision": revision, "verdict": verdict}
    what |= {"prior_version": prior_version, "undoes": undoes}
    step.writes.add(decisions, what | signed_row(statement, opening))


async def tell_moves(
    step: Step,
    item: Item,
    moves: tuple[Move, ...],
    *,
    by: Actor,
    reason: str,
    at: datetime,
    signed: Signed | None = None,
    seq: int | None = None,
) -> None:
    """One `item.moved` for each move. Reason and statement go with what they are about: not with what is superseded on the way.
    The gate's place goes with the move that the site will show."""
    for move in moves:
        meant = move.state != "superseded"
        shown = move.state in ("published", "withdrawn", "submitted")
        fact = ItemMoved(
            item_id=item.item_id,
            revision=move.revision,
            state=move.state,
            verdict=move.verdict,
            by=by,
            reason=reason if meant else "",
            statement_hash=signed.hash if signed and meant else None,
            gate_seq=seq if shown else None,
            at=at,
            version=move.version,
        )
        step.tell("item.moved", fact, key=str(item.item_id), version=move.version, actor=by.id, decided_by=by.id)
    await tell_proposer(step, item, moves, reason=reason, at=at)
