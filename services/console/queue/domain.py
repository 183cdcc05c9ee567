"""What may be submitted and what may be decided. Pure; the lock has the last word on every rule here."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, get_args
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from schemas.content import ItemContent
from schemas.language import spelled
from schemas.model import MAX_CONTENT, Audience, ItemState, Kind, Lang, PageKind, Slug, Verdict
from schemas.text import sha256, text_fault
from services.console.people.domain import Caller
from services.console.queue.times import check_times
from shared.errors import Conflict, Refused, TooLarge
from shared.ids import item_id

KINDS: tuple[Kind, ...] = get_args(Kind)
PAGE_KINDS: tuple[PageKind, ...] = get_args(PageKind)
"""What people hand in; comments come from visitors alone."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
AUDIENCES: tuple[Audience, ...] = get_args(Audience)
UNANSWERED = timedelta(seconds=60)
"""So long a decision may be on its way. After that the item can be decided on again: the lock counts the first that arrives."""
MAX_REASON = 2000
OPEN_STATES = ("submitted", "changes_requested", "approved", "scheduled")
LIMIT = f"{MAX_CONTENT // 1024} KiB"
_LANG, _SLUG = TypeAdapter(Lang), TypeAdapter(Slug)


@dataclass(frozen=True)
class Draft:
    """An item or a revision of one, checked and in the form that is hashed."""

    item_id: UUID
    kind: Kind
    lang: str
    path: str
    title: str
    content: bytes
    content_hash: str
    audience: Audience = "public"


@dataclass(frozen=True)
class Order:
    """What a reviewer wants. `revision`, `content_hash` and `version` say what was seen; None means: what stands now.

    `publish_at`: when an approved revision becomes public; None means at once. `expire_at`: when it is taken down; None means never.
    `batch`: names what is decided with one word, so that it can be undone with one.
    """

    item_id: UUID
    verdict: Verdict
    reason: str = ""
    revision: int | None = None
    content_hash: str | None = None
    version: int | None = None
    publish_at: datetime | None = None
    expire_at: datetime | None = None
    batch: UUID | None = None


def check_state(state: str) -> None:
    if state not in get_args(ItemState):
        raise Refused(
            f"There is no state {state!r}; say open, all, or one of {', '.join(get_args(ItemState))}.", code="state"
        )


def check_kind(kind: str) -> Kind:
    if kind not in PAGE_KINDS:
        raise Refused(f"There is no kind {kind!r}; the kinds are {', '.join(PAGE_KINDS)}.", code="kind")
    return kind


def check_audience(audience: str) -> Audience:
    for known in AUDIENCES:
        if audience == known:
            return known
    raise Refused(f"There is no audience {audience!r}; the audiences are {', '.join(AUDIENCES)}.", code="audience")


def check_lang(lang: str) -> str:
    """The tag in its one spelling; Refused when it is none."""
    try:
        return spelled(_LANG.validate_python(lang.strip()))
    except ValidationError:
        raise Refused(f"{lang!r} is not a language tag such as de, en or pt-BR.", code="lang") from None


def check_path(path: str) -> str:
    """The path in NFC, so that a name typed on any system is one item."""
    clean = unicodedata.normalize("NFC", path.strip()).strip("/")
    hidden = any(unicodedata.category(char) in {"Cf", "Co", "Cs", "Zl", "Zp"} for char in clean)
    try:
        _SLUG.validate_python(clean)
    except ValidationError:
        hidden = True
    if hidden or any(part in {".", ".."} for part in clean.split("/")):
        raise Refused(
            f"{path[:80]!r} is no path: segments between slashes, 1 to 300 characters in all, without spaces,"
            " control or invisible characters and without \\ ? # %.",
            code="path",
        )
    return clean


def check_size(text: str) -> None:
    """Refused for characters that cannot be kept (rule 19), TooLarge above the limit (rule 5)."""
    fault = text_fault(text)
    if fault:
        raise Refused(f"The document was not taken: {fault}.", code="text")
    size = len(text.encode())
    if size > MAX_CONTENT:
        raise TooLarge(f"The document has {size / 1024:.0f} KiB; an item has at most {LIMIT}.")


def make_draft(kind: str, lang: str, path: str, content: ItemContent, audience: str = "public") -> Draft:
    """The checked draft; its canonical content is limited too."""
    known, tag, slug = check_kind(kind), check_lang(lang), check_path(path)
    raw = content.to_bytes()
    if len(raw) > MAX_CONTENT:
        raise TooLarge(f"The item has {len(raw) / 1024:.0f} KiB; an item has at most {LIMIT}.")
    who = check_audience(audience)
    return Draft(item_id(known, tag, slug), known, tag, slug, content.title, raw, sha256(raw), who)


