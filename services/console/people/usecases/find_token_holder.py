"""Who does this API token speak for?"""

from services.console.people import store
from services.console.people.domain import Caller, check_role, hash_token, narrower
from shared.clock import now
from shared.db import Database
from shared.errors import Unauthorized


async def find_token_holder(db: Database, token: str) -> Caller:
    """Unauthorized for an unknown or revoked token. The role is the narrower of the token's and the person's."""
    async with db.transaction() as tx:
        row = await store.token(tx, hash_token(token))
        if row is None:
            raise Unauthorized("The API token is unknown or was revoked.", code="token")
        await store.use_token(tx, row["id"], now())
    role = narrower(check_role(row["scope"]), check_role(row["role"]))
    return Caller(str(row["person_id"]), row["name"], role, "api")
