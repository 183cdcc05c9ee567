"""What a message that came is told as: headers flat and decoded, its text, and what hangs on it. Nothing in a mail raises."""

import base64
from email.utils import parsedate_to_datetime
from typing import Any

from services.connectors.kinds.mailing.addresses import read_list
from services.connectors.kinds.mailing.charsets import decode_bytes
from services.connectors.kinds.mailing.entity import Entity, take_apart
from services.connectors.kinds.mailing.markup import words_of
from services.connectors.kinds.mailing.text import REPLACEMENT, Cleaner
from services.connectors.kinds.mailing.words import decode_words
from shared.errors import NotFound, TooLarge

MOST_TEXT = 256 * 1024
"""Characters of text that are told; the rest is cut, and that is said."""
MOST_HTML = 1024 * 1024
"""Characters of HTML that are looked at."""
SUMMARY = ("date", "from", "to", "cc", "reply-to", "subject", "message-id", "in-reply-to", "references")
LISTS = ("from", "to", "cc", "reply_to")
_SHOWN = ("text/plain", "text/html")
"""What is told as words; all else is an attachment, a calendar's invitation too."""


def summarise(raw: bytes) -> dict[str, Any]:
    """The headers that a list shows. `flagged`: it holds characters that are no text, replaced by U+FFFD."""
    cleaner = Cleaner()
    return _summary(take_apart(raw[:MOST_TEXT]), cleaner) | {"flagged": cleaner.flagged}


def tell(raw: bytes, cut: bool, most_text: int = MOST_TEXT) -> dict[str, Any]:
    """The whole message. `cut`: more of it lies at the server. `text_from`: html when there is no plain text, then without any markup."""
    cleaner, whole = Cleaner(), take_apart(raw)
    text, source = _text(whole)
    clean = cleaner.text(text)
    told = _summary(whole, cleaner) | {
        "text": clean[:most_text],
        "text_from": source,
        "text_cut": len(clean) > most_text,
        "cut": cut,
        "attachments": [_attachment(each, number, cleaner) for number, each in _attachments(whole)],
    }
    return told | {"flagged": cleaner.flagged}


def take_attachment(raw: bytes, number: int, most: int) -> dict[str, Any]:
    """One attachment by its number. NotFound, TooLarge (code `attachment_too_large`; `most` bytes)."""
    cleaner = Cleaner()
    found = dict(_attachments(take_apart(raw))).get(number)
    if found is None:
        raise NotFound(f"this mail has no attachment {number}; `read` lists them", code="attachment")
    content = found.content()
    if len(content) > most:
        raise TooLarge(
            f"this attachment has {len(content)} bytes; at most {most} are handed over", code="attachment_too_large"
        )
    return _attachment(found, number, cleaner) | {"content": base64.b64encode(content).decode()}


def _summary(whole: Entity, cleaner: Cleaner) -> dict[str, Any]:
    raw = {name.replace("-", "_"): decode_bytes(whole.header(name)) for name in SUMMARY}
    told: dict[str, Any] = {name: read_list(cleaner, raw[name]) for name in LISTS}
    for name in ("message_id", "in_reply_to", "references"):
        told[name] = cleaner.line(raw[name], 2000)
    told["subject"] = cleaner.line(decode_words(raw["subject"]))
    told["date"] = _date(raw["date"])
    return told


def _date(text: str) -> str:
    """RFC 3339; empty when it is none (rule 30: unknown is not a guess)."""
    try:
        return parsedate_to_datetime(text[:200]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return ""


def _text(whole: Entity) -> tuple[str, str]:
    """The plain texts that are no attachments, one under the other, else the first HTML without its markup."""
    shown = [each for each in whole.leaves() if not each.attached and not each.file_name]
    plain = [_decoded(each).replace("\r\n", "\n") for each in shown if each.content_type == "text/plain"]
    if plain:
        return "\n".join(plain), "plain"
    for each in shown:
        if each.content_type == "text/html":
            return words_of(_decoded(each)[:MOST_HTML].replace("\0", REPLACEMENT)), "html"
    return "", ""


def _decoded(part: Entity) -> str:
    return decode_bytes(part.content(), part.charset)


def _attachments(whole: Entity) -> list[tuple[int, Entity]]:
    """Numbered from 1 in the order of the message."""
    leaves = [each for each in whole.leaves() if each.attached or each.file_name or each.content_type not in _SHOWN]
    return list(enumerate(leaves, start=1))


def _attachment(part: Entity, number: int, cleaner: Cleaner) -> dict[str, Any]:
    return {
        "number": number,
        "name": cleaner.file_name(decode_words(part.file_name), f"attachment-{number}"),
        "type": cleaner.line(part.content_type, 100),
        "bytes": len(part.content()),
    }