def check_reason(verdict: str, reason: str) -> str:
    clean = reason.strip()
    if text_fault(clean) or len(clean) > MAX_REASON:
        raise Refused(f"A reason has at most {MAX_REASON} characters and no NUL.", code="reason")
    if not clean and verdict in {"reject", "request_changes"}:
        raise Refused("A reason is needed to reject or to ask for changes; the author reads it.", code="reason")
    return clean


def check_verdict(verdict: str) -> Verdict:
    if verdict not in VERDICTS:
        raise Refused(f"There is no verdict {verdict!r}; the verdicts are {', '.join(VERDICTS)}.", code="verdict")
    return verdict


def is_on_its_way(item: Mapping[Any, Any], present: datetime) -> bool:
    """Whether a decision was sent to the lock that it may yet answer soon; until then nobody else decides."""
    return bool(item["deciding"]) and not is_unanswered(item, present)


def is_unanswered(item: Mapping[Any, Any], present: datetime) -> bool:
    """Whether the lock has said nothing to a decision for so long that somebody may decide again."""
    return bool(item["deciding"]) and item["decided_at"] is not None and item["decided_at"] <= present - UNANSWERED


def check_order(item: Mapping[str, Any], order: Order, caller: Caller, present: datetime) -> None:
    """Conflict when the item has moved on since the reviewer saw it; Refused when a rule forbids the verdict.

    `item` is the locked row of app.items with the switches `publication_mode` and `four_eyes` beside it.
    """
    _check_seen(item, order)
    check_times(order.verdict, order.publish_at, order.expire_at, present)
    if is_on_its_way(item, present) or not (item["state"] == "submitted" or _is_new_time(item, order)):
        raise Conflict(_who_decided(item), code="decided")
    if order.version is not None and order.version != item["version"]:
        raise Conflict("The item has moved on since you opened it. Nothing was changed.", code="stale")
    if order.verdict == "approve":
        _check_approval(item, caller)


def _is_new_time(item: Mapping[str, Any], order: Order) -> bool:
    """Whether a scheduled revision is approved for another time. Whoever did not see the schedule has to name a time."""
    seen = order.version is not None or order.publish_at is not None
    return order.verdict == "approve" and item["state"] == "scheduled" and seen


def _check_seen(item: Mapping[str, Any], order: Order) -> None:
    older = order.revision is not None and order.revision != item["revision"]
    if older or (order.content_hash is not None and order.content_hash != item["content_hash"]):
        raise Conflict(
            f"Revision {item['revision']} came in at {clock(item['queued_at'])}; you decided on"
            f" revision {order.revision}. Nothing was changed.",
            code="stale",
        )


def _check_approval(item: Mapping[str, Any], caller: Caller) -> None:
    if item["blocks"]:
        raise Refused("The lock stopped this revision; it cannot be approved.", code="blocked")
    if item["publication_mode"] == "frozen":
        raise Refused(
            "Publication is frozen; nothing can be approved until the switch is back on review.", code="frozen"
        )
    if item["four_eyes"] == "on":
        if item["by_id"] == caller.id:
            raise Refused("Four eyes is on: an author may not approve their own item.", code="four_eyes")
        if caller.via == "operator":
            raise Refused("Four eyes is on: the operator never counts as a second pair of eyes.", code="four_eyes")


def _who_decided(item: Mapping[str, Any]) -> str:
    if item["state"] == "scheduled" and item["publish_at"]:
        when = f"{item['publish_at']:%Y-%m-%d %H:%M} UTC"
        return f"It is scheduled for {when}. Nothing was changed. Name another time to change that, or withdraw it."
    if item["decided_name"] and item["decided_at"]:
        return f"{item['decided_name']} decided this revision at {clock(item['decided_at'])}. Nothing was changed."
    return f"Revision {item['revision']} is {item['state'].replace('_', ' ')} and waits for no decision. Nothing was changed."


def clock(at: datetime) -> str:
    """`14:02 UTC`."""
    return f"{at:%H:%M} UTC"


def milliseconds_live(decided_at: datetime | None, applied_at: datetime | None) -> float | None:
    """From decision to live, or None when one is unknown or the clock was stepped back between."""
    if decided_at is None or applied_at is None or applied_at < decided_at:
        return None
    return (applied_at - decided_at).total_seconds() * 1000
