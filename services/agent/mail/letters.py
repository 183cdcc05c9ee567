"""Letters before they are sent: to whom exactly, and what an answer to a mail is made of. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.agent.actions.domain import ascii_form
from services.agent.mail.arguments import Attached, Recipient, SendArguments
from shared.errors import Refused

ANSWERS = ("re:", "aw:", "antw:", "sv:")
MOST_REFERENCES = 20


def recipients_of(given: SendArguments) -> tuple[str, ...]:
    """Everyone whom it goes to, and whom an answer to it would go to."""
    return tuple(dict.fromkeys(_address(each) for each in (*given.to, *given.cc, *given.bcc, *given.reply_to)))


def envelope_of(given: SendArguments) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_address(each) for each in (*given.to, *given.cc, *given.bcc)))


def as_shown(given: SendArguments) -> tuple[str, ...]:
    """For `confirmed`: all recipients as the card shows them, where one of them is not plain ASCII (EM-05); else nothing."""
    envelope = envelope_of(given)
    if all(each.isascii() for each in envelope):
        return ()
    return tuple(dict.fromkeys(ascii_form(each) for each in envelope))


def check_confirmed(given: SendArguments, said: str) -> None:
    """Refused when an address that looks like another one is confirmed by anybody but the user, in their own message of this turn."""
    words = {word.strip("<>,;:()\"'“”„.!?").casefold() for word in said.split()}
    plain = {each.casefold() for each in envelope_of(given) if each.isascii()}
    unsaid = [each for each in given.confirmed if each.casefold() not in words | plain]
    if unsaid:
        raise Refused(
            f"{', '.join(unsaid)}: only the user can confirm an address that may be taken for another one. Show it to them in"
            " this form, and ask them to write it so.",
            code="confirm",
        )


def answer_to(told: Mapping[str, Any], own: str) -> dict[str, Any]:
    """What email_send takes for an answer to this mail; `all`: who else got it, without `own`. The subject was decoded and is one flat line (EM-02)."""
    back = [str(each["address"]) for each in (told.get("reply_to") or told.get("from") or []) if each.get("address")]
    subject, message_id = str(told.get("subject") or ""), str(told.get("message_id") or "")
    if not subject.casefold().startswith(ANSWERS):
        subject = f"Re: {subject}"
    before = [each for each in str(told.get("references") or told.get("in_reply_to") or "").split() if _is_id(each)]
    known = _is_id(message_id)
    others = [str(each["address"]) for name in ("to", "cc") for each in told.get(name) or [] if each.get("address")]
    known_already = {each.casefold() for each in (*back, own)}
    return {
        "to": back,
        "all": [each for each in dict.fromkeys(others) if each.casefold() not in known_already],
        "subject": subject.strip()[:500],
        "in_reply_to": message_id if known else "",
        "references": [*before, message_id][-MOST_REFERENCES:] if known else [],
    }


def for_the_connector(given: SendArguments, files: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """As the operation `send` takes it."""
    found = given.model_dump(mode="json", exclude={"account", "attachments", "confirmed"})
    return found | {"attachments": list(files)} | ({"confirmed": list(given.confirmed)} if given.confirmed else {})


def attached(given: Attached, digest: str) -> Attached:
    """With the hash of what lies there now. Refused when it was to be something else."""
    if given.sha256 and given.sha256 != digest:
        raise Refused(
            f"{given.path} holds something else by now than what was to be sent; nothing was sent.", code="changed"
        )
    return Attached(path=given.path, sha256=digest)


def _address(given: str | Recipient) -> str:
    return given if isinstance(given, str) else given.address


def _is_id(text: str) -> bool:
    return (
        text.startswith("<")
        and text.endswith(">")
        and "@" in text
        and text.isascii()
        and text.isprintable()
        and len(text) < 900
    )
