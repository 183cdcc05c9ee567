"""The console says who counts at a surface, or that a sign-in is over: check the signature, tell the surface (S8)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from schemas.bridge.v1 import PersonRecorded, SessionClosed
from schemas.console.v1 import PersonChanged, SessionEnded
from schemas.statements import SessionEnd, Signed, Standing
from services.bridge.usecases.record_crossings import Step
from shared.bus import Received
from shared.db import Tx
from shared.errors import BadSignature
from shared.signing import PublicKeys

S = TypeVar("S", Standing, SessionEnd)


async def record_person(tx: Tx, event: Received[PersonChanged], keys: PublicKeys) -> None:
    """One `person.recorded` for each surface."""
    step = Step(tx, event)

    def tell(signed: Signed, standing: Standing) -> None:
        key, fact = str(standing.subject), PersonRecorded(standing=signed)
        to, version = standing.audience, standing.version
        step.tell("person.recorded", fact, key=key, version=version, to=to, signature_hash=signed.hash)

    await _tell_all(step, event.data.standings, Standing, keys, tell)


async def close_session(tx: Tx, event: Received[SessionEnded], keys: PublicKeys) -> None:
    """One `session.closed` for each surface."""
    step = Step(tx, event)

    def tell(signed: Signed, ending: SessionEnd) -> None:
        key, fact = str(ending.sid), SessionClosed(ending=signed)
        step.tell("session.closed", fact, key=key, version=1, to=ending.audience, signature_hash=signed.hash)

    await _tell_all(step, event.data.endings, SessionEnd, keys, tell)


async def _tell_all(
    step: Step, listed: Sequence[Signed], kind: type[S], keys: PublicKeys, tell: Callable[[Signed, S], None]
) -> None:
    """Nothing at all is told when any of the signatures is not the identity key's."""
    try:
        verified = [(signed, keys.verify("identity", signed, kind)) for signed in listed]
    except BadSignature as error:
        await step.done("refused", reason=error.message)
        return
    for signed, statement in verified:
        tell(signed, statement)
    await step.done(signature=listed[0].signature if listed else None)
