"""What the console says of somebody, as it comes over the bus: verified here once more, the newest counts."""

from schemas.statements import SessionEnd, Signed, Standing
from shared.db import Tx
from shared.errors import BadSignature
from shared.identity import store
from shared.signing import PublicKeys


async def record_standing(tx: Tx, keys: PublicKeys, audience: str, signed: Signed) -> None:
    """Keep it if it is newer than what is held, and end the sessions that it ends. BadSignature when it is not for us."""
    standing = keys.verify("identity", signed, Standing)
    if standing.audience != audience:
        raise BadSignature(f"the standing is for the {standing.audience}, not for the {audience}")
    await store.keep_standing(tx, standing, signed)


async def close_session(tx: Tx, keys: PublicKeys, audience: str, signed: Signed) -> None:
    """End what was begun from that sign-in, and what may still try to. BadSignature when it is not for us."""
    ending = keys.verify("identity", signed, SessionEnd)
    if ending.audience != audience:
        raise BadSignature(f"the ending is for the {ending.audience}, not for the {audience}")
    await store.end_sign_in(tx, ending.sid)
