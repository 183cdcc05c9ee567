"""The secrets of mail accounts that are deleted are revoked, until the connectors have said so of every one (rule 15)."""

from services.console.mail import store
from services.console.people.domain import Caller, check_role
from services.console.secrets.domain import Change
from services.console.secrets.usecases.change_secret import change_own_secret
from shared.db import Tx
from shared.sealing import read_place
from shared.signing import SigningKey

WHY = "the mail account was removed by its owner"


async def revoke_left(tx: Tx, key: SigningKey, at_most: int) -> int:
    """How many were asked for. One whose last change has no answer yet waits for it: two at once would contradict each other."""
    left = await store.unrevoked(tx, at_most)
    for row in left:
        caller = Caller(str(row["person_id"]), row["name"], check_role(row["role"]))
        await change_own_secret(tx, key, caller, Change(read_place(row["place"]), "revoke", WHY))
    return len(left)
