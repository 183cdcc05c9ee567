"""A person's decision on a card arrives: verified, checked, kept, and in force; whoever waits is told (S5)."""

from typing import Literal

from schemas.connectors.v1 import CardSettled
from schemas.console.v1 import CardDecided
from schemas.outward import CardDecision
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book import store
from services.connectors.book.domain import Decided
from services.connectors.book.keeper import Keeper
from services.connectors.book.usecases.refuse_change import refuse_change
from shared.bus import Received
from shared.clock import now
from shared.db import Tx
from shared.errors import BadSignature, SchleuseError

_STATES: dict[str, Literal["allowed", "refused", "revoked"]] = {
    "allow": "allowed",
    "refuse": "refused",
    "revoke": "revoked",
}


async def record_decision(tx: Tx, event: Received[CardDecided], keeper: Keeper) -> None:
    """`card.settled`, or `change.refused` and nothing changed."""
    signed, opening = event.data.statement, event.data.opening
    book, keys = await keeper.locked(tx)
    try:
        decision = keys.verify_by(signed, opening, CardDecision)
        if decision.card_id != event.data.card_id:
            raise BadSignature("the signed statement is about another card")
        book.check_decision(decision, now())
        book.check_decision(decision, decision.decided_at)  # it is read again at every start, by its own time
    except SchleuseError as error:
        refuse_change(tx, event, signed, error)
        return
    made = book.enter_decision(decision, opening.person_name, signed.hash)
    await store.add_statement(tx, decision.PURPOSE, f"card:{decision.card_id}", signed, opening)
    keeper.written(tx)
    settled = CardSettled(
        card_id=decision.card_id,
        asker=made.card.asker,
        state=_STATES[decision.verdict],
        statement_hash=signed.hash,
        at=now(),
        version=made.changes,
    )
    tx.stage("card.settled", settled, key=f"card:{decision.card_id}", version=made.changes, cause=event)
    await record_notes(tx, [_note(made, opening.person_name)])


def _note(made: Decided, by: str) -> Note:
    card = made.card
    return Note(
        call_id=card.card_id,
        asker="console",
        operation=f"card.{made.verdict}",
        outcome="noted",
        on_behalf_of=str(card.on_behalf_of or ""),
        connector=card.connector,
        target=f"card {card.card_id}",
        detail=f"{card.asker}, by {by}"[:500],
    )
