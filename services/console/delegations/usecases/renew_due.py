"""For whoever is signed in or has a key: a new delegation before the last one ends, and when connectors have come or gone."""

from services.console.delegations import store
from services.console.delegations.usecases.issue_delegation import issue_delegation, operations_now
from services.console.identity.issuer import Issuer
from shared.clock import now
from shared.db import Tx


async def renew_due(tx: Tx, issuer: Issuer, at_most: int) -> int:
    """How many people were looked at; 0 when nobody is left. Two instances at once issue nothing twice."""
    at = now()
    people = await store.due(tx, (await operations_now(tx))[1], at, at_most)
    for person_id in people:
        await issue_delegation(tx, issuer, person_id, at)
    return len(people)
