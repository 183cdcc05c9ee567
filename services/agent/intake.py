"""Events that the agent reads: who may be here, and what became of cards it waits for. Visitors' text never comes here by itself, and no event lets the agent decide."""

from collections.abc import Callable

from schemas.bridge.v1 import PersonRecorded, ProposalMoved, SessionClosed
from schemas.connectors.v1 import CardSettled
from schemas.console.v1 import ActionDecided, RecordShared, RecordUnshared
from services.agent.actions.usecases.record_decision import record_decision
from services.agent.owners.deciders import Deciders
from services.agent.proposals.usecases.keep_move import keep_move
from services.agent.sharing.usecases.keep_record import drop_record, keep_record
from services.agent.usecases.keep_card import keep_card
from shared.bus import Received, on
from shared.clock import now
from shared.db import Tx
from shared.identity import close_session, record_standing
from shared.signing import PublicKeys


class AgentIntake:
    """`wake_actions` is called once a decision on an action card is durable."""

    def __init__(self, keys: PublicKeys, deciders: Deciders, wake_actions: Callable[[], None]) -> None:
        self._keys, self._deciders, self._wake_actions = keys, deciders, wake_actions

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

    @on("action.decided")
    async def on_action_decided(self, tx: Tx, event: Received[ActionDecided]) -> None:
        await record_decision(tx, event, self._deciders, now())
        tx.after_commit(self._wake_actions)
