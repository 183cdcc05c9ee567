"""Whether a person's word stands behind an automation, as everything stands now: its card, their decision, its instruction (rule 28, S10)."""

from datetime import datetime
from uuid import UUID

from schemas.agency import AUTOMATE, ActionCard, ActionDecision
from schemas.outward import Owner
from schemas.text import BadJson, parse_json, sha256
from services.agent.actions import store as actions
from services.agent.actions.domain import TAKEN_BACK, card_hash, read_card
from services.agent.owners.deciders import Deciders
from shared.db import Tx
from shared.errors import BadSignature, Forbidden

NO_CARD = "no card stands behind it any more"


async def check_allowed(tx: Tx, deciders: Deciders, owner: Owner, card_id: UUID | None, instruction: str) -> ActionCard:
    """The card. Forbidden (code `revoked`) when it was taken back or there is none, BadSignature when the decision does not hold, or not for this.

    The transaction acts for the owner.
    """
    row = None if card_id is None else await actions.card(tx, owner, card_id)
    decided = None if card_id is None else await actions.decision(tx, owner, card_id)
    if card_id is None or row is None or decided is None:
        raise Forbidden(NO_CARD, code="revoked")
    if await actions.is_revoked(tx, owner, card_id):
        raise Forbidden(TAKEN_BACK, code="revoked")
    decision = await deciders.verify_by(tx, *decided, ActionDecision)
    if (decision.card_id, decision.card_hash, decision.verdict) != (card_id, card_hash(row["card"]), "allow"):
        raise BadSignature("the decision does not allow what the card says")
    card = read_card(row["card"])
    if card.owner != owner or card.tool != AUTOMATE or instruction_of(card) != instruction:
        raise BadSignature("the instruction is not the one that a person allowed")
    return card


def instruction_of(card: ActionCard) -> str | None:
    """What an automation's card says is to be done."""
    try:
        found = parse_json(card.arguments.encode())
    except BadJson:
        return None
    said = found.get("instruction") if isinstance(found, dict) else None
    return said if isinstance(said, str) else None


def reads_of(card: ActionCard) -> bool:
    """Whether the card says that something has to be read."""
    return bool(parse_json(card.arguments.encode()).get("reads"))


def hash_of(instruction: str) -> str:
    """What a delegation is bound to."""
    return sha256(instruction.encode())


def is_stale(made_at: datetime, at: datetime) -> bool:
    """A card was allowed this long ago, and there is no task of it: there will be none."""
    return (at - made_at).total_seconds() > 3600
