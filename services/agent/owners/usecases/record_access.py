"""The console says that a key of the API is good, or is not any more."""

from datetime import timedelta

from schemas.agency import Access
from schemas.statements import Signed
from services.agent.owners import store
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys

LONGEST = timedelta(hours=1)
"""Of a token, whoever issued it."""


async def record_access(tx: Tx, keys: PublicKeys, signed: Signed) -> None:
    """BadSignature for what the identity key did not sign, or what contradicts what it signed before."""
    access = keys.verify("identity", signed, Access)
    check_life(access)
    known = await store.token_of(tx, access.access_id)
    if known is not None and known != access.token_hash:
        raise BadSignature("the statement names another key than the one that goes by this id")
    await store.add_access(tx, access, signed)


def check_life(access: Access) -> None:
    """A token that would live for more than an hour is none."""
    if access.kind != "token":
        return
    if access.expires_at is None or access.expires_at - access.issued_at > LONGEST:
        raise BadSignature("a token lives for an hour at most")
