"""Events in, use cases called. Every handler runs in the transaction that notes its event as handled."""

from collections.abc import Callable, Sequence
from typing import Any

from schemas.agent.v1 import (
    ActionRequested,
    ActionSettled,
    AppProposed,
    AutomationStated,
    JobProposed,
    MailAccountClosed,
    RecordProposed,
    SettingApplied,
    UsageRecorded,
)
from schemas.bridge.v1 import (
    AttachmentQueued,
    CheckpointCountersigned,
    DecisionRefused,
    ItemMoved,
    ItemQueued,
    KeyApplied,
    LinkApplied,
    SubmissionRefused,
    SwitchApplied,
)
from schemas.connectors.v1 import (
    CardRequested,
    CardSettled,
    ChangeRefused,
    ConnectorApplied,
    ConnectorChecked,
    SecretApplied,
)
from schemas.site.v1 import FormAnswered, ItemApplied, RowRejected, SignalsRecorded
from services.console.actions.usecases.record_action import (
    record_action,
    record_action_refused,
    record_action_settled,
)
from services.console.actions.usecases.tell_action import tell_action
from services.console.agency.usecases.record_setting import record_setting, record_setting_refused
from services.console.answers.usecases.record_answer import record_answer
from services.console.attachments.usecases.keep_attachment import keep_attachment
from services.console.audit.usecases.record_calls import Audited, record_calls
from services.console.audit.usecases.record_checkpoint import record_checkpoint
from services.console.audit.usecases.record_rejection import record_rejection
from services.console.automations.usecases.record_automation import record_automation
from services.console.cards.usecases.record_card import record_card, record_card_refused, record_settled
from services.console.cards.usecases.tell_card import tell_card
from services.console.connectors.usecases.record_connector import (
    record_connector,
    record_connector_refused,
    record_health,
)
from services.console.keys.usecases.record_key import record_key, record_key_refused
from services.console.links.usecases.record_link import record_link, record_link_refused
from services.console.live import Live
from services.console.mail.usecases.close_account import close_account
from services.console.notices.domain import Notice
from services.console.notices.usecases.tell_moves import tell_moves
from services.console.notices.usecases.tell_parked import tell_parked
from services.console.notices.usecases.tell_reader import tell_reader
from services.console.proposals.domain import Proposed
from services.console.proposals.usecases.record_proposal import record_proposal
from services.console.queue.usecases.record_applied import record_applied
from services.console.queue.usecases.record_moved import record_moved
from services.console.queue.usecases.record_queued import record_queued, record_submission_refused
from services.console.queue.usecases.record_refused import record_refused
from services.console.secrets.usecases.record_applied import record_secret_applied, record_secret_refused
from services.console.secrets.usecases.record_uses import record_uses
from services.console.secrets.usecases.warn_of_expiry import warn_of_expiry
from services.console.signals.usecases.record_signals import record_signals
from services.console.spend.usecases.record_usage import record_usage
from services.console.switches.usecases.record_switch import record_switch, record_switch_refused
from shared.bus import Received, on
from shared.clock import now
from shared.db import Tx
from shared.signing import PublicKeys


