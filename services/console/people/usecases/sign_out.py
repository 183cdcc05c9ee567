"""A person signs out in one browser: this one, or another one of the list."""

from uuid import UUID

from services.console.claims.usecases.release_claims import release_claims
from services.console.identity.issuer import Issuer
from services.console.identity.usecases.end_sign_ins import end_sign_ins
from services.console.people import store, views
from services.console.people.domain import session_name
from shared.clock import now
from shared.db import Tx
from shared.errors import NotFound


async def sign_out(tx: Tx, issuer: Issuer, token_hash: str) -> None:
    """Nothing happens when it is over already."""
    await release_claims(tx, token_hash)
    if await store.end_session(tx, token_hash):
        end_sign_ins(tx, issuer, [token_hash], now())


async def sign_out_there(tx: Tx, issuer: Issuer, person_id: UUID, name: str) -> str:
    """The token hash of the session that ended. NotFound for one that is over, or another person's (rule 24)."""
    for row in await views.sessions_of(tx, person_id, now()):
        if session_name(row["token_hash"]) == name:
            await sign_out(tx, issuer, row["token_hash"])
            ended: str = row["token_hash"]
            return ended
    raise NotFound("This sign-in is over already.")
