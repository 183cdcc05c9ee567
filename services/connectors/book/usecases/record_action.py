"""A person's decision on a card of the agent arrives: verified, kept, and in force. A delegation for an automation holds by it (S10)."""

from schemas.agency import ActionDecision
from schemas.console.v1 import ActionDecided
from services.connectors.audit.domain import Note
from services.connectors.audit.usecases.record_notes import record_notes
from services.connectors.book import store
from services.connectors.book.keeper import Keeper
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature, Conflict


async def record_action(tx: Tx, event: Received[ActionDecided], keeper: Keeper) -> None:
    """BadSignature parks what no person's key signed. What was decided already stays so: the agent tells the console."""
    signed, opening = event.data.statement, event.data.opening
    book, keys = await keeper.locked(tx)
    decision = keys.verify_by(signed, opening, ActionDecision)
    if event.sender != "console" or decision.card_id != event.data.card_id:
        raise BadSignature("the signed statement is about another card, or no person's")
    try:
        book.check_action(decision)
    except Conflict:
        return
    await store.add_statement(tx, decision.PURPOSE, f"action:{decision.card_id}", signed, opening)
    keeper.written(tx)
    await record_notes(tx, [_note(decision, opening.person_name)])


def _note(decision: ActionDecision, by: str) -> Note:
    return Note(
        call_id=decision.card_id,
        asker="console",
        operation=f"action.{decision.verdict}",
        outcome="noted",
        target=f"card {decision.card_id}",
        detail=f"agent, by {by}"[:500],
    )
