"""A signed-in person gets a token that brings her to one receiver, once, within a minute; the agent may then act for her."""

import asyncio
from datetime import datetime
from uuid import UUID

from services.console.delegations.usecases.issue_delegation import issue_delegation
from services.console.identity import store
from services.console.identity.domain import MINT_WINDOW, MINTS, Audience
from services.console.identity.issuer import Issuer
from services.console.people.domain import check_role
from shared.clock import now
from shared.db import Database
from shared.errors import TooMany, Unauthorized


async def mint_token(db: Database, issuer: Issuer, session_hash: str, audience: Audience, nonce: str) -> str:
    """Unauthorized when the sign-in is over or the person is shut out; TooMany above 30 in a minute."""
    async with db.transaction() as tx:
        row = await store.count_mint(tx, session_hash, now())
        if row is None:
            raise Unauthorized("You are not signed in any more.", code="session")
        if row["minted"] > MINTS:
            raise TooMany(
                f"One sign-in gets at most {MINTS} tokens in {MINT_WINDOW.seconds} s; wait a minute.", code="mints"
            )
        person_id: UUID = row["id"]
        if audience == "agent":
            await issue_delegation(tx, issuer, person_id, now())
        since = await store.sessions_from(tx, audience, issuer.subject(audience, person_id))
    at = await _after(since)
    return issuer.token(audience, person_id, row["name"], check_role(row["role"]), session_hash, nonce, at)


async def _after(since: datetime | None) -> datetime:
    """Now; but a token's time has whole seconds, and one of the second in which everything was ended would count as older."""
    at = now()
    if since is not None and at.replace(microsecond=0) < since <= at:
        await asyncio.sleep(
            1.01 - at.microsecond / 1e6
        )  # a little into the next second: a timer may be a millisecond early
    return now()
