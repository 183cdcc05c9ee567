"""Events that the agent reads: who may be here and by which key, for whom it may act, what people set, and what became of cards it waits for. Visitors' text never comes here by itself, and no event lets the agent decide."""

from collections.abc import Callable

from schemas.bridge.v1 import KeyRecorded, PersonRecorded, ProposalMoved, SessionClosed
from schemas.connectors.v1 import CardSettled
from schemas.console.v1 import (
    AccessStated,
    ActionDecided,
    AppStated,
    DelegationIssued,
    MailAccountStated,
    ProposalAnswered,
    RecordShared,
    RecordUnshared,
    SettingDecided,
)
from services.agent.actions.usecases.record_decision import record_decision
from services.agent.automations.usecases.keep_delegation import keep_delegation
from services.agent.drafting.usecases.keep_answer import Telling, keep_answer
from services.agent.drafting.usecases.keep_app import keep_app
from services.agent.mail.usecases.keep_account import keep_account
from services.agent.owners.parts import Owners
from services.agent.owners.usecases.record_access import record_access
from services.agent.owners.usecases.record_delegation import record_delegation
from services.agent.owners.usecases.record_key import record_key
from services.agent.owners.usecases.record_setting import record_setting
from services.agent.proposals.usecases.keep_move import Announce, keep_move
from services.agent.sharing.usecases.keep_record import drop_record, keep_record
from services.agent.usecases.keep_card import keep_card
from shared.bus import Received, on
from shared.clock import now
from shared.db import Tx
from shared.identity import close_session, record_standing


class AgentIntake:
    """`wake_actions` is called once a decision on an action card is durable, `wake_automations` when one may have to end; `announce` once a conversation has
    a note, for whoever has it open."""

    def __init__(
        self, owners: Owners, wake_actions: Callable[[], None], announce: Announce = lambda *_: None, wake_automations: Callable[[], None] = lambda: None,
        telling: Telling | None = None,
    ) -> None:  # fmt: skip
        self._owners, self._keys, self._deciders = owners, owners.keys, owners.deciders
        self._telling = telling or Telling("", announce)
        self._wake_actions, self._announce, self._wake_automations = wake_actions, announce, wake_automations

    @on("person.recorded")
    async def on_person_recorded(self, tx: Tx, event: Received[PersonRecorded]) -> None:
        await record_standing(tx, self._keys, "agent", event.data.standing)
        tx.after_commit(self._wake_automations)

    @on("session.closed")
    async def on_session_closed(self, tx: Tx, event: Received[SessionClosed]) -> None:
        await close_session(tx, self._keys, "agent", event.data.ending)

    @on("key.recorded")
    async def on_key_recorded(self, tx: Tx, event: Received[KeyRecorded]) -> None:
        await record_key(tx, event, self._owners.deciders, self._owners.settings)

    @on("setting.decided")
    async def on_setting_decided(self, tx: Tx, event: Received[SettingDecided]) -> None:
        await record_setting(tx, event, self._owners.deciders, self._owners.settings, self._keys)

    @on("access.stated")
    async def on_access_stated(self, tx: Tx, event: Received[AccessStated]) -> None:
        await record_access(tx, self._keys, event.data.access)

    @on("delegation.issued")
    async def on_delegation_issued(self, tx: Tx, event: Received[DelegationIssued]) -> None:
        if not await keep_delegation(tx, self._keys, event.data.delegation):
            await record_delegation(tx, self._keys, event.data.delegation)

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
        await keep_move(tx, event.data, self._announce)

    @on("proposal.answered")
    async def on_proposal_answered(self, tx: Tx, event: Received[ProposalAnswered]) -> None:
        await keep_answer(tx, event.data, self._telling)

    @on("app.stated")
    async def on_app_stated(self, tx: Tx, event: Received[AppStated]) -> None:
        await keep_app(tx, event.data)

    @on("mail_account.stated")
    async def on_mail_account_stated(self, tx: Tx, event: Received[MailAccountStated]) -> None:
        await keep_account(tx, event.data)

    @on("action.decided")
    async def on_action_decided(self, tx: Tx, event: Received[ActionDecided]) -> None:
        await record_decision(tx, event, self._deciders, now())
        tx.after_commit(self._wake_actions)
        tx.after_commit(self._wake_automations)
