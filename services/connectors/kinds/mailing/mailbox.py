"""What is asked of an account's mailbox, over a signed-in client. Blocking; raises what failures.HOSTILE lists, and typed errors."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, ProtocolError
from imapclient.imap_utf7 import decode as decode_utf7
from imapclient.imapclient import _literal

from services.connectors.kinds.mailing import reading
from services.connectors.kinds.mailing.arguments import Attachment, Flag, List, Move, Read, Search
from services.connectors.kinds.mailing.text import Cleaner
from shared.errors import Conflict, NotFound, Refused

MOST_FOLDERS = 1000
SHOWN_HEADERS = b"BODY.PEEK[HEADER.FIELDS (%s)]" % " ".join(reading.SUMMARY).upper().encode()
SUMMARY_ITEMS = [b"UID", b"FLAGS", b"RFC822.SIZE", b"INTERNALDATE", SHOWN_HEADERS]
FLAGS = {"seen": rb"\Seen", "flagged": rb"\Flagged", "answered": rb"\Answered"}
SPECIAL = {
    rb"\sent": "sent",
    rb"\drafts": "drafts",
    rb"\trash": "trash",
    rb"\junk": "junk",
    rb"\archive": "archive",
    rb"\all": "all",
}


def list_folders(client: IMAPClient) -> dict[str, Any]:
    """{"folders": [{"name", "selectable", "special"}]}"""
    client.folder_encode = False
    found = client.list_folders()[:MOST_FOLDERS]
    client.folder_encode = True
    return {"folders": [_folder(flags, name) for flags, _, name in found]}


def list_messages(client: IMAPClient, asked: List) -> dict[str, Any]:
    """The newest first: {"total", "uidvalidity", "messages"}."""
    box = _open(client, asked.folder)
    last = box["total"] - asked.offset
    if last < 1:
        return box | {"messages": []}
    client.use_uid = False
    found = client.fetch(list(range(max(1, last - asked.limit + 1), last + 1)), SUMMARY_ITEMS)
    client.use_uid = True
    return box | {"messages": _summaries((each.get(b"UID"), each) for each in found.values())}


def search(client: IMAPClient, asked: Search) -> dict[str, Any]:
    """The newest first: {"total", "uidvalidity", "found": how many there are, "messages": at most `limit` of them}."""
    box = _open(client, asked.folder)
    criteria = _criteria(asked)
    plain = all(not isinstance(each, bytes) or each.isascii() for each in criteria)
    found = sorted(client.search(criteria, None if plain else "UTF-8"), reverse=True)
    shown = client.fetch(found[: asked.limit], SUMMARY_ITEMS)
    return box | {"found": len(found), "messages": _summaries(shown.items())}


def read_message(client: IMAPClient, asked: Read, most: int) -> dict[str, Any]:
    """The message, without marking it as read. Of one larger than `most` bytes the beginning, and `cut`."""
    box = _open(client, asked.folder, asked.uidvalidity)
    raw, size, flags = _fetch(client, asked.uid, most)
    told = reading.tell(raw, size > len(raw), asked.most_text)
    return {"uid": asked.uid, "uidvalidity": box["uidvalidity"], "bytes": size, "flags": flags} | told


def read_attachment(client: IMAPClient, asked: Attachment, most: int) -> dict[str, Any]:
    """{"number", "name", "type", "bytes", "content": base64}."""
    _open(client, asked.folder, asked.uidvalidity)
    raw, size, _ = _fetch(client, asked.uid, most)
    if size > len(raw):
        raise Refused(
            f"this mail has {size} bytes; attachments are read from mails of at most {most}", code="message_too_large"
        )
    return reading.take_attachment(raw, asked.number, most * 7 // 10)  # in base64 it is a third more


def set_flags(client: IMAPClient, asked: Flag) -> dict[str, Any]:
    """{"flags": {uid: [...]}} as they are afterwards. NotFound when none of the messages is there."""
    _open(client, asked.folder, asked.uidvalidity, readonly=False)
    if asked.add:
        client.add_flags(asked.uids, [FLAGS.get(each, each.encode()) for each in asked.add], silent=True)
    if asked.remove:
        client.remove_flags(asked.uids, [FLAGS.get(each, each.encode()) for each in asked.remove], silent=True)
    found = client.get_flags(asked.uids)
    if not found:
        raise NotFound("this folder has none of these messages; `list` shows what there is", code="message")
    return {"flags": {str(uid): _flags(flags) for uid, flags in found.items()}}


def move(client: IMAPClient, asked: Move) -> dict[str, Any]:
    """{"moved": uids, "to"}. NotFound when none of the messages is there, or the other folder is not. Nothing else in the folder is touched."""
    _open(client, asked.folder, asked.uidvalidity, readonly=False)
    if asked.to == asked.folder:
        raise Refused("the messages are in that folder already", code="folder")
    there = sorted(set(client.fetch(asked.uids, [b"UID"])) & set(asked.uids))
    if not there:
        raise NotFound("this folder has none of these messages; `list` shows what there is", code="message")
    can_move, can_expunge = client.has_capability("MOVE"), client.has_capability("UIDPLUS")
    if not (can_move or can_expunge):
        raise Refused(
            "this server can move nothing without deleting what others have marked (it offers neither MOVE nor UIDPLUS)",
            code="move",
        )
    try:
        client.move(there, asked.to) if can_move else client.copy(there, asked.to)
    except (IMAPClientAbortError, ProtocolError):
        raise
    except IMAPClientError:
        raise NotFound(
            "the server does not move them there: there may be no such folder; `folders` shows what there is",
            code="folder",
        ) from None
    if not can_move:
        client.add_flags(there, [rb"\Deleted"], silent=True)
        client.uid_expunge(there)
    return {"moved": there, "to": asked.to}


def _open(client: IMAPClient, folder: str, uidvalidity: int | None = None, *, readonly: bool = True) -> dict[str, Any]:
    try:
        found = client.select_folder(folder, readonly=readonly)
    except (IMAPClientAbortError, ProtocolError):
        raise  # these are errors of the client, too, and say nothing about the folder
    except IMAPClientError:
        raise NotFound(
            "this account has no such folder that can be opened; `folders` shows what there is", code="folder"
        ) from None
    held = found.get(b"UIDVALIDITY")
    if uidvalidity is not None and held != uidvalidity:
        raise Conflict(
            "this folder was made anew since; its messages have other numbers, list them again",
            code="uidvalidity",
        )
    return {"total": int(found.get(b"EXISTS", 0)), "uidvalidity": held if isinstance(held, int) else None}


def _fetch(client: IMAPClient, uid: int, most: int) -> tuple[bytes, int, list[str]]:
    """Its first `most` bytes, its size, its flags."""
    found = client.fetch([uid], [b"FLAGS", b"RFC822.SIZE", b"BODY.PEEK[]<0.%d>" % most]).get(uid)
    raw = found and next((value for name, value in found.items() if name.startswith(b"BODY[]")), None)
    if not found or not isinstance(raw, bytes):
        raise NotFound(f"there is no message {uid} in this folder; `list` shows what there is", code="message")
    size = found.get(b"RFC822.SIZE")
    return raw, size if isinstance(size, int) else len(raw), _flags(found.get(b"FLAGS"))


def _summaries(found: Iterable[tuple[Any, dict[bytes, Any]]]) -> list[dict[str, Any]]:
    """What has no number cannot be asked for, and is left out."""
    told = [_told(uid, each) for uid, each in found if isinstance(uid, int)]
    return sorted(told, key=lambda each: int(each["uid"]), reverse=True)


def _told(uid: int, found: dict[bytes, Any]) -> dict[str, Any]:
    header = next((value for name, value in found.items() if name.startswith(b"BODY[")), b"")
    size, received = found.get(b"RFC822.SIZE"), found.get(b"INTERNALDATE")
    return {
        "uid": uid,
        "bytes": size if isinstance(size, int) else None,
        "received": received.isoformat() if isinstance(received, datetime) else "",
        "flags": _flags(found.get(b"FLAGS")),
    } | reading.summarise(header if isinstance(header, bytes) else b"")


def _flags(found: object) -> list[str]:
    """Our three by their names, others as the server spells them. \\Recent is about the connection, not about the message."""
    names = {value.lower(): name for name, value in FLAGS.items()}
    held = found if isinstance(found, tuple) else ()
    raw = [each for each in held if isinstance(each, bytes) and each.lower() != rb"\recent"]
    return sorted(names.get(each.lower(), each[:100].decode("ascii", "replace")) for each in raw)


def _folder(flags: Iterable[Any], name: Any) -> dict[str, Any]:
    """A name in broken modified UTF-7 is shown as the server spells it."""
    lower = [each.lower() for each in flags if isinstance(each, bytes)]
    raw = name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")
    try:
        shown = decode_utf7(raw)
    except (ValueError, LookupError):
        shown = raw.decode("utf-8", "replace")
    special = next((SPECIAL[each] for each in lower if each in SPECIAL), "inbox" if shown.upper() == "INBOX" else "")
    return {"name": Cleaner().line(shown, 500), "selectable": rb"\noselect" not in lower, "special": special}


def _criteria(asked: Search) -> list[str | bytes | date]:
    """Each named field must hold. Texts travel as literals or quoted: the library alone would send `(`, `*` and `{3}` as they are."""
    made: list[str | bytes | date] = []
    for key, text in (
        ("TEXT", asked.text),
        ("FROM", asked.sender),
        ("TO", asked.to),
        ("SUBJECT", asked.subject),
        ("BODY", asked.body),
    ):
        made += [key, _literal(text.encode())] if text else []
    for key, day in (("SINCE", asked.since), ("BEFORE", asked.before)):
        made += [key, day] if day else []
    for key, wanted in (("SEEN", asked.seen), ("FLAGGED", asked.flagged), ("ANSWERED", asked.answered)):
        made += [] if wanted is None else [key if wanted else f"UN{key}"]
    return made or ["ALL"]
