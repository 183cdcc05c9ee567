"""A message as it is sent: written here byte by byte, since the standard library folds quoted names and non-ASCII mailboxes wrongly (EM-05).

Everything that goes into a header has been checked for line breaks after decoding (EM-02).
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from urllib.parse import quote

from services.connectors.kinds.mailing.addresses import Address
from services.connectors.kinds.mailing.words import encode_words

FOLD = "\r\n "
WIDTH = 76
_PHRASE = re.compile(r"[\x20-\x7e]*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._ +-]+")


@dataclass(frozen=True)
class File:
    """An attachment: a name without folders or controls, `major/minor`, and its bytes."""

    name: str
    type: str
    content: bytes


@dataclass(frozen=True)
class Message:
    """What is sent. `bcc` stands in no header."""

    sender: Address
    to: Sequence[Address]
    cc: Sequence[Address]
    bcc: Sequence[Address]
    reply_to: Sequence[Address]
    subject: str
    text: str
    in_reply_to: str = ""
    references: Sequence[str] = ()
    files: Sequence[File] = ()

    @property
    def envelope(self) -> tuple[Address, ...]:
        """Each mailbox once, in order."""
        return tuple({each.spec: each for each in (*self.to, *self.cc, *self.bcc)}.values())

    @property
    def needs_utf8(self) -> bool:
        return any(each.needs_utf8 for each in (self.sender, *self.envelope, *self.reply_to))


def write(message: Message, message_id: str, at: datetime, boundary: str) -> bytes:
    """Lines end in CRLF and hold at most 998 bytes; 7 bit, but for mailboxes beyond ASCII (RFC 6532)."""
    head = [
        f"Date: {format_datetime(at)}",
        f"Message-ID: <{message_id}>",
        f"From: {_mailboxes([message.sender])}",
        *_listed("To", message.to),
        *_listed("Cc", message.cc),
        *_listed("Reply-To", message.reply_to),
        f"Subject: {_unstructured(message.subject)}",
        *([f"In-Reply-To: {message.in_reply_to}"] if message.in_reply_to else []),
        *([f"References: {FOLD.join(message.references)}"] if message.references else []),
        "MIME-Version: 1.0",
    ]
    body = _body(message, boundary)
    return "\r\n".join([*head, *body]).encode() + b"\r\n"


def _listed(name: str, addresses: Sequence[Address]) -> list[str]:
    return [f"{name}: {_mailboxes(addresses)}"] if addresses else []


def _mailboxes(addresses: Sequence[Address]) -> str:
    return f",{FOLD}".join(f"{_phrase(each.name)}<{each.spec}>" if each.name else each.spec for each in addresses)


def _phrase(name: str) -> str:
    if _PHRASE.fullmatch(name) and "=?" not in name:
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '" '
    return FOLD.join(encode_words(name)) + " "


def _unstructured(text: str) -> str:
    """As it is when it fits on its line in ASCII; else folded at single spaces, or in encoded words."""
    words = text.split(" ")
    if not _PHRASE.fullmatch(text) or "=?" in text or (text and not all(words)) or max(map(len, words)) > WIDTH - 12:
        return FOLD.join(encode_words(text))
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > WIDTH - 12:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return FOLD.join([*lines, line])


def _body(message: Message, boundary: str) -> list[str]:
    text = [
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: base64",
        "",
        _base64(message.text.replace("\r\n", "\n").replace("\n", "\r\n").encode()),
    ]
    if not message.files:
        return text
    made = [f'Content-Type: multipart/mixed; boundary="{boundary}"', "", f"--{boundary}", *text]
    for each in message.files:
        made += [f"--{boundary}", *_file(each)]
    return [*made, f"--{boundary}--"]


def _file(file: File) -> list[str]:
    """A name beyond plain letters is encoded (RFC 2231), and stands there once: readers that find two take the wrong one."""
    plain = _PLAIN_NAME.fullmatch(file.name)
    named = f'filename="{file.name}"' if plain else f"filename*=utf-8''{quote(file.name, safe='')}"
    return [
        f"Content-Type: {file.type}",
        f"Content-Disposition: attachment;{FOLD}{named}",
        "Content-Transfer-Encoding: base64",
        "",
        _base64(file.content),
    ]


def _base64(raw: bytes) -> str:
    encoded = base64.b64encode(raw).decode()
    return "\r\n".join(encoded[start : start + WIDTH] for start in range(0, len(encoded), WIDTH))
