"""Events that the agent reads: who may be here, and what became of cards it waits for. Visitors' text never comes here by itself, and no event lets the agent decide."""

from schemas.bridge.v1 import PersonRecorded, ProposalMoved, SessionClosed
from schemas.connectors.v1 import CardSettled
from schemas.console.v1 import RecordShared, RecordUnshared
from services.agent.proposals.usecases.keep_move import keep_move
from services.agent.sharing.usecases.keep_record import drop_record, keep_record
from services.agent.usecases.keep_card import keep_card
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

    @on("card.settled")
    async def on_card_settled(self, tx: Tx, event: Received[CardSettled]) -> None:
        await keep_card(tx, event.data)

    @on("record.shared")
    async def on_record_shared(self, tx: Tx, event: Received[RecordShared]) -> None:
        await keep_record(tx, event.data)

    @on("record.unshared")
    async def on_record_unshared(self, tx: Tx, event: Received[RecordUnshared]) -> None:
        await drop_record(tx, event.data)

    @on("proposal.moved")
    async def on_proposal_moved(self, tx: Tx, event: Received[ProposalMoved]) -> None:
        await keep_move(tx, event.data)
