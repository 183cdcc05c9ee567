"""What comes to the lock, and which use case it goes to."""

from collections.abc import Callable, Sequence
from typing import Any

from schemas.agent.v1 import (
    ActionRequested,
    ActionSettled,
    AppProposed,
    AttachmentProposed,
    AutomationStated,
    ItemProposed,
    JobProposed,
    MailAccountClosed,
    RecordProposed,
    SettingApplied,
    UsageRecorded,
)
from schemas.connectors.v1 import (
    CallAudited,
    CardRequested,
    CardSettled,
    ChangeRefused,
    CheckpointSigned,
    ConnectorApplied,
    ConnectorChecked,
    FingerprintsTaken,
    SecretApplied,
)
from schemas.console.v1 import (
    AccessStated,
    ActionDecided,
    AppStated,
    AttachmentSubmitted,
    CardDecided,
    ColumnFingerprinted,
    ConnectorDeclared,
    DelegationIssued,
    ItemDecided,
    ItemSubmitted,
    ItemUndone,
    ItemWithdrawn,
    KeyChanged,
    LinkChanged,
    MailAccountStated,
    PersonChanged,
    ProposalAnswered,
    RecordShared,
    RecordUnshared,
    SecretSealed,
    SessionEnded,
    SettingDecided,
    SwitchSet,
)
from schemas.site.v1 import CommentSubmitted, FormAnswered, GateRequested, ItemApplied, RowRejected, SignalsRecorded
from services.bridge.attachments.usecases.hold_submission import hold_submission
from services.bridge.attachments.usecases.keep_attachment import keep_attachment
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.inspection import Inspector, Shelf
from services.bridge.usecases.answer_gate_request import note_gate_request
from services.bridge.usecases.change_key import change_key
from services.bridge.usecases.change_link import change_link
from services.bridge.usecases.decide_item import decide_item
from services.bridge.usecases.forward_event import forward_events
from services.bridge.usecases.forward_signed import forward_signed
from services.bridge.usecases.forward_stated import forward_stated
from services.bridge.usecases.inspect_item import Inspected, inspect_item
from services.bridge.usecases.keep_column import keep_column
from services.bridge.usecases.keep_fingerprints import keep_fingerprints
from services.bridge.usecases.queue_item import queue_item
from services.bridge.usecases.recheck_item import recheck_item
from services.bridge.usecases.record_parked import record_parked
from services.bridge.usecases.record_person import close_session, record_person
from services.bridge.usecases.set_switch import set_switch
from services.bridge.usecases.undo_decision import undo_decision
from services.bridge.usecases.withdraw_item import withdraw_item
from services.bridge.witness.usecases.witness_checkpoint import witness_checkpoint
from shared.bus import Received, on
from shared.db import Database, Tx
from shared.signing import PublicKeys, SigningKey


