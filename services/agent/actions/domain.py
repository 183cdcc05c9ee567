"""What the agent may do in a tainted conversation only after a person has allowed exactly that (S11). Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import UUID

import idna
from pydantic import ValidationError

from schemas.agency import ActionCard
from schemas.outward import Owner
from schemas.text import BadJson, canonical, parse_json, sha256, text_fault
from services.agent.tools.domain import Arguments, Asked, Tool
from shared.errors import Refused, TooLarge

LIFE = timedelta(days=7)
"""Rule 28."""
MOST_WAITING = 20
"""Cards of one owner that may wait: nobody is to be worn down by them."""
MOST_ARGUMENTS = 64 * 1024
MOST_SOURCES, MOST_RECIPIENTS, LONGEST_LINE = 50, 100, 500
RUN_WITHIN = timedelta(seconds=120)
"""How long an allowed action may take."""
GIVEN_UP = timedelta(seconds=150)
"""A run that is older was that of a process that is gone."""
Phase = Literal["waiting", "decided", "running", "untold", "ended"]
End = Literal["done", "failed", "refused", "expired"]
INTERRUPTED = "it was interrupted, and nobody knows whether it had an effect; it is never run again by itself"

TAKEN_BACK = "a person took it back"
REPLACED = "it was asked for anew, on another card"


@dataclass(frozen=True)
class Place:
    """Whose card it is and how far it has come; nothing of what it says."""

    card_id: UUID
    owner: Owner
    expires_at: datetime
    phase: Phase
    by: str = ""
    since: datetime | None = None


def make_card(card_id: UUID, asked: Asked, tool: Tool, arguments: Arguments, at: datetime) -> ActionCard:
    """Built from what will be done and from where the conversation has read; no word of the model's own stands on it (S5).

    Refused when it cannot be put into exact words, TooLarge when nobody would read it.
    """
    exact = exact_arguments(arguments)
    recipients = tuple(ascii_form(each) for each in tool.recipients(arguments))
    if len(recipients) > MOST_RECIPIENTS:
        raise TooLarge(f"This goes to {len(recipients)} recipients; on one card there can be {MOST_RECIPIENTS}.")
    return ActionCard(
        card_id=card_id,
        owner=asked.me.owner,
        owner_name=_line(asked.me.name),
        conversation_id=asked.conversation_id,
        tool=tool.name,
        arguments=exact,
        recipients=recipients,
        sources=_sources(asked.tainted),
        own=tool.own,
        requested_at=at,
        expires_at=at + LIFE,
    )


def exact_arguments(arguments: Arguments) -> str:
    """Canonical JSON: what a person sees, signs, and what is run."""
    given = arguments.model_dump(mode="json")
    if fault := next((fault for text in _texts(given) if (fault := text_fault(text))), None):
        raise Refused(f"This cannot be put on a card: {fault}.", code="arguments")
    try:
        raw = canonical(given)
    except TypeError as error:
        raise Refused(f"This cannot be put on a card in exact words: {error}.", code="arguments") from None
    if len(raw) > MOST_ARGUMENTS:
        raise TooLarge(f"A card holds at most {MOST_ARGUMENTS // 1024} KiB of what would be done; this is {len(raw)} bytes.")  # fmt: skip
    return raw.decode()


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, each in value.items():
                yield name
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)


def read_arguments(tool: Tool, card: ActionCard) -> Arguments | None:
    """Exactly what the card says, as the tool takes it; None when the tool takes something else by now."""
    try:
        found = tool.takes.model_validate(parse_json(card.arguments.encode()))
        return found if exact_arguments(found) == card.arguments else None
    except (ValidationError, BadJson, Refused):
        return None


def is_replaced(card: ActionCard, asked: Asked, tool: Tool, arguments: Arguments) -> bool:
    """Whether this card asks in the same conversation for the same at another time ("no, at 8"): allowed as well, it would be done twice."""
    if not tool.always or card.conversation_id != asked.conversation_id or card.tool != tool.name:
        return False
    given = parse_json(card.arguments.encode())
    return isinstance(given, dict) and given.get("instruction") == getattr(arguments, "instruction", None)


def card_bytes(card: ActionCard) -> bytes:
    """What is stored; its SHA-256 is what a decision signs."""
    return canonical(card.model_dump(mode="json"))


def read_card(raw: bytes) -> ActionCard:
    return ActionCard.model_validate(parse_json(raw))


def is_same(card: ActionCard, asked: Asked, tool: Tool, exact: str) -> bool:
    """Whether this card asks for just that already."""
    return card.conversation_id == asked.conversation_id and card.tool == tool.name and card.arguments == exact


def ascii_form(recipient: str) -> str:
    """A host or address with its domain in punycode; whatever else is not ASCII is spelled out, so that nothing looks like something else."""
    text = " ".join(recipient.split())
    if "://" in text:
        return _cut(_url(text))
    local, at, domain = text.rpartition("@")
    if " " not in domain and (at or "." in domain):
        return _cut(f"{_plain(local)}{at}{_host(domain)}")
    return _cut(_plain(text))


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets that are no address
        return _plain(text)
    login, at, place = parts.netloc.rpartition("@")
    netloc = f"{_plain(login)}{at}{_host(place)}"
    rest = (quote(each, safe="/%:=&?+,;@!$'()*~-._") for each in (parts.path, parts.query, parts.fragment))
    return urlunsplit((parts.scheme, netloc, *rest))


def _host(text: str) -> str:
    """With a port, if it names one."""
    name, colon, port = text.rpartition(":") if text.rpartition(":")[2].isdigit() else (text, "", "")
    try:
        return f"{idna.encode(name, uts46=True).decode().lower()}{colon}{port}"
    except (idna.IDNAError, UnicodeError):
        return _plain(text)


def _plain(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _cut(text: str) -> str:
    if len(text) > LONGEST_LINE:
        raise Refused(f"A recipient has at most {LONGEST_LINE} characters.", code="recipient")
    return text


def _sources(tainted: Iterable[str]) -> tuple[str, ...]:
    """The newest, each once."""
    return tuple(dict.fromkeys(_line(each) for each in tainted))[-MOST_SOURCES:]


def _line(text: str) -> str:
    clean = " ".join(text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd").split())
    return clean[:LONGEST_LINE]


def told(card: ActionCard, state: End, reason: str, link: str) -> str:
    """What the conversation is told."""
    words: Mapping[End, str] = {
        "done": "A person allowed it, and it was done",
        "failed": "A person allowed it, and it did not work",
        "refused": "A person refused it, and nothing was done",
        "expired": "Nobody decided in seven days, and nothing was done",
    }
    if (state, reason) == ("expired", REPLACED):
        return f"{card.tool}: Nothing was done, {reason}. {link}"
    because = f": {reason}" if reason else ""
    return f"{card.tool}: {words[state]}{because}. {link}"


def as_found(row: Mapping[Any, Any]) -> Place:
    owner = Owner(kind=row["owner_kind"], id=row["owner_id"])
    return Place(row["card_id"], owner, row["expires_at"], row["phase"], row["by"], row["since"])


def card_hash(raw: bytes) -> str:
    return sha256(raw)
