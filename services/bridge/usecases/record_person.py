"""The console says who counts at a surface, or that a sign-in is over: check the signature, tell the surface (S8)."""

from collections.abc import Sequence

from schemas.bridge.v1 import PersonRecorded, SessionClosed
from schemas.console.v1 import PersonChanged, SessionEnded
from schemas.statements import SessionEnd, Signed, Standing
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys


async def record_person(tx: Tx, event: Received[PersonChanged], keys: PublicKeys) -> None:
    """One `person.recorded` for each surface; nothing at all when any of the signatures is not the identity key's."""
    step = Step(tx, event)
    try:
        standings = [(signed, keys.verify("identity", signed, Standing)) for signed in event.data.standings]
    except BadSignature as error:
        await step.done("refused", reason=error.message)
        return
    for signed, standing in standings:
        fact = PersonRecorded(standing=signed)
        step.tell(
            "person.recorded",
            fact,
            key=str(standing.subject),
            version=standing.version,
            to=standing.audience,
            signature_hash=signed.hash,
        )
    await step.done(signature=_signature(event.data.standings))


async def close_session(tx: Tx, event: Received[SessionEnded], keys: PublicKeys) -> None:
    """One `session.closed` for each surface, as above."""
    step = Step(tx, event)
    try:
        endings = [(signed, keys.verify("identity", signed, SessionEnd)) for signed in event.data.endings]
    except BadSignature as error:
        await step.done("refused", reason=error.message)
        return
    for signed, ending in endings:
        fact = SessionClosed(ending=signed)
        step.tell(
            "session.closed", fact, key=str(ending.sid), version=1, to=ending.audience, signature_hash=signed.hash
        )
    await step.done(signature=_signature(event.data.endings))


def _signature(signed: Sequence[Signed]) -> bytes | None:
    return signed[0].signature if signed else None
