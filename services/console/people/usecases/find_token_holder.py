"""Who does this API token speak for?"""

from services.console.access import store as access
from services.console.people import store
from services.console.people.domain import Caller, check_role, hash_token, narrower
from shared.clock import now
from shared.db import Database, Tx
from shared.errors import Unauthorized


async def find_token_holder(db: Database, token: str, *, reads: bool = False) -> Caller:
    """Unauthorized for an unknown or revoked token. The role is the narrower of the token's and the person's.

    A key of the agent's API opens what only `reads` here, too: it is often in a program's hands, and decides nothing.
    """
    async with db.transaction() as tx:
        row = await store.token(tx, hash_token(token))
        if row is not None:
            await store.use_token(tx, row["id"], now())
            return _caller(row["person_id"], row["name"], row["scope"], row["role"])
        return await _by_key(tx, token, reads=reads)


async def _by_key(tx: Tx, token: str, *, reads: bool) -> Caller:
    row = await access.by_hash(tx, hash_token(token), now())
    if row is None or row["disabled"]:
        raise Unauthorized("The API token is unknown or was revoked.", code="token")
    if not reads:
        raise Unauthorized(
            "A key of the agent's API only reads here; make an API token on your own page of the console.", code="key"
        )
    return _caller(row["person_id"], row["person_name"], row["role"], row["person_role"])


def _caller(person_id: object, name: str, scope: str, role: str) -> Caller:
    return Caller(str(person_id), name, narrower(check_role(scope), check_role(role)), "api")
