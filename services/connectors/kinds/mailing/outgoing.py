"""A message from what was asked to the server that takes it. What is sent is what was checked, to exactly the confirmed recipients (EM-02)."""

from collections.abc import Sequence
from typing import Any

from services.connectors.egress.way import Way
from services.connectors.kinds.arguments import read_arguments
from services.connectors.kinds.kind import Request
from services.connectors.kinds.mailing import smtp
from services.connectors.kinds.mailing.account import Account
from services.connectors.kinds.mailing.addresses import Address, parse
from services.connectors.kinds.mailing.arguments import (
    MOST_RECIPIENTS,
    Send,
    check_body,
    read_files,
    read_mailboxes,
    read_message_ids,
    read_subject,
)
from services.connectors.kinds.mailing.compose import Message, write
from shared.clock import now
from shared.errors import Refused
from shared.ids import fresh_id


def draft(request: Request, sender: str) -> Message:
    """Pure. Refused (codes `arguments`, `address`, `header`, `text`, `recipients`, `confirm`) says which part does not do."""
    asked = read_arguments(Send, request)
    check_body(asked.text)
    message = Message(
        sender=parse("the sender of this account", sender, asked.from_name),
        to=read_mailboxes("to", asked.to),
        cc=read_mailboxes("cc", asked.cc),
        bcc=read_mailboxes("bcc", asked.bcc),
        reply_to=read_mailboxes("reply_to", asked.reply_to),
        subject=read_subject(asked.subject),
        text=asked.text,
        in_reply_to="".join(read_message_ids("in_reply_to", [asked.in_reply_to] if asked.in_reply_to else [])),
        references=read_message_ids("references", asked.references),
        files=read_files(asked.attachments),
    )
    _check_recipients(message.envelope, asked.confirmed)
    return message


async def hand_over(session: smtp.Session, message: Message) -> dict[str, Any]:
    """{"message_id", "recipients": in their ASCII form, "bytes", "status"}."""
    message_id = f"{fresh_id()}@{message.sender.domain}"
    raw = write(message, message_id, now(), f"=_{fresh_id().hex}")
    session.check(len(raw), message.needs_utf8)
    status = await session.hand_over(message.sender, message.envelope, raw, message.needs_utf8)
    await session.leave()
    recipients = [each.ascii for each in message.envelope]
    return {"message_id": f"<{message_id}>", "recipients": recipients, "bytes": len(raw), "status": status}


async def enter(way: Way, account: Account, seconds: float, message: Message) -> smtp.Session:
    return await smtp.enter(way, account, seconds, message.sender.domain)


def _check_recipients(envelope: Sequence[Address], confirmed: Sequence[str] | None) -> None:
    if not 0 < len(envelope) <= MOST_RECIPIENTS:
        raise Refused(f"a mail has 1 to {MOST_RECIPIENTS} recipients, not {len(envelope)}", code="recipients")
    shown = [each.ascii for each in envelope]
    if confirmed is not None and set(confirmed) != set(shown):
        raise Refused(
            f"the recipients are not those that were confirmed; they are {', '.join(shown)}",
            code="confirm",
            audited="the recipients are not those that were confirmed",
        )
    if confirmed is None and (doubtful := [each.ascii for each in envelope if each.doubtful]):
        raise Refused(
            f"{', '.join(doubtful)} may be taken for another address: show it to the person in this form, "
            f"then send with all recipients in `confirmed`: {', '.join(shown)}",
            code="confirm",
            audited=f"{len(doubtful)} of {len(shown)} recipients may be taken for another address and were not confirmed",
        )
