"""For every automation that a person allowed: the agent may act for its card and its instruction for another half day, whoever is signed in (S10)."""

from uuid import UUID

from schemas.console.v1 import DelegationIssued
from schemas.outward import Owner
from services.console.automations import store
from services.console.automations.domain import instruction_hash, read_automation
from services.console.delegations.domain import AUDIENCE, LIFE, RENEW
from services.console.delegations.usecases.issue_delegation import operations_now
from services.console.identity.issuer import Issuer
from shared.clock import now
from shared.db import Tx
from shared.ids import new_id

FIRST = UUID(int=0)


async def renew_automations(tx: Tx, issuer: Issuer, after: UUID, at_most: int) -> UUID | None:
    """The last card that was looked at, to go on after; None when there was none. What the agent says of an automation opens nothing: the hash is the card's own."""
    at = now()
    operations, digest = await operations_now(tx)
    rows = await store.due(tx, at + RENEW, digest, after, at_most)
    last = None
    for row in rows:
        shown = read_automation(row)
        last, said = shown.card.card_id, instruction_hash(shown.card)
        if said is None or said != row["instruction_hash"]:
            continue
        signed = issuer.delegation(
            delegation_id=new_id(),
            owner=Owner(kind="user", id=str(issuer.subject(AUDIENCE, row["person_id"]))),
            audience=AUDIENCE,
            operations=operations,
            issued_at=at,
            expires_at=at + LIFE,
            card_id=last,
            instruction_hash=said,
        )
        version = await store.put_issued(tx, last, digest, at, at + LIFE)
        tx.stage("delegation.issued", DelegationIssued(delegation=signed), key=f"delegation:card:{last}", version=version)  # fmt: skip
    return last