class BridgeIntake:
    """`wake_answerer` and `wake_schedule` are called once a question, or a time to publish, is durable."""

    def __init__(
        self,
        db: Database,
        inspector: Inspector,
        shelf: Shelf,
        keys: DecisionKeys,
        gate: Gate,
        public_keys: PublicKeys,
        witness: SigningKey,
        wake_answerer: Callable[[], None],
        wake_schedule: Callable[[], None],
        wake_gatherer: Callable[[], None],
    ) -> None:
        self._db, self._inspector, self._keys, self._gate = db, inspector, keys, gate
        self._public_keys, self._shelf, self._witness = public_keys, shelf, witness
        self._wake_answerer, self._wake_schedule = wake_answerer, wake_schedule
        self._wake_gatherer = wake_gatherer

    async def on_parked(self, tx: Tx, event: Received[Any], reason: str) -> None:
        await record_parked(tx, event, reason)

    async def inspect(self, event: Received[Any]) -> Inspected:
        return await inspect_item(self._db, self._inspector, event.data)

    @on("item.submitted", prepare="inspect")
    async def on_item_submitted(self, tx: Tx, event: Received[ItemSubmitted]) -> None:
        await self._queue(tx, event)

    @on("item.proposed", prepare="inspect")
    async def on_item_proposed(self, tx: Tx, event: Received[ItemProposed]) -> None:
        await self._queue(tx, event)

    async def _queue(self, tx: Tx, event: Received[Any]) -> None:
        if await hold_submission(tx, event):
            tx.after_commit(self._wake_gatherer)
        else:
            await queue_item(tx, event)

    @on("attachment.submitted")
    async def on_attachment_submitted(self, tx: Tx, event: Received[AttachmentSubmitted]) -> None:
        await keep_attachment(tx, event)
        tx.after_commit(self._wake_gatherer)

    @on("attachment.proposed")
    async def on_attachment_proposed(self, tx: Tx, event: Received[AttachmentProposed]) -> None:
        await keep_attachment(tx, event)
        tx.after_commit(self._wake_gatherer)

    @on("comment.submitted", prepare="inspect")
    async def on_comment_submitted(self, tx: Tx, event: Received[CommentSubmitted]) -> None:
        await queue_item(tx, event)

    async def recheck(self, event: Received[ItemDecided]) -> str:
        return await recheck_item(self._db, self._inspector, event.data.statement)

    @on("item.decided", prepare="recheck")
    async def on_item_decided(self, tx: Tx, event: Received[ItemDecided]) -> None:
        await decide_item(tx, event, self._keys, self._gate)
        tx.after_commit(self._wake_schedule)

    @on("item.withdrawn")
    async def on_item_withdrawn(self, tx: Tx, event: Received[ItemWithdrawn]) -> None:
        await withdraw_item(tx, event, self._keys, self._gate)

    @on("item.undone")
    async def on_item_undone(self, tx: Tx, event: Received[ItemUndone]) -> None:
        await undo_decision(tx, event, self._keys, self._gate)

    @on("switch.set")
    async def on_switch_set(self, tx: Tx, event: Received[SwitchSet]) -> None:
        await set_switch(tx, event, self._keys, self._gate)
        tx.after_commit(self._wake_schedule)

    @on("key.changed")
    async def on_key_changed(self, tx: Tx, event: Received[KeyChanged]) -> None:
        await change_key(tx, event, self._keys, self._gate)

    @on("link.changed")
    async def on_link_changed(self, tx: Tx, event: Received[LinkChanged]) -> None:
        await change_link(tx, event, self._keys, self._gate)

    @on("person.changed")
    async def on_person_changed(self, tx: Tx, event: Received[PersonChanged]) -> None:
        await record_person(tx, event, self._public_keys)

    @on("session.ended")
    async def on_session_ended(self, tx: Tx, event: Received[SessionEnded]) -> None:
        await close_session(tx, event, self._public_keys)

    @on("connector.declared")
    async def on_connector_declared(self, tx: Tx, event: Received[ConnectorDeclared]) -> None:
        await forward_signed(tx, event, self._keys)

    @on("secret.sealed")
    async def on_secret_sealed(self, tx: Tx, event: Received[SecretSealed]) -> None:
        await forward_signed(tx, event, self._keys)

    @on("card.decided")
    async def on_card_decided(self, tx: Tx, event: Received[CardDecided]) -> None:
        await forward_signed(tx, event, self._keys)

    @on("setting.decided")
    async def on_setting_decided(self, tx: Tx, event: Received[SettingDecided]) -> None:
        await forward_signed(tx, event, self._keys)

    @on("action.decided")
    async def on_action_decided(self, tx: Tx, event: Received[ActionDecided]) -> None:
        await forward_signed(tx, event, self._keys)

    @on("access.stated")
    async def on_access_stated(self, tx: Tx, event: Received[AccessStated]) -> None:
        await forward_stated(tx, event, self._public_keys)

    @on("delegation.issued")
    async def on_delegation_issued(self, tx: Tx, event: Received[DelegationIssued]) -> None:
        await forward_stated(tx, event, self._public_keys)

    @on("record.shared", batch=True)
    async def on_record_shared(self, tx: Tx, events: Sequence[Received[RecordShared]]) -> None:
        await forward_events(tx, events)

    @on("record.unshared", batch=True)
    async def on_record_unshared(self, tx: Tx, events: Sequence[Received[RecordUnshared]]) -> None:
        await forward_events(tx, events)

    @on("usage.recorded", batch=True)
    async def on_usage_recorded(self, tx: Tx, events: Sequence[Received[UsageRecorded]]) -> None:
        await forward_events(tx, events)

    @on("setting.applied")
    async def on_setting_applied(self, tx: Tx, event: Received[SettingApplied]) -> None:
        await forward_events(tx, [event])

    @on("action.requested")
    async def on_action_requested(self, tx: Tx, event: Received[ActionRequested]) -> None:
        await forward_events(tx, [event])

    @on("action.settled")
    async def on_action_settled(self, tx: Tx, event: Received[ActionSettled]) -> None:
        await forward_events(tx, [event])

    @on("mail_account.stated")
    async def on_mail_account_stated(self, tx: Tx, event: Received[MailAccountStated]) -> None:
        await forward_events(tx, [event])

    @on("automation.stated")
    async def on_automation_stated(self, tx: Tx, event: Received[AutomationStated]) -> None:
        await forward_events(tx, [event])

    @on("mail_account.closed")
    async def on_mail_account_closed(self, tx: Tx, event: Received[MailAccountClosed]) -> None:
        await forward_events(tx, [event])

    @on("app.stated")
    async def on_app_stated(self, tx: Tx, event: Received[AppStated]) -> None:
        await forward_events(tx, [event])

    @on("proposal.answered")
    async def on_proposal_answered(self, tx: Tx, event: Received[ProposalAnswered]) -> None:
        await forward_events(tx, [event])

    @on("app.proposed")
    async def on_app_proposed(self, tx: Tx, event: Received[AppProposed]) -> None:
        await forward_events(tx, [event])

    @on("record.proposed")
    async def on_record_proposed(self, tx: Tx, event: Received[RecordProposed]) -> None:
        await forward_events(tx, [event])

    @on("job.proposed")
    async def on_job_proposed(self, tx: Tx, event: Received[JobProposed]) -> None:
        await forward_events(tx, [event])

    @on("form.answered", batch=True)
    async def on_form_answered(self, tx: Tx, events: Sequence[Received[FormAnswered]]) -> None:
        await forward_events(tx, events)

    @on("gate.requested")
    async def on_gate_requested(self, tx: Tx, event: Received[GateRequested]) -> None:
        await note_gate_request(tx, event)
        tx.after_commit(self._wake_answerer)

    @on("item.applied", batch=True)
    async def on_item_applied(self, tx: Tx, events: Sequence[Received[ItemApplied]]) -> None:
        await forward_events(tx, events)

    @on("row.rejected", batch=True)
    async def on_row_rejected(self, tx: Tx, events: Sequence[Received[RowRejected]]) -> None:
        await forward_events(tx, events)

    @on("signals.recorded", batch=True)
    async def on_signals_recorded(self, tx: Tx, events: Sequence[Received[SignalsRecorded]]) -> None:
        await forward_events(tx, events)

    @on("call.audited", batch=True)
    async def on_call_audited(self, tx: Tx, events: Sequence[Received[CallAudited]]) -> None:
        await forward_events(tx, events)

    @on("secret.applied")
    async def on_secret_applied(self, tx: Tx, event: Received[SecretApplied]) -> None:
        await forward_events(tx, [event])

    @on("connector.applied")
    async def on_connector_applied(self, tx: Tx, event: Received[ConnectorApplied]) -> None:
        await forward_events(tx, [event])

    @on("connector.checked")
    async def on_connector_checked(self, tx: Tx, event: Received[ConnectorChecked]) -> None:
        await forward_events(tx, [event])

    @on("card.requested")
    async def on_card_requested(self, tx: Tx, event: Received[CardRequested]) -> None:
        await forward_events(tx, [event])

    @on("card.settled")
    async def on_card_settled(self, tx: Tx, event: Received[CardSettled]) -> None:
        await forward_events(tx, [event])

    @on("change.refused")
    async def on_change_refused(self, tx: Tx, event: Received[ChangeRefused]) -> None:
        await forward_events(tx, [event])

    @on("checkpoint.signed")
    async def on_checkpoint_signed(self, tx: Tx, event: Received[CheckpointSigned]) -> None:
        await witness_checkpoint(tx, event, self._public_keys, self._witness)

    @on("fingerprints.taken")
    async def on_fingerprints_taken(self, tx: Tx, event: Received[FingerprintsTaken]) -> None:
        await keep_fingerprints(tx, event, self._shelf)

    @on("column.fingerprinted")
    async def on_column_fingerprinted(self, tx: Tx, event: Received[ColumnFingerprinted]) -> None:
        await keep_column(tx, event, self._shelf.keys)