class ConsoleIntake:
    """What the console reads. After the commit `live` tells open pages; `wake_keys` is called when it was about a key, `wake_delegations` when connectors changed, `wake_mail` when a mail account or a secret did, `wake_jobs` when the agent proposed one."""

    def __init__(
        self,
        live: Live,
        wake_keys: Callable[[], None],
        wake_delegations: Callable[[], None],
        keys: PublicKeys,
        wake_mail: Callable[[], None] = lambda: None,
        wake_jobs: Callable[[], None] = lambda: None,
    ) -> None:
        self._live, self._keys, self._wake_mail, self._wake_jobs = live, keys, wake_mail, wake_jobs
        self._wake_keys, self._wake_delegations = wake_keys, wake_delegations

    @on("item.queued")
    async def on_item_queued(self, tx: Tx, event: Received[ItemQueued]) -> None:
        await record_queued(tx, event.event_id, event.data)
        self._notify(tx, await tell_reader(tx, event.data))
        self._tell(
            tx, event="item", item_id=str(event.data.item_id), state=event.data.state, new=not event.data.unchanged
        )

    @on("attachment.queued")
    async def on_attachment_queued(self, tx: Tx, event: Received[AttachmentQueued]) -> None:
        await keep_attachment(tx, event.data)

    @on("item.moved")
    async def on_item_moved(self, tx: Tx, event: Received[ItemMoved]) -> None:
        await record_moved(tx, event.event_id, event.data)
        self._notify(tx, await tell_moves(tx, event.data))
        self._tell(tx, event="item", item_id=str(event.data.item_id), state=event.data.state)

    @on("submission.refused")
    async def on_submission_refused(self, tx: Tx, event: Received[SubmissionRefused]) -> None:
        await record_submission_refused(tx, event.data)
        self._tell(tx, event="submission", item_id=str(event.data.item_id))

    @on("decision.refused")
    async def on_decision_refused(self, tx: Tx, event: Received[DecisionRefused]) -> None:
        await record_refused(tx, event.data)
        await record_switch_refused(tx, event.data)
        await record_secret_refused(tx, event.data)
        if await record_key_refused(tx, event.data):
            tx.after_commit(self._wake_keys)
        await record_link_refused(tx, event.data.statement_hash, event.data.reason)
        await self._outward_refused(tx, event.data.statement_hash, event.data.reason)
        item_id = str(event.data.item_id) if event.data.item_id else None
        self._tell(tx, event="refused", item_id=item_id, reason=event.data.reason)

    @on("switch.applied")
    async def on_switch_applied(self, tx: Tx, event: Received[SwitchApplied]) -> None:
        await record_switch(tx, event.data)
        self._tell(tx, event="switch", name=event.data.name, value=event.data.value)

    @on("key.applied")
    async def on_key_applied(self, tx: Tx, event: Received[KeyApplied]) -> None:
        await record_key(tx, event.data)
        tx.after_commit(self._wake_keys)

    @on("link.applied")
    async def on_link_applied(self, tx: Tx, event: Received[LinkApplied]) -> None:
        await record_link(tx, event.data)
        self._tell(tx, event="link", item_id=str(event.data.item_id))

    @on("item.applied")
    async def on_item_applied(self, tx: Tx, event: Received[ItemApplied]) -> None:
        told = await record_applied(tx, event.data)
        if told is not None:
            self._tell(tx, event="applied", **told)

    @on("row.rejected")
    async def on_row_rejected(self, tx: Tx, event: Received[RowRejected]) -> None:
        await record_rejection(tx, event.event_id, event.data)
        self._tell(tx, event="rejected")

    @on("signals.recorded", batch=True)
    async def on_signals_recorded(self, tx: Tx, events: Sequence[Received[SignalsRecorded]]) -> None:
        for bad in await record_signals(tx, [event.data.signals for event in events]):
            await tx.park(events[bad.batch], bad.reason, bad.raw)
        self._tell(tx, event="signals")

    @on("form.answered")
    async def on_form_answered(self, tx: Tx, event: Received[FormAnswered]) -> None:
        if await record_answer(tx, event.data):
            self._tell(tx, event="answer", item_id="answers")

    @on("call.audited", batch=True)
    async def on_call_audited(self, tx: Tx, events: Sequence[Received[Audited]]) -> None:
        await record_calls(tx, [event.data for event in events])
        await record_uses(tx, [event.data for event in events])
        self._tell(tx, event="audit")

    @on("checkpoint.countersigned")
    async def on_checkpoint_countersigned(self, tx: Tx, event: Received[CheckpointCountersigned]) -> None:
        await record_checkpoint(tx, event.data, self._keys)
        self._tell(tx, event="audit")

    @on("secret.applied")
    async def on_secret_applied(self, tx: Tx, event: Received[SecretApplied]) -> None:
        await record_secret_applied(tx, event.data)
        tx.after_commit(self._wake_mail)
        self._notify(tx, await warn_of_expiry(tx, now()))
        self._tell(tx, event="secret")  # which one is for owners and admins; everybody's open pages hear this

    @on("change.refused")
    async def on_change_refused(self, tx: Tx, event: Received[ChangeRefused]) -> None:
        await record_secret_refused(tx, event.data)
        await self._outward_refused(tx, event.data.statement_hash, event.data.reason)
        self._tell(tx, event="refused", item_id=None)

    @on("connector.applied")
    async def on_connector_applied(self, tx: Tx, event: Received[ConnectorApplied]) -> None:
        await record_connector(tx, event.data)
        tx.after_commit(self._wake_delegations)
        self._tell(tx, event="connector", item_id="connectors")

    @on("connector.checked")
    async def on_connector_checked(self, tx: Tx, event: Received[ConnectorChecked]) -> None:
        await record_health(tx, event.data)
        self._tell(tx, event="connector", item_id="connectors")

    @on("card.requested")
    async def on_card_requested(self, tx: Tx, event: Received[CardRequested]) -> None:
        if await record_card(tx, event.data):
            self._notify(tx, await tell_card(tx, event.data.card))
        self._tell(tx, event="card", item_id="cards")

    @on("card.settled")
    async def on_card_settled(self, tx: Tx, event: Received[CardSettled]) -> None:
        await record_settled(tx, event.data)
        self._tell(tx, event="card", item_id="cards")
        self._tell(tx, event="connector", item_id="connectors")

    @on("action.requested")
    async def on_action_requested(self, tx: Tx, event: Received[ActionRequested]) -> None:
        if await record_action(tx, event.data):
            self._notify(tx, await tell_action(tx, event.data.card))
        self._tell(tx, event="card", item_id="cards")

    @on("action.settled")
    async def on_action_settled(self, tx: Tx, event: Received[ActionSettled]) -> None:
        await record_action_settled(tx, event.data)
        self._tell(tx, event="card", item_id="cards")

    @on("automation.stated")
    async def on_automation_stated(self, tx: Tx, event: Received[AutomationStated]) -> None:
        await record_automation(tx, event.data)
        tx.after_commit(self._wake_delegations)
        self._tell(tx, event="card", item_id="cards")

    @on("mail_account.closed")
    async def on_mail_account_closed(self, tx: Tx, event: Received[MailAccountClosed]) -> None:
        if await close_account(tx, event.data):
            tx.after_commit(self._wake_mail)
            self._tell(tx, event="mail")

    @on("app.proposed")
    async def on_app_proposed(self, tx: Tx, event: Received[AppProposed]) -> None:
        await self._proposed(tx, event.data)

    @on("record.proposed")
    async def on_record_proposed(self, tx: Tx, event: Received[RecordProposed]) -> None:
        await self._proposed(tx, event.data)

    @on("job.proposed")
    async def on_job_proposed(self, tx: Tx, event: Received[JobProposed]) -> None:
        await self._proposed(tx, event.data)
        tx.after_commit(self._wake_jobs)

    @on("setting.applied")
    async def on_setting_applied(self, tx: Tx, event: Received[SettingApplied]) -> None:
        await record_setting(tx, event.data)
        self._tell(tx, event="switch", name="agent", value=event.data.value)

    @on("usage.recorded", batch=True)
    async def on_usage_recorded(self, tx: Tx, events: Sequence[Received[UsageRecorded]]) -> None:
        await record_usage(tx, [event.data for event in events])

    async def _proposed(self, tx: Tx, proposed: Proposed) -> None:
        self._notify(tx, await record_proposal(tx, proposed))
        self._tell(tx, event="proposal", item_id="proposals")

    async def _outward_refused(self, tx: Tx, statement_hash: str, reason: str) -> None:
        """What a person decided on a connector or card was not taken, by the lock or by the connectors."""
        if await record_action_refused(tx, statement_hash, reason):
            self._tell(tx, event="card", item_id="cards")
        if await record_connector_refused(tx, statement_hash, reason):
            self._tell(tx, event="connector", item_id="connectors")
        if await record_setting_refused(tx, statement_hash, reason):
            self._tell(tx, event="switch", name="agent", value="")
        if await record_card_refused(tx, statement_hash, reason):
            self._tell(tx, event="card", item_id="cards")

    async def on_parked(self, tx: Tx, event: Received[Any], reason: str) -> None:
        self._notify(tx, await tell_parked(tx, event.name, reason))

    def _notify(self, tx: Tx, told: Sequence[Notice]) -> None:
        for each in told:
            self._tell(tx, event="notice", persons=[each.person_id], text=each.text, place=each.place)

    def _tell(self, tx: Tx, **message: object) -> None:
        tx.after_commit(lambda: self._live.tell(**message))
