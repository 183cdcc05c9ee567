"""Events that the agent reads: who may be here. Visitors' text never comes here by itself, and no event lets the agent decide."""

from schemas.bridge.v1 import PersonRecorded, SessionClosed
from shared.bus import Received, on
from shared.db import Tx
from shared.identity import close_session, record_standing
from shared.signing import PublicKeys


class AgentIntake:
    def __init__(self, keys: PublicKeys) -> None:
        self._keys = keys

    @on("person.recorded")
    async def on_person_recorded(self, tx: Tx, event: Received[PersonRecorded]) -> None:
        await record_standing(tx, self._keys, "agent", event.data.standing)

    @on("session.closed")
    async def on_session_closed(self, tx: Tx, event: Received[SessionClosed]) -> None:
        await close_session(tx, self._keys, "agent", event.data.ending)
