"""The agent may act for somebody from now on, for half a day, through every connector that is declared; signed by the identity key (S10)."""

from datetime import datetime
from uuid import UUID

from schemas.console.v1 import DelegationIssued
from schemas.outward import Owner
from schemas.text import canonical, sha256
from services.console.delegations import store
from services.console.delegations.domain import AUDIENCE, LIFE, RENEW, operations_of
from services.console.identity.issuer import Issuer
from shared.db import Tx
from shared.ids import new_id


async def operations_now(tx: Tx) -> tuple[tuple[str, ...], str]:
    """What there is to do, and its hash."""
    operations = operations_of(await store.declared(tx))
    return operations, sha256(canonical(list(operations)))


async def issue_delegation(tx: Tx, issuer: Issuer, person_id: UUID, at: datetime) -> bool:
    """False when the one that is held still says the same and has time left."""
    operations, digest = await operations_now(tx)
    held = await store.held(tx, person_id)
    if held is not None and held["operations_hash"] == digest and held["expires_at"] > at + RENEW:
        return False
    signed = issuer.delegation(
        delegation_id=new_id(),
        owner=Owner(kind="user", id=str(issuer.subject(AUDIENCE, person_id))),
        audience=AUDIENCE,
        operations=operations,
        issued_at=at,
        expires_at=at + LIFE,
    )
    version = await store.put(tx, person_id, digest, at, at + LIFE)
    tx.stage("delegation.issued", DelegationIssued(delegation=signed), key=f"delegation:{person_id}", version=version)
    return True
