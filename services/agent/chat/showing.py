"""How a conversation looks: messages in groups, tools as lines, money and times in words. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from services.agent.conversations.domain import Conversation, Message, ToolCall
from services.agent.spend.domain import Standing
from shared.markup import render_reply

MOST_DETAIL = 4000
"""Characters of a tool's arguments or result that a page shows."""
MOST_EXCERPT, BEFORE = 300, 60
"""Characters of a message that a search shows, and how many of them stand before what was found."""
SIGNS = {"done": "✓", "failed": "✕", "refused": "✕", "waiting": "▲", "interrupted": "✕"}
SAID = {"failed": "failed", "refused": "refused", "waiting": "waits for a person", "interrupted": "interrupted"}


@dataclass(frozen=True)
class ToolLine:
    """One call as the page shows it. `card`: where a person decides on it, in the console (S5: here is only the way there)."""

    call_id: str
    tool: str
    sign: str
    said: str
    shown: str
    ms: int
    arguments: str
    result: str
    card: str = ""


@dataclass
class Block:
    """What stands together: a message of the person, all that the agent did and said in answer, or a note of the workplace."""

    kind: Literal["me", "agent", "note"]
    turn_id: UUID | None
    text: str = ""
    parts: list[tuple[Literal["tools", "reply", "cut"], Any]] = field(default_factory=list)


def excerpt(text: str, words: str) -> str:
    """The part of a message in which the first of the words stands, on one line."""
    flat = " ".join(text.split())
    wanted = words.replace('"', " ").casefold().split()
    at = min((place for each in wanted if (place := flat.casefold().find(each)) >= 0), default=0)
    begin = 0 if at <= BEFORE else flat.rfind(" ", 0, at - BEFORE // 2) + 1
    return ("… " if begin else "") + flat[begin : begin + MOST_EXCERPT]


def blocks_of(messages: Sequence[Message], console_url: str) -> list[Block]:
    """Messages, oldest first, as blocks."""
    found: list[Block] = []
    for message in messages:
        if message.part in ("user", "note"):
            kind: Literal["me", "note"] = "me" if message.part == "user" else "note"
            found.append(Block(kind, message.turn_id, message.text))
            continue
        if not found or found[-1].kind != "agent" or found[-1].turn_id != message.turn_id:
            found.append(Block("agent", message.turn_id))
        found[-1].parts += _parts(message, console_url)
    return found


def _parts(message: Message, console_url: str) -> list[tuple[Literal["tools", "reply", "cut"], Any]]:
    if message.part == "tools":
        return [("tools", [tool_line(call, console_url) for call in message.calls])]
    said: list[tuple[Literal["tools", "reply", "cut"], Any]] = []
    if message.text:
        said.append(("reply", render_reply(message.text, f"message {message.number}")))
    if message.aborted:
        said.append(("cut", "Stopped here." if message.text else "Stopped before an answer came."))
    return said


def tool_line(call: ToolCall, console_url: str) -> ToolLine:
    """What a connector's first use waits on comes as a refusal that names its card."""
    card = _card(call.result, console_url) if call.state in ("waiting", "refused") else ""
    state = "waiting" if card else call.state
    shown = "" if card else call.shown  # the link says it already
    result = "" if call.result is None else _json(call.result)
    return ToolLine(
        call.call_id, call.tool, SIGNS[state], SAID.get(state, ""), shown, call.ms, _json(call.arguments), result, card
    )  # fmt: skip


def _json(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return text if len(text) <= MOST_DETAIL else text[:MOST_DETAIL] + f"… ({len(text) - MOST_DETAIL} more characters)"


def _card(result: Any, console_url: str) -> str:
    """An address of the console that a tool's answer names; no other address becomes a link here."""
    match result:
        case str():
            at = result.find(console_url + "/")
            word = result[at:].split()[0].rstrip(".,;)\"'") if at >= 0 else ""
            return word if word.isascii() else ""
        case dict():
            return next((found for each in result.values() if (found := _card(each, console_url))), "")
        case _:
            return ""


def dollars(amount: Decimal | None) -> str:
    """For the eye: cents, and as many more digits as a small sum needs. The ledger has all of them."""
    if amount is None:
        return "not known"
    if amount == 0 or amount >= 1:
        return f"${amount:.2f}"
    text = f"{amount:.{min(18, max(2, 1 - amount.adjusted()))}f}"
    whole, _, part = text.partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"


@dataclass(frozen=True)
class Meter:
    """What a conversation has cost and what is left of the day, as words. `ratio` is for a bar; None: no cap."""

    conversation: str
    spent: str
    cap: str | None
    spent_figure: str
    cap_figure: str
    frees: str
    frees_at: datetime | None
    frees_said: str
    reserved: str
    unknown: int
    label: str
    full: bool


def meter_of(standing: Standing, cost: Decimal | None, zone: str, at: datetime, *, guests: bool) -> Meter:
    held = standing.spent + standing.reserved
    frees = standing.frees_at is not None and standing.frees > 0
    return Meter(
        conversation=dollars(cost),
        spent=dollars(standing.spent),
        cap=None if standing.cap is None else dollars(standing.cap),
        spent_figure=f"{min(held, standing.cap or held):f}",
        cap_figure=f"{standing.cap or Decimal(1):f}",
        frees=dollars(standing.frees) if frees else "",
        frees_at=standing.frees_at if frees else None,
        frees_said=clock(standing.frees_at, zone, at) if frees and standing.frees_at else "",
        reserved=dollars(standing.reserved) if standing.reserved > 0 else "",
        unknown=standing.unknown,
        label="Guests, last 24 hours" if guests else "Last 24 hours",
        full=standing.cap is not None and held >= standing.cap,
    )


def clock(at: datetime, zone: str, today: datetime) -> str:
    """`16:20`, with the day when it is another one."""
    here, now = at.astimezone(_zone(zone)), today.astimezone(_zone(zone))
    return f"{here:%H:%M}" if here.date() == now.date() else f"{here:%a %H:%M}"


def age(at: datetime, now: datetime) -> str:
    """`now`, `12 min ago`, `3 h ago`, `5 days ago`, and the date beyond a month."""
    seconds = max(0.0, (now - at).total_seconds())
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 48 * 3600:
        return f"{seconds // 3600:.0f} h ago"
    return f"{seconds // 86400:.0f} days ago" if seconds < 31 * 86400 else f"{at:%Y-%m-%d}"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


@dataclass(frozen=True)
class Row:
    """A conversation in the list."""

    conversation_id: UUID
    title: str
    at: datetime
    age: str
    cost: str
    tainted: bool
    kept: bool


def row_of(each: Conversation, cost: Decimal | None, now: datetime, *, kept: bool) -> Row:
    title = each.title or "New conversation"
    shown = each.changed_at
    return Row(each.conversation_id, title, shown, age(shown, now), dollars(cost), bool(each.tainted), kept)
