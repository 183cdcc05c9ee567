"""Who does this cookie belong to?"""

from datetime import timedelta

from services.console.people import store
from services.console.people.domain import ABSOLUTE, Caller, Session, check_role, hash_token
from shared.clock import now
from shared.db import Database

_TOUCH = timedelta(minutes=1)


async def find_session(db: Database, token: str) -> Session | None:
    """None when it is unknown, ended, idle for 12 h or older than 7 d. Notes the visit at most once a minute."""
    at, token_hash = now(), hash_token(token)
    async with db.reading() as tx:
        row = await store.session(tx, token_hash, at)
    if row is None:
        return None
    if row["seen_at"] < at - _TOUCH:
        async with db.transaction() as tx:
            await store.touch_session(tx, token_hash, at)
    caller = Caller(str(row["id"]), row["name"], check_role(row["role"]))
    return Session(token_hash, caller, row["single_keys"], row["created_at"] + ABSOLUTE, row["language"] or "")
