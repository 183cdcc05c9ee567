"""What is known of an item's way out, and how its address is read. No framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote, urlsplit
from uuid import UUID

from shared.errors import NotFound

Address = UUID | tuple[str, str, str]


@dataclass(frozen=True)
class Station:
    """One station of the way: `side` pass (inside), wait (gate), live (outside); `gap` in ms since the one before."""

    side: str
    title: str
    where: str
    at: datetime
    gap: float | None
    waited: bool


@dataclass(frozen=True)
class Receipt:
    """What lets the revision be public: the signed word, and its place in the gate's log. None where there is none yet."""

    content_hash: str
    verdict: str | None
    reviewed_by: str | None
    reason: str | None
    signed_at: datetime | None
    key_id: str | None
    statement_hash: str | None
    gate_seq: int | None
    stored_at: datetime | None


@dataclass(frozen=True)
class Provenance:
    """Of the revision that is public; of an item that is no longer, of its newest.

    `via`: console, api, agent or visitor; `conversation_id`, `turn_id` of what the agent proposed. `since`: what visitors did
    from when it went live, by kind; votes as they stand now. `live_ms`: from decision to live.
    """

    item_id: UUID
    kind: str
    lang: str
    path: str
    title: str
    state: str
    revision: int
    public: bool
    proposed_by: str
    via: str
    conversation_id: UUID | None
    turn_id: UUID | None
    receipt: Receipt
    stations: Sequence[Station]
    live_ms: float | None
    live_since: datetime | None
    since: Mapping[str, int]
    votes: Mapping[str, int]


def read_address(said: str) -> Address:
    """An item's id, kind/lang/path, or the address that a browser shows. NotFound for what is none of them."""
    text = said.strip()
    try:
        return UUID(text)
    except ValueError:
        pass
    try:
        path = urlsplit(text).path if "://" in text else text.partition("?")[0].partition("#")[0]
    except ValueError:
        path = ""
    kind, _, rest = unquote(path).strip("/").removesuffix(".md").partition("/")
    lang, _, name = rest.partition("/")
    if not (kind and lang and name):
        raise NotFound(
            "That is no item's address. Give what the browser shows, kind/language/path, or the item's id.",
            code="address",
        )
    return kind, lang, name
